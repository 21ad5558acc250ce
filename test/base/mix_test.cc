#include "base/mix.h"

#include <set>

#include "support/catch.h"

namespace weft::inline v0::base {
namespace {

TEST_CASE("numbers made of others are the sequence of SplitMix64", "[mix]") {
  // The first three for the seed 1234567, as in the reference implementation.
  CHECK(Mix(1234567 + kMixStep) == 6457827717110365317u);
  CHECK(Mix(1234567 + 2 * kMixStep) == 3203168211198807973u);
  CHECK(Mix(1234567 + 3 * kMixStep) == 9817491932198370423u);
  CHECK(NextRandom(1234567) == 6457827717110365317u);
}

TEST_CASE("a number below a bound", "[mix]") {
  CHECK(Below(0, 10) == 0);
  CHECK(Below(UINT64_MAX, 10) == 9);
  CHECK(Below(UINT64_MAX, 1) == 0);
  CHECK(Below(uint64_t{1} << 63, 10) == 5);
  CHECK(Chance(0) == 0);
  CHECK(Chance(UINT64_MAX) < 1);
}

}  // namespace
}  // namespace weft::inline v0::base
