// Visible ASCII: what paths and names consist of.
#ifndef WEFT_LIB_BASE_VISIBLE_H_
#define WEFT_LIB_BASE_VISIBLE_H_

#include <algorithm>
#include <string_view>

namespace weft::inline v0::base {

inline bool IsVisible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}
inline bool IsVisiblePath(std::string_view text) {
  return text.starts_with('/') && IsVisible(text);
}

}  // namespace weft::inline v0::base

#endif  // WEFT_LIB_BASE_VISIBLE_H_
