// SlowPenalty: what keeps a balancer that goes by reports away from a sinkhole. A host that fails
// each call at once always looks idle and fast, and whoever prefers such reports is drawn to it.
// HostView::latency counts what failed as slow, so there it shows:
//
//   usual   = 4 * what hosts say that requests take there + 2 * latency of a host drawn at random
//   penalty = max(1, latency / usual)                       (medians, both)
//
// Both are such that a sinkhole that reports more often than all others cannot make itself usual:
// it says that requests take no time, which only makes it look worse, and it is drawn no more often
// than others. The penalty wears off as the latency decays (time constant 10 s), and then the host
// is tried again.
#ifndef WEFT_LIB_BALANCE_SLOW_PENALTY_H_
#define WEFT_LIB_BALANCE_SLOW_PENALTY_H_

#include <algorithm>

#include "balance/running_median.h"
#include "weft/balancer.h"

namespace weft::inline v0::balance {

// Thread-safe without locks.
class SlowPenalty {
 public:
  // A host has just said this; and another, drawn at random.
  void Learn(const LoadReport& report, const HostView& other, MonoTime now) {
    const auto took = std::max(report.latency, report.service_time);
    reported_.Add(static_cast<float>(took.count()));
    measured_.Add(static_cast<float>(other.latency(now).count()));
  }
  // 1: none; nor where hosts do not say how long requests take.
  float Of(const HostView& host, MonoTime now) const {
    const float reported = reported_.get();
    if (reported == 0) return 1;
    const float usual = 4 * reported + 2 * measured_.get();
    return std::max(1.0F, static_cast<float>(host.latency(now).count()) / usual);
  }

 private:
  RunningMedian reported_;
  RunningMedian measured_;
};

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_SLOW_PENALTY_H_
