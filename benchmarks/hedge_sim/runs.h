// How the tables of this simulation are run.
#ifndef WEFT_BENCHMARKS_HEDGE_SIM_RUNS_H_
#define WEFT_BENCHMARKS_HEDGE_SIM_RUNS_H_

#include "hedge_sim/model.h"
#include "sim/runs.h"

namespace weft::hedge_sim {

using sim::RunAll;
using sim::Spread;

struct RunOptions {
  int seeds = 5;
  int jobs = 1;
  bool quick = false;
  bool drain = false;
  Balancer balancer = Balancer::kOwnInFlight;
  // With hedging: which.
  HedgeOptions hedge = {.when = HedgeOptions::When::kAdaptive};
};

}  // namespace weft::hedge_sim

#endif  // WEFT_BENCHMARKS_HEDGE_SIM_RUNS_H_
