// LoadReport: what a host says of its own load, with an answer (ORCA's `endpoint-load-metrics`, see
// weft/serving.h for what a server sends). A plain value. What a host did not say is zero; what it
// said is checked for sense (no NaN, nothing negative or absurd), but not for truth.
#ifndef WEFT_LOAD_REPORT_H_
#define WEFT_LOAD_REPORT_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace weft::inline v0 {

struct LoadReport {
  uint32_t in_flight = 0;  // requests that it works on or keeps waiting, everybody's
  uint32_t workers = 0;    // how many it works on at a time
  // How long it works on a request, in the mean of the last ones, waiting not included.
  std::chrono::nanoseconds service_time{0};
  // How long requests took lately that came when about as many were in flight, waiting included.
  std::chrono::nanoseconds latency{0};
  float utilization = 0;  // ORCA's application_utilization, or else cpu_utilization; may be above 1
  float qps = 0;          // rps_fractional: requests a second, everybody's
  float eps = 0;          // of which are errors

  // The share of its workers that have work, 0 … 1; 0 where it did not say.
  double Busy() const {
    return workers == 0 ? 0 : static_cast<double>(std::min(in_flight, workers)) / workers;
  }
  // Whether it tells how many are in flight: a report may be of utilization alone, and zero is then
  // no number. A host that says how many workers it has tells it always.
  bool TellsInFlight() const { return workers > 0 || in_flight > 0; }
  // Whether one more would be worked on at once.
  bool HasRoom() const { return workers > 0 && in_flight < workers; }
  bool operator==(const LoadReport&) const = default;
};

}  // namespace weft::inline v0

#endif  // WEFT_LOAD_REPORT_H_
