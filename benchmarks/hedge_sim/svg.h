// A plot of the table of causes.
#ifndef WEFT_BENCHMARKS_HEDGE_SIM_SVG_H_
#define WEFT_BENCHMARKS_HEDGE_SIM_SVG_H_

#include <string>
#include <vector>

#include "hedge_sim/causes.h"

namespace weft::hedge_sim {

// p99.9 with hedging by p99.9 without it, by load, a line for each cause, as an SVG document.
std::string PlotRatios(const std::vector<Cell>& cells);

}  // namespace weft::hedge_sim

#endif  // WEFT_BENCHMARKS_HEDGE_SIM_SVG_H_
