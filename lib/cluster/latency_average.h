// LatencyAverage: peak EWMA of what attempts at one host take (Finagle's, after Cox's "load
// balancing by latency"): quick to see a host slow down, slow to believe that it has recovered.
//
//   a sample s at t, when the average was a at t0:   w = e^(-(t - t0) / 10 s)
//     s > a w   the average becomes s
//     else      it becomes a w + s (1 - w)
//   read at t:  a w
#ifndef WEFT_LIB_CLUSTER_LATENCY_AVERAGE_H_
#define WEFT_LIB_CLUSTER_LATENCY_AVERAGE_H_

#include <atomic>
#include <cstdint>

#include "base/time.h"

namespace weft::inline v0::cluster {

// Thread-safe, without locks: average and time are one word, the average to seven digits, the time
// in ticks of about a millisecond. Of samples within a tick only those above the average count.
class LatencyAverage {
 public:
  static constexpr base::MonoDuration kTimeConstant = std::chrono::seconds(10);
  static constexpr base::MonoDuration kMaxFailure = std::chrono::seconds(30);
  static constexpr base::MonoDuration kOnlyFailed = std::chrono::seconds(15);

  void Add(base::MonoDuration took, base::MonoTime now);
  // What was given up after so long would have taken longer: it only ever raises the average.
  void AddAtLeast(base::MonoDuration took, base::MonoTime now);
  // What failed took at least so long; where nothing was ever measured, kOnlyFailed, as of a host
  // that may never have done anything but fail its speed says nothing. Where the one before failed
  // too (`again`), it counts as twice the average, up to 30 s, or a host that fails fast would draw
  // all calls. Not the first time: of hosts that all fail one call in a hundred, each would be at
  // 30 s in a minute.
  void AddFailure(base::MonoDuration took, bool again, base::MonoTime now);
  // Zero: there was no sample.
  base::MonoDuration Get(base::MonoTime now) const;

 private:
  // The average in ns as a float in the upper half; 0: none.
  std::atomic<uint64_t> state_{0};
};

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_LATENCY_AVERAGE_H_
