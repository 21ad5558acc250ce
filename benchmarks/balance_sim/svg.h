// A plot of what the number of clients does to each balancer.
#ifndef WEFT_BENCHMARKS_BALANCE_SIM_SVG_H_
#define WEFT_BENCHMARKS_BALANCE_SIM_SVG_H_

#include <string>
#include <vector>

#include "balance_sim/table.h"

namespace weft::balance_sim {

// p99 at 90 % load, by the number of clients of scenario a, a line for each balancer, as an SVG
// document.
std::string PlotByClients(const std::vector<Table>& tables);

}  // namespace weft::balance_sim

#endif  // WEFT_BENCHMARKS_BALANCE_SIM_SVG_H_
