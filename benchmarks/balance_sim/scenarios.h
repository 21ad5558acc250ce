// The situations in which balancers are compared.
#ifndef WEFT_BENCHMARKS_BALANCE_SIM_SCENARIOS_H_
#define WEFT_BENCHMARKS_BALANCE_SIM_SCENARIOS_H_

#include <string>
#include <vector>

#include "balance_sim/model.h"

namespace weft::balance_sim {

struct Scenario {
  std::string key;
  std::string title = {};
  Setup setup = {};
  // Beside the loads of every scenario; for the ramp its own.
  std::vector<double> loads = {0.7, 0.8, 0.9};
  bool is_short = false;  // looked at where nothing is asked for
};

std::vector<Scenario> AllScenarios();

// The ramp's load for calls of so many times the allocation: each server may use three times its
// allocation while its neighbours leave it that, half of the time.
inline constexpr double kLoadByAllocation = 0.5;

}  // namespace weft::balance_sim

#endif  // WEFT_BENCHMARKS_BALANCE_SIM_SCENARIOS_H_
