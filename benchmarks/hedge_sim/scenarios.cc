#include "hedge_sim/scenarios.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

namespace weft::hedge_sim {
namespace {

using Sample = Result::Sample;

// When the trouble begins, seconds.
constexpr double kBegin = 70;
constexpr double kEnd = 100;

struct Way {
  const char* name;
  bool hedging = false;
  bool drain = false;
  bool separate_budgets = false;
};

std::vector<Setup> SetupsOf(const Way& way, Setup setup, const RunOptions& options) {
  setup.drain = way.drain;
  setup.separate_budgets = way.separate_budgets;
  setup.balancer = options.balancer;
  if (way.hedging) setup.hedge = options.hedge;
  std::vector<Setup> setups;
  for (int seed = 1; seed <= options.seeds; ++seed) {
    setup.seed = static_cast<uint64_t>(seed);
    setups.push_back(setup);
  }
  return setups;
}

template <typename Wanted>
std::vector<Sample> Select(const Result& result, double from, double until, Wanted wanted) {
  std::vector<Sample> samples;
  for (const Sample& sample : result.samples) {
    const auto arrived = static_cast<double>(sample.arrived);
    if (arrived >= from && arrived < until && wanted(sample)) samples.push_back(sample);
  }
  return samples;
}

std::vector<Sample> Between(const Result& result, double from, double until) {
  return Select(result, from, until, [](const Sample&) { return true; });
}

double P95(std::vector<Sample> samples) {
  Result result;
  result.samples = std::move(samples);
  return result.Quantile(0.95);
}

double Success(const std::vector<Sample>& samples) {
  const auto good =
      std::count_if(samples.begin(), samples.end(), [](const Sample& sample) { return sample.ok; });
  return static_cast<double>(good) / static_cast<double>(std::max<size_t>(samples.size(), 1));
}

double Attempts(const std::vector<Sample>& samples) {
  double attempts = 0;
  for (const Sample& sample : samples) attempts += sample.attempts;
  return attempts / static_cast<double>(std::max<size_t>(samples.size(), 1));
}

double LimitOf(const Result& quiet) { return 1.5 * P95(Between(quiet, kBegin - 10, kBegin)); }

// From `end` on, until for a second each quarter of it has 99.5 % successes and a p95 within the
// limit. Seconds.
double Recovery(const Result& result, double limit, double end) {
  constexpr double kQuarter = 0.25;
  double recovered = end;
  for (double at = end; at < kEnd; at += kQuarter) {
    const std::vector<Sample> samples = Between(result, at, at + kQuarter);
    if (Success(samples) < 0.995 || P95(samples) > limit) recovered = at + kQuarter;
    if (at + kQuarter - recovered >= 1) break;
  }
  return recovered - end;
}

const char* Verdict(bool met) { return met ? "ok" : "MISSED"; }

// With hedging it may take 1.15 times as long as without, until latency is what it was without.
void RunRecovery(const char* title, const Setup& setup, double end, const RunOptions& options) {
  std::printf("\n%s\n%-28s%-16s%-8s%-12s%s\n", title, "", "recovered in s", "ratio", "success",
              "attempts per call");
  // By seed.
  std::vector<double> limits;
  for (const bool drain : {false, true}) {
    double none = 0;
    for (const bool hedging : {false, true}) {
      Spread recovery;
      Spread success;
      Spread attempts;
      const Way way = {"", hedging, drain};
      RunAll(SetupsOf(way, setup, options), options.jobs, [&](size_t index, const Result& result) {
        if (index == limits.size()) limits.push_back(LimitOf(result));
        recovery.Add(Recovery(result, limits[index], end));
        success.Add(result.Success());
        attempts.Add(result.AttemptsPerCall());
      });
      if (!hedging) none = recovery.mean();
      const double ratio = recovery.mean() / none;
      const std::string name =
          std::string(hedging ? "hedging, " : "no hedging, ") + (drain ? "draining" : "resets");
      std::printf("%-28s%5.2f ± %-8.2f%-8.2f%-12.4f%-10.4f%s\n", name.c_str(), recovery.mean(),
                  recovery.deviation(), ratio, success.mean(), attempts.mean(),
                  hedging ? Verdict(ratio <= 1.15) : "");
    }
  }
}

Setup Troubled(double load) {
  Setup setup = {.load = load};
  setup.retry.retryable = {absl::StatusCode::kUnavailable};
  return setup;
}

}  // namespace

void RunBurst(const RunOptions& options) {
  Setup setup = Troubled(0.8);
  setup.cause = Cause::kSlowAttempts;
  setup.burst = {1.6, 70 * kSecond, 73 * kSecond};
  RunRecovery("1.6 times the calls for 3 s at 80 %, T1", setup, 73, options);
}

void RunFreeze(const RunOptions& options) {
  Setup setup = Troubled(0.7);
  setup.timeout = kSecond;
  setup.frozen = {70 * kSecond, 75 * kSecond};
  RunRecovery("all hosts stand still for 5 s at 70 %, calls have 1 s", setup, 75, options);
}

void RunFailingHosts(const RunOptions& options) {
  std::printf("\n30 %% of the hosts fail at once, load 50 %%, T1, no reserve of retries\n");
  std::printf("%-28s%-20s%-20s%s\n", "", "attempts per call", "success", "hedges per call");
  Setup setup = Troubled(0.5);
  setup.cause = Cause::kSlowAttempts;
  setup.retry.budget_reserve_per_second = 0;
  setup.failing = {kHosts * 3 / 10, 30 * kSecond, setup.until};
  RunOptions changed = options;
  changed.hedge.max_attempts = 3;
  double separate = 0;
  for (const Way& way : {Way{"no hedging"}, Way{"hedging, separate budgets", true, false, true},
                         Way{"hedging, one budget", true}}) {
    Spread attempts;
    Spread success;
    Spread hedges;
    RunAll(SetupsOf(way, setup, changed), options.jobs, [&](size_t, const Result& result) {
      attempts.Add(result.AttemptsPerCall());
      success.Add(result.Success());
      hedges.Add(static_cast<double>(result.hedges) / static_cast<double>(result.calls));
    });
    if (way.separate_budgets) separate = success.mean();
    const bool bounded = way.hedging && !way.separate_budgets;
    // A seed's own spread is more than the difference between equals.
    const bool good = attempts.mean() <= 1.2 && success.mean() >= separate - success.deviation();
    std::printf("%-28s%6.4f ± %-11.4f%6.4f ± %-11.4f%-10.4f%s\n", way.name, attempts.mean(),
                attempts.deviation(), success.mean(), success.deviation(), hedges.mean(),
                bounded ? Verdict(good) : "");
  }
}

void RunOutage(const RunOptions& options) {
  std::printf("\nall hosts fail at once for 5 s at 70 %%, T1, a reserve of 10 retries a second\n");
  std::printf("%-28s%-24s%-24s%s\n", "", "attempts in outage", "and in the 10 s after",
              "recovered in s");
  Setup setup = Troubled(0.7);
  setup.cause = Cause::kSlowAttempts;
  setup.failing = {kHosts, 70 * kSecond, 75 * kSecond};
  // Calls of a client in 10 s, to which the reserve adds.
  const double calls = setup.load * kHosts * kWorkers / 0.012 / kClients * 10;
  std::vector<double> limits;
  for (const Way& way : {Way{"no hedging"}, Way{"hedging", true}}) {
    Spread during;
    Spread after;
    Spread recovery;
    RunAll(SetupsOf(way, setup, options), options.jobs, [&](size_t index, const Result& result) {
      if (index == limits.size()) limits.push_back(LimitOf(result));
      during.Add(Attempts(Between(result, 70, 75)));
      after.Add(Attempts(Between(result, 75, 85)));
      recovery.Add(Recovery(result, limits[index], 75));
    });
    // The outage may spend what was saved up in the ten seconds before.
    const bool good = during.mean() <= 1 + (0.2 * calls * 1.5 + 100) / (calls / 2) &&
                      after.mean() <= 1.2 + 100 / calls && recovery.mean() <= 1;
    std::printf("%-28s%6.4f ± %-15.4f%6.4f ± %-15.4f%5.2f ± %-8.2f%s\n", way.name, during.mean(),
                during.deviation(), after.mean(), after.deviation(), recovery.mean(),
                recovery.deviation(), Verdict(good));
  }
}

}  // namespace weft::hedge_sim
