// Whether a status has certain words; the whole of it is shown where a check on that fails.
#ifndef WEFT_TEST_SUPPORT_SAYS_H_
#define WEFT_TEST_SUPPORT_SAYS_H_

#include <string>

#include "absl/status/status.h"
#include "support/catch.h"

namespace weft::inline v0::testing {

inline bool Says(const absl::Status& status, const std::string& words) {
  UNSCOPED_INFO(status.ToString());
  return std::string(status.message()).find(words) != std::string::npos;
}

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_SUPPORT_SAYS_H_
