// The balancers that are compared.
#ifndef WEFT_BENCHMARKS_BALANCE_SIM_CONTENDERS_H_
#define WEFT_BENCHMARKS_BALANCE_SIM_CONTENDERS_H_

#include <string>
#include <vector>

#include "balance_sim/model.h"

namespace weft::balance_sim {

struct Contender {
  std::string name;
  BalancerFactory balancer;
  int probes = 0;  // for each call
  bool answers_report = true;
};

// The library's; Prequal also as its paper has it, with three probes for each call, whose reports
// are used for up to 1 s and 100 ms and are all that it knows, and with both kinds of reports; and
// one that knows all that no client can.
std::vector<Contender> AllContenders();

// To the server where the call is done first in the mean, by what every server has in its queue and
// how fast it is now.
BalancerFactory Oracle();

}  // namespace weft::balance_sim

#endif  // WEFT_BENCHMARKS_BALANCE_SIM_CONTENDERS_H_
