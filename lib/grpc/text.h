// Text for Abseil's functions and for error messages.
#ifndef WEFT_LIB_GRPC_TEXT_H_
#define WEFT_LIB_GRPC_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/strings/string_view.h"

namespace weft::inline v0::grpc {

// Abseil is built either with its own string view or with std's; Weft uses std's.
inline absl::string_view V(std::string_view text) { return {text.data(), text.size()}; }

// Printable ASCII of at most `limit` bytes: what a peer sent must not reach a log as it came.
inline std::string Printable(std::string_view bytes, size_t limit) {
  std::string text(bytes.substr(0, limit));
  for (char& c : text) {
    if (c < 0x20 || c > 0x7e) c = '?';
  }
  if (bytes.size() > limit) text += "...";
  return text;
}

}  // namespace weft::inline v0::grpc

#endif  // WEFT_LIB_GRPC_TEXT_H_
