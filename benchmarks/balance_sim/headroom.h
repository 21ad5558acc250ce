// Headroom: the highest load with a p99 of no more than so much, and with which runs it is found.
#ifndef WEFT_BENCHMARKS_BALANCE_SIM_HEADROOM_H_
#define WEFT_BENCHMARKS_BALANCE_SIM_HEADROOM_H_

#include <map>
#include <optional>

namespace weft::balance_sim {

using P99ByLoad = std::map<double, double>;

// The load at which p99, known at some loads, comes to `most`; between two of them its logarithm is
// taken for a straight line. 0: below all of them.
double Headroom(const P99ByLoad& known, double most);

// The load at which to measure next for that; none: the two loads on both sides are known.
std::optional<double> NextLoad(const P99ByLoad& known, double most);

}  // namespace weft::balance_sim

#endif  // WEFT_BENCHMARKS_BALANCE_SIM_HEADROOM_H_
