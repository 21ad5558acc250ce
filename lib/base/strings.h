// The two spellings of a string view. Abseil is built either with its own type or with std's;
// Weft's API uses std's, so a view passed to an Abseil function goes through V().
#ifndef WEFT_LIB_BASE_STRINGS_H_
#define WEFT_LIB_BASE_STRINGS_H_

#include <string_view>

#include "absl/strings/string_view.h"

namespace weft::inline v0::base {

inline absl::string_view V(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace weft::inline v0::base

#endif  // WEFT_LIB_BASE_STRINGS_H_
