// Hedging by the library's policies on a simulated fleet. Figures are of one seed and a few
// seconds; benchmarks/README.md has those that count.
#include <cmath>

#include "hedge_sim/model.h"
#include "support/catch.h"

namespace weft::hedge_sim {
namespace {

Setup Short(Cause cause, double load) {
  return {.cause = cause, .load = load, .from = 15 * kSecond, .until = 21 * kSecond};
}

Setup Hedged(Setup setup) {
  setup.hedge.when = HedgeOptions::When::kAdaptive;
  return setup;
}

TEST_CASE("without hedging a fleet's latency is what queueing theory says") {
  Setup setup = Short(Cause::kNone, 0.05);
  const Result idle = Simulate(setup);
  // Next to nothing waits: the median of the work, and half a millisecond on the way.
  CHECK(idle.Quantile(0.5) == Approx(10 * std::exp(-0.32) + 0.5).epsilon(0.04));
  CHECK(idle.Quantile(0.99) == Approx(10 * std::exp(-0.32 + 0.8 * 2.326) + 0.5).epsilon(0.1));
  CHECK(static_cast<double>(idle.calls) == Approx(6 * 0.05 * 20'000).epsilon(0.05));
  CHECK(idle.worked / static_cast<double>(6 * kSecond) == Approx(0.05 * 200).epsilon(0.05));
  CHECK(idle.AttemptsPerCall() == 1);
  CHECK(idle.Success() == 1);
  // The same seed is the same run.
  CHECK(Simulate(setup).Quantile(0.5) == idle.Quantile(0.5));
  setup.seed = 2;
  CHECK(Simulate(setup).Quantile(0.5) != idle.Quantile(0.5));
}

TEST_CASE("hedging cuts the tail where slowness is an attempt's or a host's, within its ratio") {
  for (const Cause cause : {Cause::kSlowAttempts, Cause::kPauses, Cause::kStalls}) {
    const Result without = Simulate(Short(cause, 0.5));
    const Result with = Simulate(Hedged(Short(cause, 0.5)));
    CAPTURE(static_cast<int>(cause), without.Quantile(0.999), with.Quantile(0.999));
    CHECK(with.calls == without.calls);
    CHECK(with.Quantile(0.999) < 0.65 * without.Quantile(0.999));
    CHECK(with.Quantile(0.5) < 1.05 * without.Quantile(0.5));
    CHECK(with.AttemptsPerCall() > 1.002);
    CHECK(with.AttemptsPerCall() < 1.05);
    CHECK(with.hedges > 0);
  }
}

TEST_CASE("hedging does little harm where it cannot help, or the hosts are busy") {
  for (const auto& [cause, load] :
       {std::pair(Cause::kSlowRequests, 0.5), std::pair(Cause::kNone, 0.7),
        std::pair(Cause::kSlowAttempts, 0.95)}) {
    const Result without = Simulate(Short(cause, load));
    const Result with = Simulate(Hedged(Short(cause, load)));
    CAPTURE(static_cast<int>(cause), load);
    CHECK(with.Quantile(0.5) < 1.1 * without.Quantile(0.5));
    CHECK(with.Quantile(0.999) < 1.1 * without.Quantile(0.999));
    CHECK(with.AttemptsPerCall() < (load > 0.9 ? 1.005 : 1.02));
  }
}

TEST_CASE("retries and hedges together stay within the budget when hosts fail") {
  Setup setup = Hedged(Short(Cause::kSlowAttempts, 0.5));
  setup.hedge.max_attempts = 3;
  setup.retry.retryable = {absl::StatusCode::kUnavailable};
  setup.retry.budget_reserve_per_second = 0;
  setup.failing = {kHosts * 3 / 10, 0, setup.until};
  const Result result = Simulate(setup);
  CHECK(result.AttemptsPerCall() < 1.21);
  CHECK(result.AttemptsPerCall() > 1.15);
  // Half of the calls meet a host that fails, as these look idle, and a fifth is tried again.
  CHECK(result.Success() > 0.8);
  CHECK(result.Success() < 1);
}

}  // namespace
}  // namespace weft::hedge_sim
