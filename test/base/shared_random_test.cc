#include "base/shared_random.h"

#include <set>

#include "support/catch.h"

namespace weft::base {
namespace {

TEST_CASE("shared random numbers differ, and the same seed gives the same ones") {
  SharedRandom random;
  SharedRandom same;
  random.Seed(7);
  same.Seed(7);
  std::set<uint64_t> seen;
  for (int i = 0; i < 10000; ++i) {
    const uint64_t x = random.Next();
    CHECK(seen.insert(x).second);
    CHECK(x == same.Next());
  }
}

TEST_CASE("chances are spread over all that is from 0 to 1") {
  SharedRandom random;
  random.Seed(1);
  int counts[10] = {};
  for (int i = 0; i < 10000; ++i) {
    const double chance = random.Chance();
    REQUIRE((chance >= 0 && chance < 1));
    ++counts[static_cast<int>(chance * 10)];
  }
  for (const int count : counts) CHECK((count > 850 && count < 1150));
}

}  // namespace
}  // namespace weft::base
