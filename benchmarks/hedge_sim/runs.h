// Runs of a simulation side by side, and what is kept of each.
#ifndef WEFT_BENCHMARKS_HEDGE_SIM_RUNS_H_
#define WEFT_BENCHMARKS_HEDGE_SIM_RUNS_H_

#include <functional>
#include <vector>

#include "hedge_sim/model.h"

namespace weft::hedge_sim {

struct RunOptions {
  int seeds = 5;
  int jobs = 1;
  bool quick = false;
  bool drain = false;
  Balancer balancer = Balancer::kOwnInFlight;
  // With hedging: which.
  HedgeOptions hedge = {.when = HedgeOptions::When::kAdaptive};
};

// `each` gets the results in the order of the setups, whatever the order in which they end.
void RunAll(const std::vector<Setup>& setups, int jobs,
            const std::function<void(size_t index, const Result& result)>& each);

// Of one number, over seeds.
class Spread {
 public:
  void Add(double value) { values_.push_back(value); }
  double mean() const;
  double deviation() const;  // 0 where there are less than two
  double last() const { return values_.back(); }

 private:
  std::vector<double> values_;
};

}  // namespace weft::hedge_sim

#endif  // WEFT_BENCHMARKS_HEDGE_SIM_RUNS_H_
