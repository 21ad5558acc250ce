#include "policy/retry_budget.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#include "base/random.h"
#include "support/catch.h"

namespace weft::inline v0::policy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Use = RetryBudget::Use;

constexpr base::MonoTime kStart{std::chrono::hours(1000)};

void DepositMany(RetryBudget& budget, int calls, base::MonoTime now) {
  for (int i = 0; i < calls; ++i) budget.Deposit(now);
}

int WithdrawAll(RetryBudget& budget, Use use, base::MonoTime now) {
  int granted = 0;
  while (budget.TryWithdraw(use, now)) ++granted;
  return granted;
}

TEST_CASE("five calls pay for one extra attempt", "[retry_budget]") {
  RetryBudget budget({.reserve_per_second = 0});
  CHECK_FALSE(budget.TryWithdraw(Use::kRetry, kStart));
  DepositMany(budget, 4, kStart);
  CHECK_FALSE(budget.TryWithdraw(Use::kRetry, kStart));
  budget.Deposit(kStart);
  CHECK(budget.TryWithdraw(Use::kRetry, kStart));
  CHECK_FALSE(budget.TryWithdraw(Use::kRetry, kStart));
}

TEST_CASE("the reserve is for retries without calls", "[retry_budget]") {
  RetryBudget budget;
  CHECK(budget.Available(Use::kRetry, kStart) == 100);
  CHECK(WithdrawAll(budget, Use::kRetry, kStart) == 100);
  CHECK(budget.Available(Use::kRetry, kStart) == 0);
  // It is whole again when its window has passed, not before.
  CHECK(WithdrawAll(budget, Use::kRetry, kStart + seconds(9)) == 0);
  CHECK(WithdrawAll(budget, Use::kRetry, kStart + seconds(10)) == 100);
}

TEST_CASE("hedges take nothing from the reserve, and leave half of the rest to retries",
          "[retry_budget]") {
  RetryBudget budget;
  CHECK(WithdrawAll(budget, Use::kHedge, kStart) == 0);
  DepositMany(budget, 50, kStart);
  CHECK(budget.Available(Use::kHedge, kStart) == 5);
  CHECK(budget.Available(Use::kRetry, kStart) == 110);
  CHECK(WithdrawAll(budget, Use::kHedge, kStart) == 5);
  CHECK(WithdrawAll(budget, Use::kRetry, kStart) == 105);
}

TEST_CASE("a retry out of the reserve is earned before the next hedge", "[retry_budget]") {
  RetryBudget budget;
  REQUIRE(budget.TryWithdraw(Use::kRetry, kStart));
  DepositMany(budget, 19, kStart);
  CHECK_FALSE(budget.TryWithdraw(Use::kHedge, kStart));
  budget.Deposit(kStart);
  CHECK(budget.TryWithdraw(Use::kHedge, kStart));
}

TEST_CASE("calls count for a window", "[retry_budget]") {
  RetryBudget budget({.reserve_per_second = 0});
  DepositMany(budget, 50, kStart);
  CHECK(budget.Available(Use::kRetry, kStart + milliseconds(9300)) == 10);
  CHECK(budget.Available(Use::kRetry, kStart + seconds(10)) == 0);
}

