// What must not happen when servers are in trouble: that extra attempts keep them in it.
#ifndef WEFT_BENCHMARKS_HEDGE_SIM_SCENARIOS_H_
#define WEFT_BENCHMARKS_HEDGE_SIM_SCENARIOS_H_

#include "hedge_sim/runs.h"

namespace weft::hedge_sim {

// Each prints a table with a verdict on its goal.

// 1.6 times the calls for 3 s at 80 % load: how long until latency is as before.
void RunBurst(const RunOptions& options);
// All hosts stand still for 5 s at 70 % load, where calls have a second: how long until nearly all
// succeed, and are as quick as before.
void RunFreeze(const RunOptions& options);
// 30 % of the hosts answer UNAVAILABLE at once: attempts, and what succeeds.
void RunFailingHosts(const RunOptions& options);
// All hosts do so for 5 s.
void RunOutage(const RunOptions& options);

}  // namespace weft::hedge_sim

#endif  // WEFT_BENCHMARKS_HEDGE_SIM_SCENARIOS_H_
