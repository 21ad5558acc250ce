// ReportFields: what was read of a load report so far, in whatever form it came. A host's word is
// not trusted: whoever Set refuses makes the whole report worthless.
#ifndef WEFT_LIB_CLUSTER_REPORT_FIELDS_H_
#define WEFT_LIB_CLUSTER_REPORT_FIELDS_H_

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "weft/load_report.h"

namespace weft::inline v0::cluster {

class ReportFields {
 public:
  enum Field : uint8_t {
    kInFlight,
    kWorkers,
    kServiceTimeMs,
    kLatencyMs,
    kApplicationUtilization,
    kCpuUtilization,
    kQps,
    kEps,
    kOther,  // none of ours
  };

  // Of a metric in ORCA's named_metrics.
  static Field NamedMetric(std::string_view name) {
    constexpr std::string_view kOurs = "weft.";
    if (!name.starts_with(kOurs)) return kOther;
    name.remove_prefix(kOurs.size());
    if (name == "in_flight") return kInFlight;
    if (name == "workers") return kWorkers;
    if (name == "service_time_ms") return kServiceTimeMs;
    if (name == "latency_ms") return kLatencyMs;
    return kOther;
  }

  // False: it is not to be believed, or was there before.
  bool Set(Field field, double value) {
    if (field == kOther) return true;
    const uint32_t bit = 1u << field;
    // Written so that NaN is out of range.
    if ((seen_ & bit) != 0 || !(value >= 0 && value <= kMost[field])) return false;
    seen_ |= bit;
    values_[field] = value;
    return true;
  }

  // Nothing where a host said nothing of use, or how many work but not on how much. What is not
  // whole counts as the busier side.
  std::optional<LoadReport> Finish() const {
    if (seen_ == 0 || (Has(kWorkers) && !Has(kInFlight))) return std::nullopt;
    const Field utilization =
        values_[kApplicationUtilization] > 0 ? kApplicationUtilization : kCpuUtilization;
    return LoadReport{.in_flight = static_cast<uint32_t>(std::ceil(values_[kInFlight])),
                      .workers = static_cast<uint32_t>(values_[kWorkers]),
                      .service_time = Milliseconds(values_[kServiceTimeMs]),
                      .latency = Milliseconds(values_[kLatencyMs]),
                      .utilization = static_cast<float>(values_[utilization]),
                      .qps = static_cast<float>(values_[kQps]),
                      .eps = static_cast<float>(values_[kEps])};
  }

 private:
  // More is absurd: a million requests, a day, a thousand times what there is, a billion a second.
  static constexpr std::array<double, kOther> kMost = {1e6, 1e6, 86.4e6, 86.4e6,
                                                       1e3, 1e3, 1e9,    1e9};

  bool Has(Field field) const { return (seen_ >> field & 1) != 0; }
  static std::chrono::nanoseconds Milliseconds(double ms) {
    return std::chrono::nanoseconds(static_cast<int64_t>(ms * 1e6));
  }

  std::array<double, kOther> values_{};
  uint32_t seen_ = 0;
};

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_REPORT_FIELDS_H_
