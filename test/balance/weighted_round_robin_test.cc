#include "balance/weighted_round_robin.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "balance/rig.h"
#include "support/catch.h"

namespace weft::inline v0::balance {
namespace {

using std::chrono::seconds;

struct World : Rig {
  World() : Rig(WeightedRoundRobin(), 4) {}
  explicit World(const std::vector<double>& weights) : Rig(WeightedRoundRobin(), weights) {}
  void Report(size_t host, float qps, float utilization, float eps = 0) {
    fakes[host]->said = {.report = {.utilization = utilization, .qps = qps, .eps = eps}, .at = now};
  }
  // 100, 200, 300 and 400 requests a second if fully used.
  void ReportAll() {
    for (size_t i = 0; i < 4; ++i) Report(i, 50.0F * static_cast<float>(i + 1), 0.5F);
  }
  std::vector<double> Thousand() { return Deal(1000, {.now = now}); }
  // Time passes, with a report and some calls each second.
  void Run(int for_seconds) {
    for (int i = 0; i < for_seconds; ++i) {
      ReportAll();
      Thousand();
      now += seconds(1);
    }
  }
  MonoTime now = MonoTime(seconds(1000));
};

void CheckShares(const std::vector<double>& counts, const std::vector<double>& expected) {
  for (size_t i = 0; i < expected.size(); ++i) CHECK(counts[i] == Approx(expected[i]).margin(3));
}

TEST_CASE("what a host could do if it were fully used", "[weighted_round_robin]") {
  CHECK(WeightOf({.utilization = 0.5, .qps = 100}, 1) == Approx(200));
  CHECK(WeightOf({.utilization = 0.5, .qps = 100, .eps = 50}, 1) == Approx(100));  // 0.5 + 0.5
  CHECK(WeightOf({.utilization = 0.5, .qps = 100, .eps = 50}, 3) == Approx(50));   // 0.5 + 1.5
  CHECK(WeightOf({.utilization = 0.5, .qps = 100, .eps = 50}, 0) == Approx(200));
  CHECK(WeightOf({.utilization = 0, .qps = 100}, 1) == 0);
  CHECK(WeightOf({.utilization = 0.5, .qps = 0}, 1) == 0);
}

TEST_CASE("calls are shared by what hosts report", "[weighted_round_robin]") {
  World world;
  world.Run(12);
  CheckShares(world.Thousand(), {100, 200, 300, 400});
}

TEST_CASE("endpoint weights count where nobody reports", "[weighted_round_robin]") {
  World world({1, 4, 4, 1});
  CheckShares(world.Thousand(), {100, 400, 400, 100});
}

TEST_CASE("weights are used after the blackout period", "[weighted_round_robin]") {
  World world;
  world.Run(10);
  // The first report was ten seconds ago.
  CheckShares(world.Thousand(), {100, 200, 300, 400});
  World early;
  early.Run(9);
  CheckShares(early.Thousand(), {250, 250, 250, 250});
}

TEST_CASE("weights expire, and begin with a blackout period again", "[weighted_round_robin]") {
  World world;
  world.Run(11);
  world.now += seconds(178);
  CheckShares(world.Thousand(), {100, 200, 300, 400});
  world.now += seconds(2);
  CheckShares(world.Thousand(), {250, 250, 250, 250});
  world.Run(9);
  CheckShares(world.Thousand(), {250, 250, 250, 250});
  world.Run(2);
  CheckShares(world.Thousand(), {100, 200, 300, 400});
}

TEST_CASE("a report that gives no weight leaves the last one", "[weighted_round_robin]") {
  World world;
  world.Run(12);
  world.Report(3, 0, 0.5);
  world.now += seconds(2);
  CheckShares(world.Thousand(), {100, 200, 300, 400});
}

TEST_CASE("a host without a weight gets the mean", "[weighted_round_robin]") {
  World world;
  world.Run(12);
  world.Add("10.7.7.7:80");
  world.Update();
  // 250 of 1250.
  CheckShares(world.Thousand(), {80, 160, 240, 320, 200});
}

TEST_CASE("what is known of hosts stays when the set changes", "[weighted_round_robin]") {
  World world;
  world.Run(12);
  std::reverse(world.hosts.begin(), world.hosts.end());
  std::reverse(world.fakes.begin(), world.fakes.end());
  world.Remove(0);
  world.Update();
  CheckShares(world.Thousand(), {500, 333, 167});
}

TEST_CASE("a host that starts slowly has that part of its weight", "[weighted_round_robin]") {
  World world;
  world.Run(12);
  world.hosts[3].weight = 0.25;
  world.Update();
  CheckShares(world.Thousand(), {143, 286, 429, 143});
}

TEST_CASE("weights are computed once per period", "[weighted_round_robin]") {
  World world;
  world.Run(12);
  world.Thousand();
  world.Report(0, 400, 0.5);
  world.now += std::chrono::milliseconds(999);
  CheckShares(world.Thousand(), {100, 200, 300, 400});
  world.now += std::chrono::milliseconds(1);
  CheckShares(world.Thousand(), {471, 118, 176, 235});  // 800 of 1700
}

TEST_CASE("of many hosts each pick looks at some", "[weighted_round_robin]") {
  World world(std::vector<double>(1000, 1.0));
  for (int second = 0; second < 12; ++second) {
    for (size_t i = 0; i < 1000; ++i) world.Report(i, i < 500 ? 100 : 300, 1);
    for (int pick = 0; pick < 8; ++pick) world.PickHost({.now = world.now});
    world.now += seconds(1);
  }
  for (int pick = 0; pick < 8; ++pick) world.PickHost({.now = world.now});
  const std::vector<double> counts = world.Deal(20'000, {.now = world.now});
  double light = 0;
  for (size_t i = 0; i < 500; ++i) light += counts[i];
  CHECK(light == Approx(5000).epsilon(0.02));
}

TEST_CASE("what a dead host leaves is shared by weight", "[weighted_round_robin]") {
  World world;
  world.Run(12);
  world.fakes[1]->now = HostState::kBackoff;
  const std::vector<double> counts = world.Deal(40'000, {.now = world.now});
  const std::vector<double> expected = {5'000, 0, 15'000, 20'000};
  for (size_t i = 0; i < 4; ++i) CHECK(counts[i] == Approx(expected[i]).epsilon(0.05));
}

}  // namespace
}  // namespace weft::inline v0::balance
