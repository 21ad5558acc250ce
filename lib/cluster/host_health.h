// HostHealth: what the attempts of one cluster met at one host. The end of every attempt writes it;
// the cluster's outlier detector reads it.
//
//               failures in a row   success rate,        latency
//                                   failure percentage
//   kSuccess    none any more       a success            as long as it took
//   kError      one more            a failure            -
//   kOverloaded as before           for the first alone  -
//   kTimeout    one more            a failure            at least that long
//   kLost       one more, once      a failure, once      -
//   kNotConnected  one more of      -                    -
//               their own, once
//   kCensored   as before           -                    at least that long
//   kUnprocessed as before          -                    -
//
// Once: a connection ends with all that is on it, and a dial with all that waits for it; what ends
// like that within 10 ms is one failure. Were it not, a server that is restarted with five calls
// running would be ejected.
//
// While the host is being tried (Return), any failure trips at once, until it has proven itself by
// a few successes. What was started before does not count then: it was sent to the host that was
// ejected.
#ifndef WEFT_LIB_CLUSTER_HOST_HEALTH_H_
#define WEFT_LIB_CLUSTER_HOST_HEALTH_H_

#include <atomic>
#include <cstdint>

#include "base/time.h"
#include "cluster/latency_histogram.h"
#include "cluster/outcome.h"

namespace weft::inline v0::cluster {

// What was counted in an interval. A value.
struct HostInterval {
  uint32_t successes = 0;
  uint32_t failures = 0;  // the peer's
  uint32_t overloaded = 0;
  LatencyCounts latency;

  uint32_t Requests() const { return successes + failures + overloaded; }
};

// Thread-safe and lock-free. A success costs two atomic additions to memory of this host.
class HostHealth {
 public:
  static constexpr base::MonoDuration kOnce = std::chrono::milliseconds(10);

  // `limit`: so many failures in a row trip; 0: none do, but for those of a trial.
  explicit HostHealth(int limit) : limit_(static_cast<uint32_t>(limit)) {}
  HostHealth(const HostHealth&) = delete;
  HostHealth& operator=(const HostHealth&) = delete;

  // An attempt ended. True: the rule of failures in a row has just tripped, and the owner tells its
  // detector.
  [[nodiscard]] bool Add(const Outcome& outcome, base::MonoTime now);

  // The detector's, one thread at a time
  // ------------------------------------------------------------------------------------------------
  // What was counted since the last time.
  HostInterval Take();
  // Begins anew, on trial for as many successes.
  void Return(base::MonoTime now, int successes);
  bool on_trial() const { return trial_.load(std::memory_order_relaxed) > 0; }
  // Whether the rule of failures in a row holds at present.
  bool tripped() const {
    const uint32_t limit = on_trial() ? 1 : limit_;
    return limit > 0 && (failures_in_row() >= limit || not_connected_in_row() >= limit);
  }

  // For people.
  uint32_t failures_in_row() const { return failures_in_row_.load(std::memory_order_relaxed); }
  uint32_t not_connected_in_row() const {
    return not_connected_in_row_.load(std::memory_order_relaxed);
  }
  Outcome::Kind last_failure() const { return last_failure_.load(std::memory_order_relaxed); }

 private:
  void AddSuccess(const Outcome& outcome, base::MonoTime now);
  bool AddFailure(Outcome::Kind kind, std::atomic<uint32_t>& in_row);
  // Whether it was started before the host returned.
  bool IsOld(const Outcome& outcome, base::MonoTime now) const {
    return now - outcome.took < returned_at_.load(std::memory_order_relaxed);
  }
  // Whether another end like this one was counted a moment ago.
  bool Counted(std::atomic<base::MonoTime>& last, base::MonoTime now);

  const uint32_t limit_;
  alignas(64) std::atomic<uint32_t> successes_{0};
  std::atomic<uint32_t> failures_in_row_{0};
  std::atomic<uint32_t> not_connected_in_row_{0};
  std::atomic<int32_t> trial_{0};  // successes that are still wanted
  std::atomic<base::MonoTime> returned_at_{base::MonoTime::min()};

  std::atomic<uint32_t> failures_{0};
  std::atomic<uint32_t> overloaded_{0};
  std::atomic<Outcome::Kind> last_failure_{Outcome::Kind::kSuccess};
  std::atomic<base::MonoTime> lost_at_{base::MonoTime::min()};
  std::atomic<base::MonoTime> not_connected_at_{base::MonoTime::min()};
  LatencyHistogram latency_;
};

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_HOST_HEALTH_H_