TEST_CASE("a long silence and times that come out of order are harmless", "[retry_budget]") {
  RetryBudget budget({.reserve_per_second = 0});
  DepositMany(budget, 50, kStart);
  CHECK(WithdrawAll(budget, Use::kRetry, kStart + std::chrono::hours(100'000)) == 0);
  // What is late counts as now.
  DepositMany(budget, 5, kStart);
  CHECK(WithdrawAll(budget, Use::kRetry, kStart) == 1);
}

TEST_CASE("times around and before the clock's origin", "[retry_budget]") {
  RetryBudget budget({.reserve_per_second = 0});
  for (int step = -40; step <= 40; ++step) {
    const base::MonoTime now{milliseconds(625) * step};
    DepositMany(budget, 5, now);
    CHECK(budget.Available(Use::kRetry, now) <= 17);
    CHECK(budget.Available(Use::kRetry, now) >= 1);
  }
}

TEST_CASE("options out of range count as the nearest in it", "[retry_budget]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  SECTION("no ratio leaves the reserve") {
    for (const double ratio : {0.0, -1.0, nan, 1e-9}) {
      RetryBudget budget({.ratio = ratio, .reserve_per_second = 1});
      DepositMany(budget, 1000, kStart);
      CHECK(WithdrawAll(budget, Use::kHedge, kStart) == 0);
      CHECK(WithdrawAll(budget, Use::kRetry, kStart) == 10);
    }
  }
  SECTION("neither ratio nor reserve: never") {
    RetryBudget budget({.ratio = nan, .reserve_per_second = nan, .window = -absl::Seconds(1)});
    DepositMany(budget, 1000, kStart);
    CHECK(WithdrawAll(budget, Use::kRetry, kStart) == 0);
  }
  SECTION("too much of everything") {
    RetryBudget budget(
        {.ratio = infinity, .reserve_per_second = infinity, .window = absl::InfiniteDuration()});
    budget.Deposit(kStart);
    CHECK(budget.Available(Use::kRetry, kStart) == 1'001'000);
    CHECK(budget.Available(Use::kHedge, kStart) == 500);
  }
  SECTION("the smallest ratio with the largest reserve does not overflow") {
    RetryBudget budget({.ratio = 1e-6, .reserve_per_second = 1e9});
    DepositMany(budget, 1000, kStart);
    CHECK(budget.Available(Use::kRetry, kStart) == 1'000'000);
  }
}

// What the random patterns below are checked against: the reserve once for each window that was
// begun. Windows are of whole steps, of which the first and the last may be partly outside.
double MaxExtra(double ratio, double reserve_per_second, double calls, base::MonoDuration length) {
  const base::MonoDuration step = milliseconds(625);
  const auto windows = (length + 2 * step) / base::MonoDuration(seconds(10)) + 1;
  return ratio * calls + std::floor(reserve_per_second * 10) * static_cast<double>(windows);
}

// Bursts, silences and storms of failures, where each caller takes whatever it is granted.
void RunPattern(uint64_t seed, double ratio, double reserve_per_second) {
  INFO("seed " << seed << " ratio " << ratio << " reserve " << reserve_per_second);
  base::Random random(seed);
  RetryBudget budget({.ratio = ratio, .reserve_per_second = reserve_per_second});
  const base::MonoTime start = kStart + milliseconds(random.Below(20'000));
  base::MonoTime now = start;
  double calls = 0;
  double extra = 0;
  double hedges = 0;
  for (int phase = 0; phase < 60; ++phase) {
    const uint64_t rate = random.Below(4) == 0 ? 0 : random.Below(400);
    const bool storm = random.Below(2) == 0;
    const uint64_t eagerness = random.Below(4);
    for (uint64_t step = random.Below(40); step > 0; --step) {
      now += milliseconds(random.Below(200));
      const uint64_t batch = rate == 0 ? 0 : random.Below(rate);
      for (uint64_t i = 0; i < batch; ++i, ++calls) budget.Deposit(now);
      for (uint64_t i = storm ? 1000 : random.Below(batch + 2) * eagerness; i > 0; --i) {
        const Use use = random.Below(3) == 0 ? Use::kHedge : Use::kRetry;
        if (!budget.TryWithdraw(use, now)) continue;
        ++extra;
        if (use == Use::kHedge) ++hedges;
      }
      // Plain conditions: there are a million of them.
      const double allowed = MaxExtra(ratio, reserve_per_second, calls, now - start);
      if (extra > allowed + 1e-6) FAIL(extra << " extra attempts, of " << allowed);
      if (hedges > ratio * calls / 2 + 1e-6) FAIL(hedges << " hedges for " << calls << " calls");
    }
  }
}

// A case each: they take long, above all with the sanitizers.
TEST_CASE("extra attempts stay within the bound under any pattern", "[retry_budget]") {
  for (uint64_t seed = 1; seed <= 50; ++seed) RunPattern(seed, 0.2, 10);
}

TEST_CASE("extra attempts stay within the bound without a reserve", "[retry_budget]") {
  for (uint64_t seed = 1; seed <= 50; ++seed) RunPattern(seed, 0.2, 0);
}

TEST_CASE("extra attempts stay within the bound with a small reserve", "[retry_budget]") {
  for (uint64_t seed = 1; seed <= 50; ++seed) RunPattern(seed, 0.3, 1);
}

TEST_CASE("extra attempts stay within the bound with more than one for each call",
          "[retry_budget]") {
  for (uint64_t seed = 1; seed <= 50; ++seed) RunPattern(seed, 1.5, 0.25);
}

TEST_CASE("within the bound for any window, not only in total", "[retry_budget]") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    base::Random random(seed);
    RetryBudget budget;
    std::vector<double> calls(2000);
    std::vector<double> extra(2000);
    for (size_t tick = 0; tick < calls.size(); ++tick) {  // of 50 ms
      const base::MonoTime now = kStart + milliseconds(50) * tick;
      calls[tick] = static_cast<double>(random.Below(tick / 200 % 2 == 0 ? 2 : 60));
      DepositMany(budget, static_cast<int>(calls[tick]), now);
      extra[tick] = WithdrawAll(budget, Use::kRetry, now);
      // The window ends with this tick; it may be a step (625 ms) shorter than its name.
      double window_calls = 0;
      double window_extra = 0;
      for (size_t back = 0; back < 200 && back <= tick; ++back) {
        window_calls += calls[tick - back];
        if (back < 187) window_extra += extra[tick - back];
      }
      REQUIRE(window_extra <= 0.2 * window_calls + 100 + 1e-6);
    }
  }
}

TEST_CASE("a budget that is used up by a storm serves again afterwards", "[retry_budget]") {
  RetryBudget budget;
  base::MonoTime now = kStart;
  int granted = 0;
  for (int second = 0; second < 600; ++second, now += seconds(1)) {
    DepositMany(budget, 100, now);
    granted += WithdrawAll(budget, Use::kRetry, now);
  }
  // 20 a second from the calls, and 10 a second from the reserve.
  CHECK(granted >= 600 * 28);
  CHECK(granted <= 600 * 30 + 100);
}

TEST_CASE("threads together stay within the bound", "[retry_budget]") {
  RetryBudget budget;
  constexpr int kThreads = 4;
  constexpr int kCalls = 5000;
  std::atomic<int> extra{0};
  std::atomic<int64_t> tick{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < kCalls; ++call) {
        // 5 s in all: steps change under way, and no window ends.
        const base::MonoTime now =
            kStart + std::chrono::microseconds(250) * tick.fetch_add(1, std::memory_order_relaxed);
        budget.Deposit(now);
        if (budget.TryWithdraw(Use::kRetry, now)) extra.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(extra <= kThreads * kCalls / 5 + 100);
  CHECK(extra >= kThreads * kCalls / 5 - 100);
}

}  // namespace
}  // namespace weft::inline v0::policy
