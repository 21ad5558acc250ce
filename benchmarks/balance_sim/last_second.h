// LastSecond: how many requests a server did in the last second, and how much CPU time that took,
// for what it reports to weighted round robin. Kept by tenths of a second; the one that runs is
// left out.
#ifndef WEFT_BENCHMARKS_BALANCE_SIM_LAST_SECOND_H_
#define WEFT_BENCHMARKS_BALANCE_SIM_LAST_SECOND_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "balance_sim/event_queue.h"

namespace weft::balance_sim {

class LastSecond {
 public:
  struct Sum {
    uint32_t done = 0;
    double cpu = 0;  // ns
  };

  void Add(double cpu, Nanos now) {
    const Nanos number = now / kTenth;
    Tenth& tenth = tenths_[static_cast<size_t>(number) % tenths_.size()];
    if (tenth.number != number) tenth = {.number = number};
    ++tenth.sum.done;
    tenth.sum.cpu += cpu;
  }
  Sum Get(Nanos now) const {
    const Nanos number = now / kTenth;
    Sum sum;
    for (const Tenth& tenth : tenths_) {
      if (tenth.number >= number || tenth.number < number - 10) continue;
      sum.done += tenth.sum.done;
      sum.cpu += tenth.sum.cpu;
    }
    return sum;
  }

 private:
  static constexpr Nanos kTenth = kSecond / 10;
  struct Tenth {
    Nanos number = -1;
    Sum sum = {};
  };
  std::array<Tenth, 11> tenths_;
};

}  // namespace weft::balance_sim

#endif  // WEFT_BENCHMARKS_BALANCE_SIM_LAST_SECOND_H_
