// The situations in which balancers are compared.
#ifndef WEFT_BENCHMARKS_BALANCE_SIM_SCENARIOS_H_
#define WEFT_BENCHMARKS_BALANCE_SIM_SCENARIOS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "balance_sim/model.h"

namespace weft::balance_sim {

// What a scenario's table shows.
enum class View : uint8_t {
  kLoads,     // latency at 70, 80 and 90 % load
  kRamp,      // p99 and errors at more loads
  kEjection,  // when the failing server was ejected, and what it cost, at one load
};

struct Scenario {
  std::string key;
  std::string title = {};
  Setup setup = {};
  View view = View::kLoads;
  std::vector<double> loads = {0.7, 0.8, 0.9};
  bool headroom = false;  // it has a goal for that
  bool is_short = false;  // looked at where nothing is asked for
};

std::vector<Scenario> AllScenarios();

// The ramp's load for calls of so many times the allocation: each server may use three times its
// allocation while its neighbours leave it that, half of the time.
inline constexpr double kLoadByAllocation = 0.5;

}  // namespace weft::balance_sim

#endif  // WEFT_BENCHMARKS_BALANCE_SIM_SCENARIOS_H_
