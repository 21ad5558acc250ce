// HostInfo: what a channel knows of one of its hosts, for dashboards and people. A plain value.
#ifndef WEFT_HOST_INFO_H_
#define WEFT_HOST_INFO_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "weft/balancer.h"
#include "weft/endpoint.h"
#include "weft/load_report.h"

namespace weft::inline v0 {

struct HostInfo {
  Endpoint endpoint;
  HostState state = HostState::kIdle;
  std::string last_error = {};  // why it could not be reached the last time; empty: it could
  uint32_t in_flight = 0;       // of this process
  absl::Duration latency;       // HostView::latency; zero: never measured
  // As the balancer was told: the endpoint's, less while the host starts slowly; 0: no calls.
  double weight = 0;
  bool ejected = false;  // by OutlierOptions
  std::string why_ejected = {};
  bool fails_checks = false;                             // those of HealthCheckOptions
  LoadReport report = {};                                // what it last said
  absl::Duration report_age = absl::InfiniteDuration();  // infinite: it never has
};

}  // namespace weft::inline v0

#endif  // WEFT_HOST_INFO_H_
