#include "balance/peak_ewma.h"

#include <chrono>
#include <vector>

#include "balance/rig.h"
#include "support/catch.h"

namespace weft::inline v0::balance {
namespace {

using std::chrono::milliseconds;

TEST_CASE("latency times what is in flight", "[peak_ewma]") {
  testing::FakeHost host("a");
  host.takes = milliseconds(10);
  CHECK(PeakEwmaScore(host, 1, {}) == 10e6);
  host.running = 3;
  CHECK(PeakEwmaScore(host, 1, {}) == 40e6);
  CHECK(PeakEwmaScore(host, 2, {}) == 25e6);    // 10 * (3 / 2 + 1)
  CHECK(PeakEwmaScore(host, 0.5, {}) == 70e6);  // 10 * (3 / 0.5 + 1)
}

TEST_CASE("a host that was never measured is tried, by one call at a time", "[peak_ewma]") {
  Rig rig(PeakEwma(), 2);
  rig.fakes[0]->takes = milliseconds(1);
  CHECK(rig.Deal(10'000)[1] > 9'900);
  rig.fakes[1]->running = 1;
  rig.fakes[0]->takes = std::chrono::seconds(30);
  rig.fakes[0]->running = 1000;
  CHECK(rig.Deal(10'000)[0] > 9'900);
}

TEST_CASE("the faster of two hosts has the calls until it has more to do", "[peak_ewma]") {
  Rig rig(PeakEwma(), 2);
  rig.fakes[0]->takes = milliseconds(10);
  rig.fakes[1]->takes = milliseconds(35);
  CHECK(rig.Deal(10'000)[0] > 9'900);
  rig.fakes[0]->running = 2;
  CHECK(rig.Deal(10'000)[0] > 9'900);  // 30 to 35
  rig.fakes[0]->running = 3;
  CHECK(rig.Deal(10'000)[1] > 9'900);  // 40 to 35
}

TEST_CASE("hosts that are alike are shared by weight", "[peak_ewma]") {
  const std::vector<double> weights = {1, 2, 3, 10};
  Rig rig(PeakEwma(), weights);
  for (const auto& fake : rig.fakes) fake->takes = milliseconds(5);
  CHECK(ChiSquareExcess(rig.Deal(100'000), weights) < 4);
}

TEST_CASE("a slow host of many is not drawn twice", "[peak_ewma]") {
  Rig rig(PeakEwma(), 50);
  for (const auto& fake : rig.fakes) fake->takes = milliseconds(5);
  rig.fakes[9]->takes = milliseconds(6);
  CHECK(rig.Deal(50'000)[9] == 0);
}

}  // namespace
}  // namespace weft::inline v0::balance
