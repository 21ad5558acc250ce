#include "balance/round_robin.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "support/catch.h"
#include "support/fake_host.h"
#include "weft/balancer.h"

namespace weft::inline v0::balance {
namespace {

using testing::FakeHost;

struct Fixture {
  explicit Fixture(size_t count, uint64_t start = 0) : balancer(start) {
    for (size_t i = 0; i < count; ++i) {
      hosts.push_back(std::make_shared<FakeHost>("10.0.0." + std::to_string(i) + ":80"));
    }
    Update();
  }
  void Update() {
    std::vector<PickerHost> picker_hosts;
    for (const auto& host : hosts) {
      picker_hosts.push_back({.host = host.get()});
    }
    picker = balancer.Update(picker_hosts);
  }
  void SetAll(HostState state) {
    for (const auto& host : hosts) host->now = state;
  }
  size_t PickHost(const PickFacts& facts = {}) {
    const PickResult result = picker->Pick(facts);
    REQUIRE(result.kind == PickResult::Kind::kHost);
    REQUIRE(result.index < hosts.size());
    return result.index;
  }
  std::vector<int> Deal(int calls) {
    std::vector<int> counts(hosts.size());
    for (int i = 0; i < calls; ++i) {
      const PickResult result = picker->Pick({});
      if (result.kind != PickResult::Kind::kHost) FAIL("no host");
      ++counts.at(result.index);
    }
    return counts;
  }

  std::vector<std::shared_ptr<FakeHost>> hosts;
  RoundRobinBalancer balancer;
  std::shared_ptr<const Picker> picker;
};

TEST_CASE("each call goes to the next host", "[round_robin]") {
  Fixture f(3, /*start=*/7);
  for (const size_t expected : {1, 2, 0, 1, 2, 0}) CHECK(f.PickHost() == expected);
}

TEST_CASE("the turn goes on when the set changes", "[round_robin]") {
  Fixture f(4);
  CHECK(f.PickHost() == 0);
  CHECK(f.PickHost() == 1);
  f.Update();
  CHECK(f.PickHost() == 2);
}

TEST_CASE("balancers of one factory start at different hosts", "[round_robin]") {
  FakeHost host("h");
  const std::vector<PickerHost> hosts(1000, {.host = &host});
  const BalancerFactory factory = RoundRobin();
  std::vector<size_t> starts;
  for (uint64_t i = 0; i < 20; ++i)
    starts.push_back(factory(i * 0x9e3779b97f4a7c15)->Update(hosts)->Pick({}).index);
  std::sort(starts.begin(), starts.end());
  CHECK(std::unique(starts.begin(), starts.end()) - starts.begin() >= 10);
}

TEST_CASE("a dead host's calls are dealt to all others", "[round_robin]") {
  for (const size_t count : {4, 10, 100}) {
    Fixture f(count);
    f.hosts[2]->now = HostState::kBackoff;
    const int per_host = 3000;
    const std::vector<int> counts = f.Deal(per_host * static_cast<int>(count));
    CHECK(counts[2] == 0);
    // Its own turns, and an equal part of the dead one's.
    const double expected = per_host * (1 + 1.0 / static_cast<double>(count - 1));
    for (size_t i = 0; i < count; ++i) {
      if (i != 2) CHECK(counts[i] == Approx(expected).epsilon(0.05));
    }
  }
}

TEST_CASE("a dead rack's neighbour is not the one that pays", "[round_robin]") {
  for (const HostState state : {HostState::kBackoff, HostState::kConnecting}) {
    for (const size_t dead : {10, 50, 90}) {
      Fixture f(100);
      for (size_t i = 0; i < dead; ++i) f.hosts[i + 3]->now = state;
      const std::vector<int> counts = f.Deal(200'000);
      const double expected = 200'000.0 / static_cast<double>(100 - dead);
      for (size_t i = 0; i < 100; ++i) {
        if (i >= 3 && i < 3 + dead) {
          CHECK(counts[i] == 0);
        } else {
          CHECK(counts[i] == Approx(expected).epsilon(0.1));
        }
      }
    }
  }
}

TEST_CASE("many threads share one turn", "[round_robin]") {
  Fixture f(8);
  std::atomic<int> counts[8] = {};
  std::atomic<bool> wrong{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < 8000; ++call) {
        const PickResult result = f.picker->Pick({});
        if (result.kind != PickResult::Kind::kHost) {
          wrong = true;
        } else {
          ++counts[result.index];
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_FALSE(wrong);
  for (const std::atomic<int>& count : counts) CHECK(count == 4000);
}

TEST_CASE("the names of a host's states", "[round_robin]") {
  CHECK(HostStateName(HostState::kIdle) == "idle");
  CHECK(HostStateName(HostState::kConnecting) == "connecting");
  CHECK(HostStateName(HostState::kReady) == "ready");
  CHECK(HostStateName(HostState::kBackoff) == "back-off");
  CHECK(HostStateName(HostState::kClosed) == "closed");
}

}  // namespace
}  // namespace weft::inline v0::balance
