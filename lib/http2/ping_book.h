// PingBook: the PINGs that wait for their acknowledgement, oldest first. A peer has to answer in
// order (RFC 9113 section 6.7), but a wrong answer must do no harm, so each is looked for.
#ifndef WEFT_LIB_HTTP2_PING_BOOK_H_
#define WEFT_LIB_HTTP2_PING_BOOK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace weft::inline v0::http2 {

class PingBook {
 public:
  enum class Kind { kOwner, kProbe };

  // The oldest is forgotten where there are too many.
  void Add(Kind kind, uint64_t payload) {
    if (count_ == kMost) Drop(0);
    pings_[count_++] = {kind, payload};
  }
  // What was acknowledged; nothing: no such PING was sent.
  std::optional<Kind> Acknowledge(uint64_t payload) {
    for (size_t i = 0; i < count_; ++i) {
      if (pings_[i].payload != payload) continue;
      const Kind kind = pings_[i].kind;
      Drop(i);
      return kind;
    }
    return std::nullopt;
  }

 private:
  static constexpr size_t kMost = 16;
  struct Entry {
    Kind kind;
    uint64_t payload;
  };
  void Drop(size_t i) {
    for (--count_; i < count_; ++i) pings_[i] = pings_[i + 1];
  }

  std::array<Entry, kMost> pings_{};
  size_t count_ = 0;
};

}  // namespace weft::inline v0::http2

#endif  // WEFT_LIB_HTTP2_PING_BOOK_H_
