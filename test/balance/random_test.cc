#include "balance/random.h"

#include <vector>

#include "balance/rig.h"
#include "support/catch.h"

namespace weft::inline v0::balance {
namespace {

TEST_CASE("calls are shared by weight", "[random]") {
  CHECK(ChiSquareExcess(Rig(Random(), 50).Deal(100'000), std::vector<double>(50, 1.0)) < 4);
  const std::vector<double> weights = {1, 1, 2, 4, 0.5, 10};
  CHECK(ChiSquareExcess(Rig(Random(), weights).Deal(100'000), weights) < 4);
}

TEST_CASE("what dead hosts leave is shared by weight", "[random]") {
  std::vector<double> shares;
  for (int i = 0; i < 40; ++i) shares.push_back(1 + i % 5);
  Rig rig(Random(), shares);
  // Few are left: most calls find none by drawing.
  for (size_t i = 0; i < 40; ++i) {
    if (i % 8 != 0) rig.fakes[i]->now = HostState::kBackoff;
  }
  const std::vector<double> counts = rig.Deal(100'000);
  std::vector<double> living;
  std::vector<double> expected;
  for (size_t i = 0; i < 40; i += 8) {
    living.push_back(counts[i]);
    expected.push_back(shares[i]);
  }
  CHECK(living[0] + living[1] + living[2] + living[3] + living[4] == 100'000);
  CHECK(ChiSquareExcess(living, expected) < 4);
}

}  // namespace
}  // namespace weft::inline v0::balance
