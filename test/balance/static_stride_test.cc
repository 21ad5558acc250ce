#include "balance/static_stride.h"

#include <vector>

#include "balance/rig.h"
#include "support/catch.h"

namespace weft::inline v0::balance {
namespace {

std::vector<double> Deal(const StaticStride& stride, size_t size, int calls) {
  Turn turn(0);
  std::vector<double> counts(size);
  for (int i = 0; i < calls; ++i) ++counts.at(stride.Next(turn));
  return counts;
}

TEST_CASE("turns are in proportion to weights", "[static_stride]") {
  const std::vector<double> weights = {1, 2, 3, 4};
  StaticStride stride(4);
  stride.Set(weights);
  const std::vector<double> counts = Deal(stride, 4, 10'000);
  for (size_t i = 0; i < 4; ++i) CHECK(counts[i] == Approx(1000 * weights[i]).margin(2));
}

TEST_CASE("equal weights are round robin", "[static_stride]") {
  StaticStride stride(3);
  stride.Set(std::vector<double>{7, 7, 7});
  Turn turn(0);
  for (const size_t expected : {0, 1, 2, 0, 1, 2}) CHECK(stride.Next(turn) == expected);
}

TEST_CASE("turns are spread over time", "[static_stride]") {
  StaticStride stride(3);
  stride.Set(std::vector<double>{4, 2, 2});
  Turn turn(0);
  int since = 0;
  for (int i = 0; i < 1000; ++i) {
    since = stride.Next(turn) == 0 ? 0 : since + 1;
    CHECK(since <= 2);
  }
}

TEST_CASE("weights are bounded by a tenth of the mean and ten times the mean", "[static_stride]") {
  std::vector<double> weights(101, 1);
  weights[0] = 1e9;  // all others are less than a tenth of the mean: 1e6 to ten means, 1e8
  StaticStride stride(101);
  stride.Set(weights);
  const std::vector<double> counts = Deal(stride, 101, 20'000);
  CHECK(counts[0] == Approx(10'000).epsilon(0.01));
  for (size_t i = 1; i < 101; ++i) CHECK(counts[i] == Approx(100).margin(3));
}

TEST_CASE("draws are in proportion to weights", "[static_stride]") {
  const std::vector<double> weights = {1, 2, 3, 4};
  StaticStride stride(4);
  stride.Set(weights);
  std::vector<double> counts(4);
  uint64_t random = 3;
  for (int i = 0; i < 100'000; ++i) ++counts[stride.Draw(random = base::NextRandom(random))];
  CHECK(ChiSquareExcess(counts, weights) < 4);
}

}  // namespace
}  // namespace weft::inline v0::balance
