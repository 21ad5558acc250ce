// What all balancers do alike.
#include "balance/host_set.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "balance/rig.h"
#include "base/snapshot.h"
#include "support/catch.h"
#include "weft/reported_load.h"

namespace weft::inline v0::balance {
namespace {

// Each with its name, and with and without a key in the calls.
struct Kind {
  std::string name;
  BalancerFactory factory;
  uint64_t hash_key = 0;
};
std::vector<Kind> All() {
  return {
      {"round_robin", RoundRobin()},
      {"weighted_round_robin", WeightedRoundRobin()},
      {"random", Random()},
      {"least_request", LeastRequest()},
      {"peak_ewma", PeakEwma()},
      {"fresh_load", FreshLoad()},
      {"prequal", Prequal()},
      {"pick_first", PickFirst()},
      {"pick_first, shuffled", PickFirst({.shuffle = true})},
      {"ring_hash", RingHash(), /*hash_key=*/0x123456789abcdef},
      {"ring_hash without a key", RingHash()},
      {"maglev", Maglev(), /*hash_key=*/0x123456789abcdef},
      {"maglev without a key", Maglev()},
  };
}

TEST_CASE("no endpoints", "[host_set]") {
  for (const Kind& kind : All()) {
    INFO(kind.name);
    Rig rig(kind.factory, 0);
    const PickResult result = rig.Pick({.hash_key = kind.hash_key});
    CHECK(result.kind == PickResult::Kind::kFail);
    CHECK(result.status == absl::UnavailableError("the service has no endpoints"));
  }
}

TEST_CASE("calls wait where a host may become ready", "[host_set]") {
  for (const Kind& kind : All()) {
    INFO(kind.name);
    for (const HostState state : {HostState::kIdle, HostState::kConnecting}) {
      for (const size_t count : {1, 3, 30}) {
        Rig rig(kind.factory, count);
        rig.SetAll(HostState::kBackoff);
        rig.fakes[count / 2]->now = state;
        CHECK(rig.Pick({.hash_key = kind.hash_key}).kind == PickResult::Kind::kQueue);
      }
    }
  }
}

TEST_CASE("calls fail where all hosts are in back-off", "[host_set]") {
  for (const Kind& kind : All()) {
    INFO(kind.name);
    Rig rig(kind.factory, 3);
    rig.SetAll(HostState::kBackoff);
    PickResult result = rig.Pick({.hash_key = kind.hash_key});
    CHECK(result.kind == PickResult::Kind::kFail);
    CHECK(result.status == absl::UnavailableError("no host can be reached: 3 of 3 in back-off"));
    rig.fakes[0]->now = HostState::kClosed;
    result = rig.Pick({.hash_key = kind.hash_key});
    CHECK(result.status ==
          absl::UnavailableError("no host can be reached: 2 of 3 in back-off, 1 closed"));
  }
}

TEST_CASE("the last host that is ready takes every call", "[host_set]") {
  for (const Kind& kind : All()) {
    INFO(kind.name);
    for (const HostState state :
         {HostState::kIdle, HostState::kConnecting, HostState::kBackoff, HostState::kClosed}) {
      Rig rig(kind.factory, 100);
      rig.SetAll(state);
      rig.fakes[57]->now = HostState::kReady;
      for (int i = 0; i < 100; ++i) CHECK(rig.PickHost({.hash_key = kind.hash_key}) == 57);
    }
  }
}

TEST_CASE("a retry goes to another host where there is one", "[host_set]") {
  for (const Kind& kind : All()) {
    INFO(kind.name);
    for (const size_t count : {2, 3, 50}) {
      Rig rig(kind.factory, count);
      for (int i = 0; i < 200; ++i) {
        const size_t first = rig.PickHost({.hash_key = kind.hash_key});
        const HostView* tried[] = {rig.fakes[first].get()};
        CHECK(rig.PickHost({.hash_key = kind.hash_key, .tried = tried}) != first);
      }
    }
  }
}

TEST_CASE("a retry goes to the one host that was not tried", "[host_set]") {
  for (const Kind& kind : All()) {
    INFO(kind.name);
    Rig rig(kind.factory, 40);
    std::vector<const HostView*> tried;
    for (size_t i = 0; i < rig.fakes.size(); ++i) {
      if (i != 11) tried.push_back(rig.fakes[i].get());
    }
    const PickFacts facts = {.hash_key = kind.hash_key, .tried = tried};
    for (int i = 0; i < 100; ++i) CHECK(rig.PickHost(facts) == 11);
    // One that is not connected is no reason to wait: a host that was tried comes next.
    rig.fakes[11]->now = HostState::kConnecting;
    for (int i = 0; i < 100; ++i) CHECK(rig.PickHost(facts) != 11);
  }
}

TEST_CASE("picks while the set and the states of its hosts change", "[host_set]") {
  for (const Kind& kind : All()) {
    INFO(kind.name);
    constexpr size_t kHosts = 50;
    Rig rig(kind.factory, kHosts);
    base::Snapshot<Picker> current;
    current.Set(rig.picker);
    std::atomic<bool> done{false};
    std::atomic<uint64_t> wrong{0};
    std::vector<std::thread> callers;
    for (uint64_t caller = 0; caller < 3; ++caller) {
      callers.emplace_back([&, caller, random = caller]() mutable {
        const HostView* tried[] = {rig.fakes[caller].get()};
        MonoTime now{};
        while (!done) {
          const std::shared_ptr<const Picker> picker = current.Get();
          for (int i = 0; i < 100; ++i) {
            random = base::NextRandom(random);
            now += std::chrono::milliseconds(1);
            const PickResult result = picker->Pick({.now = now,
                                                    .random = random,
                                                    .hash_key = kind.hash_key == 0 ? 0 : random,
                                                    .tried = tried});
            const bool right =
                result.kind == PickResult::Kind::kHost ? result.index < kHosts : result.status.ok();
            if (!right) ++wrong;
          }
        }
      });
    }
    for (size_t round = 0; round < 30; ++round) {
      for (size_t i = 0; i < 20; ++i) {
        auto& fake = *rig.fakes[(round * 7 + i) % kHosts];
        fake.now = i % 4 == 0 ? HostState::kConnecting : HostState::kReady;
        fake.running = static_cast<uint32_t>(i);
      }
      std::vector<PickerHost> hosts = rig.hosts;
      hosts.resize(kHosts - round % 30);
      hosts[0].weight = 1 + static_cast<double>(round % 3);
      current.Set(rig.balancer->Update(hosts));
    }
    done = true;
    for (std::thread& caller : callers) caller.join();
    CHECK(wrong == 0);
  }
}

}  // namespace
}  // namespace weft::inline v0::balance
