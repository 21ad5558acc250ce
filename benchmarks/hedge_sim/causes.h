// The table of causes and loads: latency with hedging beside latency without it.
#ifndef WEFT_BENCHMARKS_HEDGE_SIM_CAUSES_H_
#define WEFT_BENCHMARKS_HEDGE_SIM_CAUSES_H_

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "hedge_sim/model.h"
#include "hedge_sim/runs.h"

namespace weft::hedge_sim {

inline constexpr std::array<double, 4> kLoads = {0.5, 0.7, 0.85, 0.95};

// Milliseconds.
struct Quantiles {
  Spread p50;
  Spread p99;
  Spread p999;
};

struct Cell {
  Cause cause = Cause::kNone;
  double load = 0;
  Quantiles without;
  Quantiles with;
  // With hedging by without, seed by seed.
  Spread p50_ratio;
  Spread p999_ratio;
  Spread attempts;    // per call
  Spread hedges_won;  // of hedges
  Spread extra_work;  // of the work that was of use

  // What p999_ratio may be at most.
  double Target() const;
  // Which targets it misses, in words; empty where it meets all.
  std::string Missed() const;
};

// All causes, or one; all loads, or one.
std::vector<Cell> MeasureCauses(const RunOptions& options, std::optional<Cause> cause,
                                std::optional<double> load);
void PrintHeading();
// With a verdict, if it is to be judged by the goals.
void Print(const Cell& cell, bool judge);

}  // namespace weft::hedge_sim

#endif  // WEFT_BENCHMARKS_HEDGE_SIM_CAUSES_H_
