// Catch2, whichever version is installed: tests include this header and are written to the words
// that both know.
//
// - `Approx` is found without a namespace.
// - `Catch::Matchers::ContainsSubstring`, `StartsWith`, `EndsWith` match strings (version 3's
// names).
// - `WEFT_SKIP(why)` ends a test case that cannot run on this machine, and says so.

#ifndef WEFT_TEST_SUPPORT_CATCH_H_
#define WEFT_TEST_SUPPORT_CATCH_H_

#if __has_include(<catch2/catch_all.hpp>)

#include <catch2/catch_all.hpp>

using Catch::Approx;

#define WEFT_SKIP(why) SKIP(why)

#else

#include <catch2/catch.hpp>

#include <string>

namespace Catch::Matchers {
inline auto ContainsSubstring(const std::string& text) { return Contains(text); }
}  // namespace Catch::Matchers

#define WEFT_SKIP(why)          \
  do {                          \
    WARN("skipped: " << (why)); \
    return;                     \
  } while (false)

#endif

#endif  // WEFT_TEST_SUPPORT_CATCH_H_
