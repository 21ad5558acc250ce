// What FreshLoad() has to be better than, and by how much.
#ifndef WEFT_BENCHMARKS_BALANCE_SIM_GOALS_H_
#define WEFT_BENCHMARKS_BALANCE_SIM_GOALS_H_

#include <vector>

#include "balance_sim/table.h"

namespace weft::balance_sim {

// One line for each goal: what was measured, what it may be, whether that is met. Scenarios that
// were not measured are left out.
void PrintGoals(const std::vector<Table>& tables);

}  // namespace weft::balance_sim

#endif  // WEFT_BENCHMARKS_BALANCE_SIM_GOALS_H_
