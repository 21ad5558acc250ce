// The outlier rules that look at all hosts of an interval (weft/outlier_options.h says what they
// are for). Pure: numbers in, findings out.
//
// Success rate, of a host with n requests of which f failed (429 and RESOURCE_EXHAUSTED included);
// m and d are the mean and the standard deviation of the other hosts' success rates:
//
//   expected = n (1 - m)       what it would have failed, were it as they are
//   found where f > expected + max(1.9 d n, 4 sqrt(expected) + 4)
//
// The second term is what chance may do: of hosts that are all alike and fail by Poisson's law, no
// more than two in a hundred thousand fail that often. Envoy's rule has the first term alone, with
// the mean and deviation of all hosts: of ten hosts that all fail one of a hundred requests, two
// hundred requests each, it ejects one in 24 in each interval.
//
// Failure percentage: f n^-1 >= 85 %, without 429 and RESOURCE_EXHAUSTED: where all hosts have too
// much to do, fewer would have still more.
//
// Latency: median and lower quartile of the host > 3 × the median host's. Said once for each
// interval; the detector counts them.
#ifndef WEFT_LIB_CLUSTER_OUTLIER_RULES_H_
#define WEFT_LIB_CLUSTER_OUTLIER_RULES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cluster/host_health.h"
#include "weft/outlier_options.h"

namespace weft::inline v0::cluster {

// INVALID_ARGUMENT names the field that is out of range.
absl::Status Validate(const OutlierOptions& options);

enum class OutlierRule : uint8_t {
  kConsecutive,
  kTrial,  // the first failure of a host that returned
  kFailurePercentage,
  kSuccessRate,
  kLatency,
};
inline constexpr size_t kOutlierRules = 5;

struct OutlierFinding {
  size_t host = 0;  // index
  OutlierRule rule{};
  double severity = 0;   // of the same rule, the higher the worse
  std::string why = {};  // the figures, for people
};

// The outliers of an interval, `hosts` being those that are not ejected: failure percentage, then
// success rate, then latency, and of each the worst first. A host may be found more than once.
std::vector<OutlierFinding> FindOutliers(const OutlierOptions& options,
                                         const std::vector<HostInterval>& hosts);

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_OUTLIER_RULES_H_
