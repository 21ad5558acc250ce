#include "balance/prequal.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "balance/rig.h"
#include "base/mix.h"
#include "support/catch.h"
#include "weft/reported_load.h"

namespace weft::inline v0::balance {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr MonoTime kStart{std::chrono::hours(1)};

struct Fleet : Rig {
  explicit Fleet(size_t count) : Rig(Prequal(), count) {}

  void Say(size_t index, uint32_t in_flight, milliseconds latency, MonoTime at = kStart) {
    fakes[index]->said = {{.in_flight = in_flight, .workers = 1, .latency = latency}, at, 0};
    picker->OnReport(index, at);
  }
  // So that above `in_flight` is hot.
  void SayMany(uint32_t in_flight) {
    for (size_t i = 0; i < 128; ++i) Say(i % fakes.size(), in_flight, milliseconds(50));
  }
};

TEST_CASE("of the hosts that are not hot the quickest", "[prequal]") {
  Fleet fleet(40);
  fleet.SayMany(3);
  fleet.Say(1, 3, milliseconds(20));
  fleet.Say(2, 0, milliseconds(30));
  fleet.Say(3, 9, milliseconds(1));  // hot
  CHECK(fleet.PickHost({.now = kStart}) == 1);
}

TEST_CASE("a pool keeps what hosts said when the set changes", "[prequal]") {
  Fleet fleet(40);
  fleet.SayMany(3);
  fleet.Say(1, 3, milliseconds(20));
  for (const auto& fake : fleet.fakes) fake->said = {};
  std::reverse(fleet.hosts.begin(), fleet.hosts.end());
  std::reverse(fleet.fakes.begin(), fleet.fakes.end());
  fleet.Remove(0);
  fleet.Add("10.7.7.7:80");
  fleet.Update();
  CHECK(fleet.PickHost({.now = kStart}) == 37);
  fleet.Remove(37);
  fleet.Update();
  CHECK(fleet.PickHost({.now = kStart}) != 39);  // the new one has said nothing
}

TEST_CASE("where all are hot the one with the least in flight", "[prequal]") {
  Fleet fleet(100);
  for (size_t i = 0; i < 64; ++i) fleet.Say(i, 1, milliseconds(50), kStart - seconds(3));
  for (size_t i = 0; i < 8; ++i) fleet.Say(i, i == 7 ? 4 : 9, milliseconds(i == 3 ? 1 : 10));
  for (size_t i = 64; i < 72; ++i) fleet.Say(i, 1, milliseconds(50), kStart - seconds(3));
  CHECK(fleet.PickHost({.now = kStart}) == 7);
}

TEST_CASE("what is sent counts as in flight", "[prequal]") {
  Fleet fleet(100);
  fleet.SayMany(1);
  fleet.Say(1, 1, milliseconds(1));
  CHECK(fleet.PickHost({.now = kStart}) == 1);
  // It is hot now.
  CHECK(fleet.PickHost({.now = kStart}) != 1);
}

TEST_CASE("reports that are too old, and fewer than two, are not used", "[prequal]") {
  Fleet fleet(2);
  fleet.Say(0, 0, milliseconds(1));
  fleet.Say(1, 0, milliseconds(9));
  fleet.fakes[0]->running = 7;
  CHECK(fleet.PickHost({.now = kStart}) == 0);
  // Least request.
  CHECK(fleet.PickHost({.now = kStart + milliseconds(1100)}) == 1);
}

TEST_CASE("a report is used up", "[prequal]") {
  Fleet fleet(1000);
  fleet.SayMany(50);
  std::vector<double> calls(1000);
  for (int i = 0; i < 100; ++i) ++calls[fleet.PickHost({.now = kStart})];
  // 16 reports, 1 / (1 - 16 / 1000 - 1 / 3) * 2 uses of each at most; the others by least request.
  double reported = 0;
  for (size_t i = 112; i < 128; ++i) reported += calls[i];
  CHECK(reported >= 10);
  CHECK(reported <= 16 * 4);
}

TEST_CASE("a host that failed since it reported loses its place", "[prequal]") {
  Fleet fleet(40);
  for (const auto& fake : fleet.fakes) fake->takes = milliseconds(20);
  fleet.SayMany(3);
  fleet.Say(1, 0, milliseconds(1));
  fleet.fakes[1]->takes = seconds(15);
  for (int i = 0; i < 10; ++i) CHECK(fleet.PickHost({.now = kStart}) != 1);
  // And is hot when it reports again.
  fleet.Say(1, 0, milliseconds(1));
  CHECK(fleet.PickHost({.now = kStart}) != 1);
}

TEST_CASE("hosts that cannot take the call are passed over, by prequal", "[prequal]") {
  Fleet fleet(40);
  fleet.SayMany(3);
  fleet.Say(1, 0, milliseconds(1));
  fleet.Say(2, 0, milliseconds(2));
  fleet.Say(3, 0, milliseconds(3));
  fleet.fakes[1]->now = HostState::kIdle;
  const HostView* const tried[] = {fleet.fakes[2].get()};
  CHECK(fleet.PickHost({.now = kStart, .tried = tried}) == 3);
  fleet.picker->OnReport(40, kStart);  // of a larger set before
}

TEST_CASE("prequal on several threads", "[prequal]") {
  Fleet fleet(50);
  for (const auto& fake : fleet.fakes) fake->takes = milliseconds(20);
  fleet.SayMany(2);
  std::atomic<bool> wrong{false};
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, random = i]() mutable {
      for (int call = 0; call < 5000; ++call) {
        random = base::NextRandom(random);
        const PickResult result = fleet.picker->Pick({.now = kStart, .random = random});
        if (result.kind != PickResult::Kind::kHost || result.index >= 50) {
          wrong = true;
          continue;
        }
        fleet.picker->OnReport(result.index, kStart);
        fleet.fakes[result.index]->takes = milliseconds(call % 100 == 0 ? 2000 : 20);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_FALSE(wrong);
}

}  // namespace
}  // namespace weft::inline v0::balance
