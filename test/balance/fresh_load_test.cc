#include "balance/fresh_load.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "balance/rig.h"
#include "base/mix.h"
#include "support/catch.h"
#include "weft/balancers.h"

namespace weft::inline v0::balance {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr MonoTime kStart{std::chrono::hours(1)};

struct Fleet : Rig {
  explicit Fleet(size_t count, const FreshLoadOptions& options = {})
      : Rig(FreshLoad(options), count) {}

  void Say(size_t index, const LoadReport& report, MonoTime at, uint32_t sent_since = 0) {
    fakes[index]->said = {report, at, sent_since};
    picker->OnReport(index, at);
  }
  // All of them, of equal speed.
  void SayAll(uint32_t in_flight, MonoTime at) {
    for (size_t i = 0; i < fakes.size(); ++i) Say(i, Load(in_flight), at);
  }
  static LoadReport Load(uint32_t in_flight, milliseconds service_time = milliseconds(10)) {
    return {.in_flight = in_flight, .workers = 1, .service_time = service_time};
  }
};

TEST_CASE("where no host has reported, the one with fewer in flight", "[fresh_load]") {
  Fleet fleet(2);
  for (const auto& fake : fleet.fakes) fake->takes = milliseconds(10);
  fleet.fakes[0]->running = 5;
  for (int i = 0; i < 50; ++i) CHECK(fleet.PickHost({.now = kStart}) == 1);
}

TEST_CASE("a report that does not tell how many are in flight is none that says idle",
          "[fresh_load]") {
  Fleet fleet(2);
  for (const auto& fake : fleet.fakes) fake->takes = milliseconds(10);
  fleet.Say(0, {.utilization = 0.1F, .qps = 100}, kStart);
  fleet.fakes[0]->running = 5;
  for (int i = 0; i < 50; ++i) CHECK(fleet.PickHost({.now = kStart}) == 1);
  fleet.Update();
  for (int i = 0; i < 50; ++i) CHECK(fleet.PickHost({.now = kStart}) == 1);
}

TEST_CASE("the host that has just said that it is idle gets the next call", "[fresh_load]") {
  Fleet fleet(100);
  fleet.SayAll(4, kStart);
  fleet.Say(17, Fleet::Load(0), kStart);
  CHECK(fleet.PickHost({.now = kStart + milliseconds(1)}) == 17);
  // What was sent counts on top: with as many as the others it is one of many.
  const std::vector<double> calls = fleet.Deal(100, {.now = kStart + milliseconds(2)});
  CHECK(calls[17] >= 2);
  CHECK(calls[17] <= 6);
}

TEST_CASE("what was learnt of a host goes with it when the set changes", "[fresh_load]") {
  Fleet fleet(100);
  fleet.SayAll(4, kStart);
  fleet.Say(17, Fleet::Load(0), kStart);
  // All of them move, and those that stay say nothing anew.
  for (const auto& fake : fleet.fakes) fake->said = {};
  std::reverse(fleet.hosts.begin(), fleet.hosts.end());
  std::reverse(fleet.fakes.begin(), fleet.fakes.end());
  fleet.Remove(0);
  fleet.Add("10.7.7.7:80");
  fleet.Update();
  CHECK(fleet.PickHost({.now = kStart + milliseconds(1)}) == 81);
  // And that it was sent that call.
  fleet.Update();
  const std::vector<double> calls = fleet.Deal(100, {.now = kStart + milliseconds(2)});
  CHECK(calls[81] <= 8);
  // It has left, and its reports with it.
  fleet.Remove(81);
  fleet.Update();
  for (int i = 0; i < 100; ++i) fleet.PickHost({.now = kStart + milliseconds(3)});
}

// As one that starts slowly: nearly idle, and its reports say so.
TEST_CASE("a host of little weight gets little, however idle it is", "[fresh_load]") {
  Fleet fleet(10);
  for (PickerHost& host : fleet.hosts) host.weight = 1;
  fleet.hosts[4].weight = 0.1;
  fleet.Update();
  fleet.SayAll(1, kStart);
  std::vector<int> calls(10);
  MonoTime now = kStart;
  for (int i = 0; i < 2000; ++i, now += milliseconds(5)) {
    const size_t host = fleet.PickHost({.now = now});
    ++calls[host];
    fleet.Say(host, Fleet::Load(host == 4 ? 0 : 1), now + milliseconds(2));
  }
  CHECK(calls[4] > 0);
  CHECK(calls[4] <= 2000 / 10 / 2);
}

TEST_CASE("one of the last 16 reporters, not one of before", "[fresh_load]") {
  Fleet fleet(1000);
  fleet.SayAll(4, kStart);
  fleet.Say(1, Fleet::Load(0), kStart);
  for (size_t i = 2; i < 17; ++i) fleet.Say(i, Fleet::Load(4), kStart);
  CHECK(fleet.PickHost({.now = kStart}) == 1);
  fleet.Say(1, Fleet::Load(0), kStart);
  for (size_t i = 2; i < 18; ++i) fleet.Say(i, Fleet::Load(4), kStart);
  // Now only who draws it by chance finds it.
  CHECK(fleet.PickHost({.now = kStart}) != 1);
}

TEST_CASE("a report is worth less as it ages", "[fresh_load]") {
  for (const bool old : {false, true}) {
    Fleet fleet(1000);
    fleet.SayAll(4, kStart);
    fleet.Say(0, Fleet::Load(2), kStart);
    const MonoTime later = kStart + milliseconds(old ? 200 : 5);
    fleet.Say(1, Fleet::Load(3), later);
    CHECK(fleet.PickHost({.now = later}) == (old ? 1 : 0));
  }
}

TEST_CASE("after ten seconds what is in flight counts, not what was reported", "[fresh_load]") {
  Fleet fleet(2);
  fleet.SayAll(4, kStart);
  fleet.Say(0, Fleet::Load(0), kStart, /*sent_since=*/9);
  CHECK(fleet.PickHost({.now = kStart + seconds(9)}) == 1);
  fleet.fakes[1]->running = 3;
  CHECK(fleet.PickHost({.now = kStart + seconds(11)}) == 0);
}

TEST_CASE("load is by worker", "[fresh_load]") {
  Fleet fleet(2);
  const LoadReport small = {.in_flight = 3, .workers = 2};
  const LoadReport large = {.in_flight = 8, .workers = 8};
  fleet.Say(0, small, kStart);
  fleet.Say(1, large, kStart);
  const std::vector<double> calls = fleet.Deal(40, {.now = kStart});
  CHECK(calls[0] == Approx(40 - calls[1]));
  CHECK(calls[1] == Approx(34).margin(3));
}

TEST_CASE("fast hosts are drawn more often, and slow ones still get calls", "[fresh_load]") {
  Fleet fleet(200);
  std::vector<double> calls(200);
  uint32_t round = 0;
  // Each call is answered before the next.
  for (int i = 0; i < 40'000; ++i) {
    const MonoTime now = kStart + std::chrono::microseconds(100) * ++round;
    const size_t index = fleet.PickHost({.now = now});
    ++calls[index];
    fleet.Say(index, Fleet::Load(1, milliseconds(index < 100 ? 5 : 20)), now);
    // An idle minute makes all reports worthless, so that what counts are the draws.
    if (i % 20 == 0) round += 600'000;
  }
  double fast = 0;
  for (size_t i = 0; i < 100; ++i) fast += calls[i];
  CHECK(fast / 40'000 > 0.7);
  CHECK(*std::min_element(calls.begin(), calls.end()) > 0);
}

TEST_CASE("a host that fails at once is left alone, though it says that it is idle",
          "[fresh_load]") {
  Fleet fleet(20);
  for (const auto& fake : fleet.fakes) fake->takes = milliseconds(20);
  MonoTime now = kStart;
  for (int i = 0; i < 20; ++i) fleet.SayAll(2, now += milliseconds(1));
  fleet.fakes[3]->takes = seconds(15);
  std::vector<double> calls(20);
  // All that is heard is that host, which moves neither the mean load nor what is typical.
  for (int i = 0; i < 2000; ++i) {
    fleet.Say(3, {.workers = 1, .service_time = std::chrono::microseconds(200)}, now);
    const size_t index = fleet.PickHost({.now = now += milliseconds(1)});
    ++calls[index];
    if (index != 3) fleet.Say(index, Fleet::Load(2), now);
  }
  CHECK(calls[3] == 0);
  // Until it is better again.
  fleet.fakes[3]->takes = milliseconds(20);
  fleet.Say(3, Fleet::Load(0), now);
  CHECK(fleet.PickHost({.now = now}) == 3);
}

TEST_CASE("one that failed after its last report is seen when it would be picked", "[fresh_load]") {
  Fleet fleet(20);
  for (const auto& fake : fleet.fakes) fake->takes = milliseconds(20);
  fleet.SayAll(2, kStart);
  fleet.Say(3, Fleet::Load(0), kStart);
  fleet.fakes[3]->takes = seconds(15);
  CHECK(fleet.PickHost({.now = kStart}) != 3);
}

TEST_CASE("hosts that are not connected, or were tried, are passed over", "[fresh_load]") {
  Fleet fleet(30);
  fleet.SayAll(4, kStart);
  fleet.Say(5, Fleet::Load(0), kStart);
  fleet.Say(6, Fleet::Load(1), kStart);
  fleet.Say(7, Fleet::Load(2), kStart);
  fleet.fakes[5]->now = HostState::kConnecting;
  const HostView* const tried[] = {fleet.fakes[6].get()};
  CHECK(fleet.PickHost({.now = kStart, .tried = tried}) == 7);
  fleet.SetAll(HostState::kBackoff);
  CHECK(fleet.Pick({.now = kStart}).kind == PickResult::Kind::kFail);
  fleet.fakes[20]->now = HostState::kReady;
  CHECK(fleet.PickHost({.now = kStart}) == 20);
}

TEST_CASE("a host may refuse what is above twice the mean, twice for a call", "[fresh_load]") {
  Fleet fleet(10, {.bounce_at = 2});
  for (int i = 0; i < 200; ++i) fleet.SayAll(4, kStart);
  CHECK(fleet.Pick({.now = kStart}).bounce_above == Approx(8).margin(1));
  CHECK(fleet.Pick({.now = kStart, .bounces = 1}).bounce_above == Approx(8).margin(1));
  CHECK(fleet.Pick({.now = kStart, .bounces = 2}).bounce_above == 0);
  for (int i = 0; i < 500; ++i) fleet.SayAll(0, kStart);
  CHECK(fleet.Pick({.now = kStart}).bounce_above == 1);
  Fleet plain(10);
  for (int i = 0; i < 200; ++i) plain.SayAll(4, kStart);
  CHECK(plain.Pick({.now = kStart}).bounce_above == 0);
}

TEST_CASE("a new set of hosts begins with what they last said", "[fresh_load]") {
  Fleet fleet(100);
  fleet.SayAll(4, kStart);
  fleet.Say(50, Fleet::Load(0), kStart + milliseconds(1));
  fleet.Remove(10);
  fleet.Update();
  CHECK(fleet.PickHost({.now = kStart + milliseconds(1)}) == 49);
  // A report of the set before may name a host that is not there any more.
  fleet.picker->OnReport(99, kStart);
}

TEST_CASE("picks and reports on several threads", "[fresh_load]") {
  Fleet fleet(50, {.bounce_at = 2});
  for (const auto& fake : fleet.fakes) fake->takes = milliseconds(20);
  fleet.SayAll(4, kStart);
  std::atomic<bool> wrong{false};
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, random = i]() mutable {
      for (int call = 0; call < 5000; ++call) {
        random = base::NextRandom(random);
        const MonoTime now = kStart + milliseconds(call);
        const PickResult result = fleet.picker->Pick({.now = now, .random = random});
        if (result.kind != PickResult::Kind::kHost || result.index >= 50) {
          wrong = true;
          continue;
        }
        fleet.picker->OnReport(result.index, now);
        fleet.fakes[result.index]->takes = milliseconds(call % 100 == 0 ? 2000 : 20);
        fleet.fakes[result.index]->running = static_cast<uint32_t>(call % 5);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_FALSE(wrong);
}

}  // namespace
}  // namespace weft::inline v0::balance
