#include "balance/weighted_draw.h"

#include <memory>
#include <vector>

#include "balance/rig.h"
#include "support/catch.h"

namespace weft::inline v0::balance {
namespace {

WeightedDraw Of(const std::vector<double>& weights) {
  std::vector<PickerHost> hosts;
  for (const double weight : weights) hosts.push_back({nullptr, nullptr, weight});
  return WeightedDraw(hosts);
}

std::vector<double> Draw(const WeightedDraw& draw, size_t size, int times) {
  std::vector<double> counts(size);
  uint64_t random = 7;
  for (int i = 0; i < times; ++i) ++counts.at(draw(random = base::NextRandom(random)));
  return counts;
}

TEST_CASE("hosts are drawn in proportion to their weights", "[weighted_draw]") {
  const std::vector<std::vector<double>> cases = {
      {1, 1, 1}, {1, 2}, {100, 1, 1, 1}, {0.1, 0.2, 0.3, 0.4}, {1, 1000, 1}, {3e9, 1e9, 2e9}};
  for (const std::vector<double>& weights : cases) {
    const WeightedDraw draw = Of(weights);
    CHECK(ChiSquareExcess(Draw(draw, weights.size(), 200'000), weights) < 4);
  }
}

TEST_CASE("many hosts with weights of all sizes", "[weighted_draw]") {
  std::vector<double> weights;
  for (int i = 0; i < 1000; ++i) weights.push_back(1 + i % 37);
  CHECK(ChiSquareExcess(Draw(Of(weights), weights.size(), 1'000'000), weights) < 4);
}

TEST_CASE("weights are relative to their mean, and equal ones are none", "[weighted_draw]") {
  const WeightedDraw equal = Of({5, 5, 5});
  CHECK(equal.weights().empty());
  CHECK(equal.weight(2) == 1);
  const WeightedDraw draw = Of({1, 3});
  CHECK(draw.weight(0) == Approx(0.5));
  CHECK(draw.weight(1) == Approx(1.5));
  CHECK(draw.weights().size() == 2);
}

}  // namespace
}  // namespace weft::inline v0::balance
