// The library's balancers on a simulated fleet. Figures are of one seed and a few seconds;
// benchmarks/README.md has those that count.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "balance_sim/client.h"
#include "balance_sim/contenders.h"
#include "balance_sim/headroom.h"
#include "balance_sim/last_second.h"
#include "balance_sim/model.h"
#include "balance_sim/subsets.h"
#include "support/catch.h"
#include "weft/balancers.h"
#include "weft/reported_load.h"

namespace weft::balance_sim {
namespace {

Setup Short(const BalancerFactory& balancer, double load) {
  return {.balancer = balancer,
          .load = load,
          .warm_up = kSecond,
          .from = 3 * kSecond,
          .until = 9 * kSecond};
}

TEST_CASE("a fleet's latency is what queueing theory says") {
  // Next to nothing waits: exponential work, and half a millisecond on the way.
  const Result idle = Simulate(Short(Random(), 0.01));
  CHECK(idle.Millis(0.5) == Approx(10 * std::log(2) + 0.5).epsilon(0.1));
  // Each server an M/M/1 queue of its own: what is exponential is the whole time.
  const Result random = Simulate(Short(Random(), 0.5));
  CHECK(random.Millis(0.5) == Approx(20 * std::log(2) + 0.5).epsilon(0.05));
  CHECK(random.Millis(0.99) == Approx(20 * std::log(100) + 0.5).epsilon(0.08));
  CHECK(static_cast<double>(random.calls) == Approx(0.5 * 10'000 * 6).epsilon(0.03));
  CHECK(random.errors == 0);
  CHECK(random.BusiestByMean() < 1.3);
  // The same seed is the same run.
  Setup setup = Short(LeastRequest(), 0.5);
  CHECK(Simulate(setup).Millis(0.99) == Simulate(setup).Millis(0.99));
  setup.seed = 2;
  CHECK(Simulate(setup).calls != random.calls);
}

TEST_CASE("fresh reports beat what a client can know by itself") {
  Setup setup = Short(FreshLoad(), 0.9);
  const Result fresh = Simulate(setup);
  setup.balancer = FreshLoad({.bounce_at = 2});
  const Result bouncing = Simulate(setup);
  setup.balancer = RoundRobin();
  const Result round_robin = Simulate(setup);
  setup.balancer = LeastRequest();
  const Result least_request = Simulate(setup);
  setup.balancer = Oracle();
  const Result oracle = Simulate(setup);
  CHECK(fresh.calls == round_robin.calls);
  CHECK(fresh.Millis(0.99) < 0.6 * round_robin.Millis(0.99));
  CHECK(fresh.Millis(0.99) < 0.6 * least_request.Millis(0.99));
  CHECK(bouncing.Millis(0.99) < 0.95 * fresh.Millis(0.99));
  CHECK(bouncing.PerCall(bouncing.bounces) < 0.3);
  CHECK(oracle.Millis(0.99) < bouncing.Millis(0.99));
  CHECK(fresh.bounces == 0);
}

TEST_CASE("servers of different speeds are used by their speed") {
  Setup setup = Short(FreshLoad(), 0.8);
  setup.fleet = {.workers = 4, .mixed = true};
  const Result fresh = Simulate(setup);
  setup.balancer = RoundRobin();
  const Result round_robin = Simulate(setup);
  CHECK(fresh.Millis(0.99) < 80);
  CHECK(round_robin.Millis(0.99) > 1000);
}

TEST_CASE("a server that fails at once gets next to no calls, and probes are counted") {
  Setup setup = Short(FreshLoad(), 0.7);
  setup.fleet.fails_from = 0;
  const Result fresh = Simulate(setup);
  CHECK(fresh.errors == fresh.at_first);
  CHECK(fresh.PerCall(fresh.at_first) < 0.0025);
  setup.balancer = RoundRobin();
  setup.probes = 2;
  const Result round_robin = Simulate(setup);
  CHECK(round_robin.PerCall(round_robin.at_first) == Approx(0.01).epsilon(0.1));
  CHECK(round_robin.PerCall(round_robin.probes) == Approx(2).epsilon(0.01));
}

TEST_CASE("a server that begins to fail is ejected, and its clients' calls go well") {
  Setup setup = Short(LeastRequest(), 0.7);
  setup.clients = 10;
  setup.fleet.fails_from = setup.from;
  const Result result = Simulate(setup);
  // Each client sends it seven calls a second, and five failures in a row are enough.
  REQUIRE(result.ejected_after.size() == 10);
  CHECK(*std::max_element(result.ejected_after.begin(), result.ejected_after.end()) <
        kEjectedWithin);
  CHECK(result.errors >= 50);
  CHECK(result.errors <= 70);
  CHECK(result.errors_after <= 10);  // what was on its way
  CHECK(result.errors_later == 0);
}

TEST_CASE("a client's servers: ejected by failures in a row, back half a minute later") {
  std::vector<Server> servers(4);
  for (uint32_t i = 0; i < servers.size(); ++i) {
    servers[i].number = i;
    servers[i].address = "10.0.0." + std::to_string(i) + ":80";
  }
  Client client({.balancer = RoundRobin(), .seed = 1}, servers, 0);
  const auto picks = [&](uint32_t server) {
    int count = 0;
    for (int i = 0; i < 400; ++i) {
      if (client.Pick({.now = MonoTime(), .random = static_cast<uint64_t>(i)}).server == server)
        ++count;
    }
    return count;
  };
  const cluster::Outcome failure = {.kind = cluster::Outcome::Kind::kError,
                                    .took = std::chrono::milliseconds(1)};
  for (int i = 0; i < 4; ++i) client.OnOutcome(2, failure, (i + 1) * kSecond);
  CHECK(!client.Ejects(2));
  CHECK(picks(2) == 100);
  client.OnOutcome(2, failure, 5 * kSecond);
  CHECK(client.Ejects(2));
  CHECK(picks(2) == 0);
  // What it says meanwhile does no harm.
  client.OnReport(2, {.in_flight = 1, .workers = 1}, 6 * kSecond);
  Nanos now = 0;
  while (client.Ejects(2) && client.due() < 100 * kSecond) {
    now = client.due();
    client.Refresh(now);
  }
  CHECK(now >= 35 * kSecond);
  CHECK(now <= 41 * kSecond);
  CHECK(picks(2) == 100);  // round robin does not heed weights
}

TEST_CASE("the load at which p99 comes to a limit is found with few runs") {
  const auto p99 = [](double load) { return 10 / (1 - load); };
  P99ByLoad known;
  for (const double load : {0.7, 0.8, 0.9}) known[load] = p99(load);
  int runs = 0;
  for (; const std::optional<double> load = NextLoad(known, 50); ++runs) known[*load] = p99(*load);
  CHECK(runs == 0);
  CHECK(Headroom(known, 50) == Approx(0.8));
  for (; const std::optional<double> load = NextLoad(known, 20); ++runs) known[*load] = p99(*load);
  CHECK(runs <= 3);
  CHECK(Headroom(known, 20) == Approx(0.5));
  for (; const std::optional<double> load = NextLoad(known, 1e9); ++runs) known[*load] = p99(*load);
  CHECK(Headroom(known, 1e9) == 0.98);
  for (; const std::optional<double> load = NextLoad(known, 1); ++runs) known[*load] = p99(*load);
  CHECK(Headroom(known, 1) == 0);
  CHECK(runs <= 10);
}

TEST_CASE("cold servers are spared, and slow neighbours too") {
  Setup setup = Short(FreshLoad(), 0.8);
  setup.fleet.deploying = true;
  const Result fresh = Simulate(setup);
  setup.balancer = LeastRequest();
  CHECK(fresh.Millis(0.99) < 0.4 * Simulate(setup).Millis(0.99));
  setup = Short(FreshLoad(), 0.8);
  setup.fleet = {.workers = 4, .mixed = true, .antagonists = {2 * kSecond, 6 * kSecond, 0.55}};
  CHECK(Simulate(setup).Millis(0.99) < 100);
}

TEST_CASE("servers on full machines are held to what they are allocated") {
  // A third of the speed, on half of them; a seventh more than the allocation.
  Setup setup = Short(FreshLoad(), 1.14 / 2);
  setup.clients = 50;
  setup.fleet = {.workers = 4, .antagonists = {60 * kSecond, 60 * kSecond, 1.0 / 3}};
  setup.warm_up = 3 * kSecond;
  setup.from = 7 * kSecond;
  setup.until = 10 * kSecond;
  const double fresh = Simulate(setup).Millis(0.99);
  CHECK(fresh < 120);
  // What these servers report looks as well used as all others.
  setup.balancer = WeightedRoundRobin({.blackout_period = absl::Seconds(1)});
  CHECK(Simulate(setup).Millis(0.99) > 5 * fresh);
}

TEST_CASE("what was done in the last ten whole tenths of a second") {
  LastSecond last;
  CHECK(last.Get(0).done == 0);
  for (int i = 0; i < 30; ++i) last.Add(10, i * kSecond / 10);
  CHECK(last.Get(30 * kSecond / 10).done == 10);
  CHECK(last.Get(30 * kSecond / 10).cpu == 100);
  CHECK(last.Get(35 * kSecond / 10).done == 5);
  CHECK(last.Get(10 * kSecond).done == 0);
}

TEST_CASE("subsets spread connections evenly, and change little") {
  SubsetSetup setup = {.clients = 2000, .hosts = 100, .watched = 400};
  const SubsetResult rendezvous = Measure(setup);
  CHECK(rendezvous.mean == 400);
  // As of draws without replacement: sqrt(C k / n (1 - k / n)).
  CHECK(rendezvous.deviation == Approx(std::sqrt(400 * 0.8)).epsilon(0.25));
  CHECK(rendezvous.leaves.mean == Approx(0.2).margin(0.1));
  CHECK(rendezvous.joins.mean == rendezvous.leaves.mean);
  CHECK(rendezvous.leaves.most == 1);
  setup.kind = SubsetKind::kRing;
  const SubsetResult ring = Measure(setup);
  CHECK(ring.mean == 400);
  CHECK(ring.deviation < 0.3 * rendezvous.deviation);
  CHECK(ring.leaves.most <= 2);
  CHECK(ring.joins.most <= 2);
}

}  // namespace
}  // namespace weft::balance_sim
