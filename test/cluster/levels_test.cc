#include "cluster/levels.h"

#include <numeric>
#include <vector>

#include "support/catch.h"

namespace weft::cluster {
namespace {

constexpr bool kOwn = true;
constexpr bool kOther = false;

std::vector<double> Shares(const std::vector<Level>& levels) {
  std::vector<double> shares;
  for (const LevelShare& share : SharesOf(levels, 0.5)) shares.push_back(share.share);
  CHECK(std::accumulate(shares.begin(), shares.end(), 0.0) == Approx(1));
  return shares;
}

std::vector<bool> Panics(const std::vector<Level>& levels, double threshold = 0.5) {
  std::vector<bool> panics;
  for (const LevelShare& share : SharesOf(levels, threshold)) panics.push_back(share.panic);
  return panics;
}

void CheckShares(const std::vector<Level>& levels, const std::vector<double>& expected) {
  const std::vector<double> shares = Shares(levels);
  REQUIRE(shares.size() == expected.size());
  for (size_t i = 0; i < shares.size(); ++i) {
    CAPTURE(i);
    CHECK(shares[i] == Approx(expected[i]).margin(1e-9));
  }
}

TEST_CASE("one group has everything, whatever its health") {
  for (const size_t healthy : {0, 1, 5, 10}) CheckShares({{0, kOther, 10, healthy}}, {1});
  CHECK(SharesOf({}, 0.5).empty());
}

TEST_CASE("a priority keeps all calls until it cannot take them") {
  // Envoy's table: 100, 72, 71, 50, 25, 0 % of priority 0 are healthy, all of priority 1.
  CheckShares({{0, kOther, 100, 100}, {1, kOther, 100, 100}}, {1, 0});
  CheckShares({{0, kOther, 100, 72}, {1, kOther, 100, 100}}, {1, 0});
  CheckShares({{0, kOther, 100, 71}, {1, kOther, 100, 100}}, {0.994, 0.006});
  CheckShares({{0, kOther, 100, 50}, {1, kOther, 100, 100}}, {0.7, 0.3});
  CheckShares({{0, kOther, 100, 25}, {1, kOther, 100, 100}}, {0.35, 0.65});
  CheckShares({{0, kOther, 100, 0}, {1, kOther, 100, 100}}, {0, 1});
}

TEST_CASE("what all together cannot take is shared in proportion") {
  CheckShares({{0, kOther, 100, 25}, {1, kOther, 100, 25}}, {0.5, 0.5});
  CheckShares({{0, kOther, 100, 20}, {1, kOther, 100, 40}}, {0.28 / 0.84, 0.56 / 0.84});
  CheckShares({{0, kOther, 100, 0}, {1, kOther, 100, 0}}, {1, 0});
}

TEST_CASE("the third priority gets what two leave") {
  CheckShares({{0, kOther, 100, 25}, {1, kOther, 100, 25}, {2, kOther, 100, 100}},
              {0.35, 0.35, 0.3});
}

TEST_CASE("the own zone comes first, and spills in proportion") {
  CheckShares({{0, kOwn, 10, 10}, {0, kOther, 90, 90}}, {1, 0});
  CheckShares({{0, kOwn, 10, 8}, {0, kOther, 90, 90}}, {1, 0});
  CheckShares({{0, kOwn, 10, 5}, {0, kOther, 90, 90}}, {0.7, 0.3});
  CheckShares({{0, kOwn, 10, 0}, {0, kOther, 90, 90}}, {0, 1});
  // Nobody is left elsewhere.
  CheckShares({{0, kOwn, 90, 60}, {0, kOther, 10, 0}}, {1, 0});
  // Before the next priority.
  CheckShares({{0, kOwn, 10, 5}, {0, kOther, 90, 45}, {1, kOwn, 5, 5}}, {0.49, 0.21, 0.3});
}

TEST_CASE("panic: where few are healthy, all are used, and zones passed over") {
  const std::vector<Level> alone = {{0, kOwn, 10, 4}, {0, kOther, 30, 12}};
  CHECK(Panics(alone) == std::vector<bool>{true, true});
  CheckShares(alone, {0.25, 0.75});
  CHECK(Panics({{0, kOther, 10, 5}}) == std::vector<bool>{false});
  CHECK(Panics({{0, kOther, 10, 4}}) == std::vector<bool>{true});
  CHECK(Panics({{0, kOther, 10, 4}}, 0.3) == std::vector<bool>{false});
  CHECK(Panics({{0, kOther, 10, 0}}, 0) == std::vector<bool>{false});
}

TEST_CASE("there is no panic while another priority can take what is left") {
  CHECK(Panics({{0, kOther, 10, 4}, {1, kOther, 10, 10}}) == std::vector<bool>{false, false});
  CHECK(Panics({{0, kOther, 10, 1}, {1, kOther, 10, 6}}) == std::vector<bool>{true, false});
}

}  // namespace
}  // namespace weft::cluster
