// FirstBytes: says early, and in words that help, when a peer does not speak HTTP/2: its first
// frame is not SETTINGS (RFC 9113 section 3.4).
#ifndef WEFT_LIB_HTTP2_FIRST_BYTES_H_
#define WEFT_LIB_HTTP2_FIRST_BYTES_H_

#include <optional>
#include <string>
#include <string_view>

namespace weft::inline v0::http2 {

class FirstBytes {
 public:
  // Looks at what arrived next. A text: the peer does not speak HTTP/2, to follow its address; said
  // at most once.
  std::optional<std::string> Look(std::string_view bytes);
  // Whether the beginning is known to be that of HTTP/2.
  bool settled() const { return settled_; }

 private:
  std::string seen_;  // what arrived until it is settled
  bool settled_ = false;
};

}  // namespace weft::inline v0::http2

#endif  // WEFT_LIB_HTTP2_FIRST_BYTES_H_
