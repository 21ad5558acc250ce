#include "policy/hedge_policy.h"

#include <atomic>
#include <chrono>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/catch.h"

namespace weft::policy {
namespace {

using namespace std::chrono_literals;
using When = HedgeOptions::When;

constexpr base::MonoTime kStart{std::chrono::hours(1000)};

double Milliseconds(base::MonoDuration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

// Calls that took 1 ms, 2 ms … 100 ms, so that the percentile is its own name.
void TeachPercentiles(HedgePolicy& policy, base::MonoTime now) {
  for (int i = 0; i < 10; ++i) {
    for (int ms = 1; ms <= 100; ++ms) policy.OnCallEnd(std::chrono::milliseconds(ms), now);
  }
}

void Report(HedgePolicy& policy, uint32_t in_flight, base::MonoTime now, int times = 1000) {
  for (int i = 0; i < times; ++i) policy.OnReport({in_flight, 100}, now);
}

// How many more hedges may start.
int Drain(HedgePolicy& policy) {
  int hedges = 0;
  while (hedges < 1000 && policy.TryStart()) ++hedges;
  return hedges;
}

TEST_CASE("hedging is off, and its defaults are valid") {
  CHECK(Validate(HedgeOptions()).ok());
  HedgePolicy policy{HedgeOptions()};
  CHECK_FALSE(policy.armed());
  CHECK(policy.OnCall(kStart) == HedgePolicy::kNever);
  CHECK_FALSE(policy.TryStart());
}

TEST_CASE("hedge options out of range are refused with their name") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<HedgeOptions, std::string>> wrong = {
      {{.when = static_cast<When>(4)}, "when"},
      {{.max_attempts = 1}, "max_attempts"},
      {{.max_attempts = 6}, "max_attempts"},
      {{.delay = -absl::Nanoseconds(1)}, "delay"},
      {{.delay = absl::InfiniteDuration()}, "delay"},
      {{.percentile = 0.49}, "percentile"},
      {{.percentile = 0.9991}, "percentile"},
      {{.percentile = nan}, "percentile"},
      {{.ratio = 0.0009}, "ratio"},
      {{.ratio = 0.51}, "ratio"},
      {{.ratio = nan}, "ratio"},
  };
  for (const auto& [options, name] : wrong) {
    const absl::Status status = Validate(options);
    CAPTURE(name, status);
    CHECK(absl::IsInvalidArgument(status));
    CHECK(std::string(status.message()).find("HedgeOptions::" + name + " ") == 0);
  }
  const std::vector<HedgeOptions> right = {
      {.when = When::kAfterDelay, .max_attempts = 5, .delay = absl::ZeroDuration()},
      {.when = When::kAtPercentile, .percentile = 0.5, .ratio = 0.5},
      {.when = When::kAdaptive, .percentile = 0.999, .ratio = 0.001},
  };
  for (const HedgeOptions& options : right) CHECK(Validate(options).ok());
}

TEST_CASE("after a delay: that delay, any host, and no bucket") {
  for (const absl::Duration delay : {absl::ZeroDuration(), absl::Milliseconds(30)}) {
    HedgePolicy policy({.when = When::kAfterDelay, .max_attempts = 3, .delay = delay});
    CHECK(policy.armed());
    CHECK(policy.max_attempts() == 3);
    CHECK(policy.OnCall(kStart) == absl::ToChronoNanoseconds(delay));
    TeachPercentiles(policy, kStart);
    Report(policy, 100, kStart);
    CHECK(policy.OnCall(kStart + 1s) == absl::ToChronoNanoseconds(delay));
    CHECK(policy.Place(kStart + 1s) == HedgePlace::kAnyHost);
    CHECK(Drain(policy) == 1000);
  }
}

TEST_CASE("at a percentile: of 20 calls or more, 1 ms or more, fresh each quarter of a second") {
  HedgePolicy policy({.when = When::kAtPercentile, .percentile = 0.9});
  CHECK(policy.Place(kStart) == HedgePlace::kAnyHost);
  for (int i = 0; i < 19; ++i) policy.OnCallEnd(10ms, kStart);
  CHECK(policy.OnCall(kStart) == HedgePolicy::kNever);
  policy.OnCallEnd(10ms, kStart);
  CHECK(policy.OnCall(kStart + 249ms) == HedgePolicy::kNever);
  CHECK(Milliseconds(policy.OnCall(kStart + 250ms)) == Approx(10).epsilon(0.035));

  TeachPercentiles(policy, kStart + 31s);
  CHECK(Milliseconds(policy.OnCall(kStart + 31s)) == Approx(90).epsilon(0.035));
  for (int i = 0; i < 20; ++i) policy.OnCallEnd(200us, kStart + 70s);
  CHECK(policy.OnCall(kStart + 70s) == 1ms);
  CHECK(policy.OnCall(kStart + 110s) == HedgePolicy::kNever);
}

TEST_CASE("a call without an answer counts as one that took at least as long") {
  HedgePolicy policy({.when = When::kAtPercentile, .percentile = 0.9});
  for (int i = 0; i < 80; ++i) policy.OnCallEnd(10ms, kStart);
  for (int i = 0; i < 20; ++i) policy.OnCallEnd(500ms, kStart);
  CHECK(Milliseconds(policy.OnCall(kStart)) == Approx(500).epsilon(0.035));
}

TEST_CASE("the bucket has a share of a hedge for each call, starts empty, and holds ten") {
  // The adaptive share begins in the middle.
  for (const auto& [when, calls] :
       {std::pair(When::kAtPercentile, 20), std::pair(When::kAdaptive, 50)}) {
    HedgePolicy policy({.when = when, .ratio = 0.05});
    CHECK_FALSE(policy.TryStart());
    for (int i = 1; i < calls; ++i) policy.OnCall(kStart);
    CHECK_FALSE(policy.TryStart());
    policy.OnCall(kStart);
    CHECK(policy.TryStart());
    CHECK_FALSE(policy.TryStart());
    for (int i = 0; i < 10'000; ++i) policy.OnCall(kStart);
    CHECK(Drain(policy) == 10);
  }
}

// Its hedges win, so that it makes as many as it may.
void TeachUse(HedgePolicy& policy) {
  for (int i = 0; i < 100; ++i) policy.OnHedged(1, true);
}

TEST_CASE("adaptive: the busier the hosts, the fewer and later the hedges") {
  const std::vector<std::pair<uint32_t, double>> table = {
      {0, 0.05}, {50, 0.05}, {60, 0.05}, {78, 0.0243}, {88, 0.01}, {95, 0.001}, {100, 0.001}};
  for (const auto& [in_flight, share] : table) {
    HedgePolicy policy({.when = When::kAdaptive});
    TeachUse(policy);
    Report(policy, in_flight, kStart);
    TeachPercentiles(policy, kStart);
    const base::MonoDuration delay = policy.OnCall(kStart);
    CAPTURE(in_flight, policy.utilisation(), policy.share());
    CHECK(policy.share() == Approx(share).epsilon(0.02));
    CHECK(Milliseconds(delay) == Approx(100 * (1 - 0.8 * share)).epsilon(0.008));
    for (int i = 0; i < 999; ++i) policy.OnCall(kStart);
    CHECK(Drain(policy) == Approx(std::min(1000 * share, 10.0)).margin(1));
  }
}

TEST_CASE("adaptive: without reports the hosts count as half busy") {
  HedgePolicy policy({.when = When::kAdaptive});
  TeachUse(policy);
  policy.OnCall(kStart);
  CHECK(policy.share() == Approx(0.05));
  policy.OnReport({.in_flight = 9, .workers = 0}, kStart);  // does not say of how many
  CHECK(policy.utilisation() == Approx(0.5));
  CHECK(policy.Place(kStart) == HedgePlace::kAnyHost);
}

TEST_CASE("adaptive: hedges that do not win become fewer, and more again when they win") {
  HedgePolicy policy({.when = When::kAdaptive});
  base::MonoTime now = kStart;
  const auto hedge = [&](int hedges, int wins) {
    for (int i = 0; i < hedges; ++i) policy.OnHedged(1, i < wins);
    now += 250ms;
    policy.OnCall(now);
    return policy.share() * 100;
  };
  policy.OnCall(now);
  CHECK(policy.share() == Approx(0.02));
  // Of 20, fewer than 5 won: one step; and no further than the last. With 5 all stays.
  CHECK(hedge(20, 5) == Approx(2.0));
  for (const double share : {1.0, 0.5, 0.2, 0.2}) CHECK(hedge(20, 4) == Approx(share));
  CHECK(hedge(20, 7) == Approx(0.2));
  for (const double share : {0.5, 1.0, 2.0, 3.0, 5.0, 5.0}) CHECK(hedge(20, 8) == Approx(share));
  // No verdict before 20.
  CHECK(hedge(19, 0) == Approx(5.0));
  CHECK(hedge(1, 0) == Approx(3.0));
}

TEST_CASE("adaptive: the lesser of what the hosts spare and what is of use") {
  HedgePolicy policy({.when = When::kAdaptive, .ratio = 0.1});
  TeachUse(policy);
  for (int i = 0; i < 20; ++i) policy.OnHedged(1, false);
  policy.OnCall(kStart);
  CHECK(policy.share() == Approx(0.06));
  Report(policy, 88, kStart);
  policy.OnCall(kStart + 250ms);
  CHECK(policy.share() == Approx(0.02).epsilon(0.02));
}

TEST_CASE("adaptive: a hedge goes where there is room, if that is known") {
  HedgePolicy policy({.when = When::kAdaptive});
  CHECK(policy.Place(kStart) == HedgePlace::kAnyHost);
  Report(policy, 90, kStart);
  CHECK(policy.Place(kStart) == HedgePlace::kHostWithRoom);
  CHECK(policy.Place(kStart + 1s) == HedgePlace::kHostWithRoom);
  // The last that was heard is that they are busy.
  CHECK(policy.Place(kStart + 1001ms) == HedgePlace::kNowhere);
  // It is forgotten in time, a little with each refresh.
  base::MonoTime now = kStart + 2s;
  for (; now < kStart + 40s; now += 250ms) policy.OnCall(now);
  CHECK(policy.Place(now) == HedgePlace::kAnyHost);
  // The last that was heard is that they are not.
  Report(policy, 60, now);
  CHECK(policy.Place(now + 2s) == HedgePlace::kAnyHost);
}

TEST_CASE("adaptive: where reports are few, older ones count") {
  for (const auto& [interval, age] : {std::pair(5ms, 100ms), std::pair(20ms, 1000ms)}) {
    HedgePolicy policy({.when = When::kAdaptive});
    CHECK(policy.report_age() == 1s);
    for (base::MonoTime now = kStart; now < kStart + 2s; now += interval) {
      policy.OnReport({.in_flight = 1, .workers = 4}, now);
      policy.OnCall(now);
    }
    CHECK(policy.report_age() == age);
  }
}

TEST_CASE("threads together stay within the bucket") {
  for (const When when : {When::kAtPercentile, When::kAdaptive}) {
    constexpr int kThreads = 4;
    constexpr int kCalls = 5000;
    HedgePolicy policy({.when = when, .ratio = 0.05});
    TeachUse(policy);
    std::atomic<int> hedges{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int call = 0; call < kCalls; ++call) {
          const base::MonoTime now = kStart + std::chrono::milliseconds(call);
          policy.OnCall(now);
          policy.Place(now);
          policy.OnReport({.in_flight = 1, .workers = 4}, now);
          policy.OnCallEnd(std::chrono::milliseconds(call % 100), now);
          if (policy.TryStart()) {
            hedges.fetch_add(1, std::memory_order_relaxed);
            policy.OnHedged(1, true);
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(hedges <= kThreads * kCalls / 20);
    CHECK(hedges >= kThreads * kCalls / 20 - 11);
  }
}

}  // namespace
}  // namespace weft::policy
