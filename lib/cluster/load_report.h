// LoadReport: what a host last said of its own load, kept where every call can read it.
#ifndef WEFT_LIB_CLUSTER_LOAD_REPORT_H_
#define WEFT_LIB_CLUSTER_LOAD_REPORT_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace weft::inline v0::cluster {

struct LoadReport {
  uint32_t in_flight = 0;  // requests that it works on or keeps waiting
  uint32_t workers = 0;    // how many it works on at a time; 0: it did not say

  // Whether one more would be worked on at once.
  bool HasRoom() const { return workers > 0 && in_flight < workers; }
  // From 0 to 1.
  double Utilisation() const {
    return workers == 0 ? 0 : static_cast<double>(std::min(in_flight, workers)) / workers;
  }
};

// Thread-safe. A reader may see the time of one report with the load of another that came at the
// same moment.
class LastReport {
 public:
  void Set(LoadReport report, base::MonoTime now) {
    load_.store(uint64_t{report.in_flight} << 32 | report.workers, std::memory_order_relaxed);
    at_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  }
  // Nothing where there is none of `max_age` or younger.
  std::optional<LoadReport> Get(base::MonoTime now, base::MonoDuration max_age) const {
    const int64_t at = at_.load(std::memory_order_relaxed);
    if (at == kNone || now.time_since_epoch().count() - at > max_age.count()) return std::nullopt;
    const uint64_t load = load_.load(std::memory_order_relaxed);
    return LoadReport{static_cast<uint32_t>(load >> 32), static_cast<uint32_t>(load)};
  }

 private:
  static constexpr int64_t kNone = INT64_MIN;
  std::atomic<uint64_t> load_{0};
  std::atomic<int64_t> at_{kNone};
};

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_LOAD_REPORT_H_
