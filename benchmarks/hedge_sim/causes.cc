#include "hedge_sim/causes.h"

#include <cmath>
#include <cstdio>

namespace weft::hedge_sim {
namespace {

constexpr double kTargets[kCauses][kLoads.size()] = {
    {1.03, 1.04, 1.05, 1.05}, {0.55, 0.60, 0.75, 1.03}, {0.50, 0.50, 0.65, 1.00},
    {0.92, 0.95, 1.00, 1.05}, {0.55, 0.65, 0.70, 0.90}, {1.03, 1.04, 1.05, 1.05},
};

// The nearest of the loads that have targets.
size_t LoadIndex(double load) {
  size_t best = 0;
  for (size_t i = 1; i < kLoads.size(); ++i) {
    if (std::abs(kLoads[i] - load) < std::abs(kLoads[best] - load)) best = i;
  }
  return best;
}

void Add(const Result& result, Quantiles* quantiles) {
  quantiles->p50.Add(result.Quantile(0.5));
  quantiles->p99.Add(result.Quantile(0.99));
  quantiles->p999.Add(result.Quantile(0.999));
}

double Last(const Spread& with, const Spread& without) { return with.last() / without.last(); }

void Append(std::string* to, const char* what) {
  if (!to->empty()) *to += ", ";
  *to += what;
}

}  // namespace

double Cell::Target() const { return kTargets[static_cast<size_t>(cause)][LoadIndex(load)]; }

std::string Cell::Missed() const {
  std::string missed;
  if (p999_ratio.mean() > Target()) Append(&missed, "p99.9");
  if (load >= 0.95 && p50_ratio.mean() > 1.15) Append(&missed, "p50");
  const bool useless = cause == Cause::kNone || cause == Cause::kSlowRequests;
  if (load >= 0.95 && attempts.mean() > 1.005) Append(&missed, "attempts");
  if (useless && load <= 0.7 && attempts.mean() > 1.01) Append(&missed, "attempts");
  return missed;
}

std::vector<Cell> MeasureCauses(const RunOptions& options, std::optional<Cause> cause,
                                std::optional<double> load) {
  std::vector<Cell> cells;
  std::vector<Setup> setups;
  for (size_t i = 0; i < kCauses; ++i) {
    for (const double each : kLoads) {
      if (cause.has_value() && *cause != static_cast<Cause>(i)) continue;
      if (load.has_value() && LoadIndex(*load) != LoadIndex(each)) continue;
      Cell cell;
      cell.cause = static_cast<Cause>(i);
      cell.load = load.value_or(each);
      cells.push_back(cell);
      for (int seed = 1; seed <= options.seeds; ++seed) {
        Setup setup = {.cause = cell.cause, .load = cell.load};
        setup.seed = static_cast<uint64_t>(seed);
        setup.drain = options.drain;
        setup.balancer = options.balancer;
        if (options.quick) {
          setup.from = 15 * kSecond;
          setup.until = 25 * kSecond;
        }
        setups.push_back(setup);
        setup.hedge = options.hedge;
        setups.push_back(setup);
      }
    }
  }
  const size_t runs = static_cast<size_t>(options.seeds) * 2;
  RunAll(setups, options.jobs, [&](size_t index, const Result& result) {
    Cell& cell = cells[index / runs];
    if (index % 2 == 0) return Add(result, &cell.without);
    Add(result, &cell.with);
    cell.p50_ratio.Add(Last(cell.with.p50, cell.without.p50));
    cell.p999_ratio.Add(Last(cell.with.p999, cell.without.p999));
    cell.attempts.Add(result.AttemptsPerCall());
    cell.hedges_won.Add(result.HedgesWon());
    cell.extra_work.Add(result.ExtraWork());
  });
  return cells;
}

void PrintHeading() {
  std::printf(
      "           without, ms           with hedging, ms      p99.9              p50    attempts  "
      "hedges  extra\n"
      "     load  p50    p99    p99.9   p50    p99    p99.9   ratio        goal  ratio  per call  "
      "won     work\n");
}

void Print(const Cell& cell, bool judge) {
  const std::string missed = cell.Missed();
  const char* verdict = !judge ? "" : missed.empty() ? "ok" : "MISSED: ";
  std::printf(
      "%s  %4.0f%%  %5.1f  %5.1f  %6.1f  %5.1f  %5.1f  %6.1f  %5.3f ±%5.3f %5.2f  %5.3f  %8.4f  "
      "%5.1f%%  %4.1f%%  %s%s\n",
      kCauseNames[static_cast<size_t>(cell.cause)].data(), cell.load * 100, cell.without.p50.mean(),
      cell.without.p99.mean(), cell.without.p999.mean(), cell.with.p50.mean(), cell.with.p99.mean(),
      cell.with.p999.mean(), cell.p999_ratio.mean(), cell.p999_ratio.deviation(), cell.Target(),
      cell.p50_ratio.mean(), cell.attempts.mean(), cell.hedges_won.mean() * 100,
      cell.extra_work.mean() * 100, verdict, judge ? missed.c_str() : "");
}

}  // namespace weft::hedge_sim
