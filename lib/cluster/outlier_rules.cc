#include "cluster/outlier_rules.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/strings.h"

namespace weft::inline v0::cluster {
namespace {

// Of two hosts nobody can say which is the odd one.
constexpr size_t kLatencyHosts = 3;
constexpr double kChance = 4;

absl::Status Refuse(std::string_view field, std::string_view rule) {
  return absl::InvalidArgumentError(
      absl::StrCat("OutlierOptions::", base::V(field), " must be ", base::V(rule)));
}

bool Between(absl::Duration value, absl::Duration low, absl::Duration high) {
  return value >= low && value <= high;
}

void FindFailurePercentages(const OutlierOptions& options, const std::vector<HostInterval>& hosts,
                            std::vector<OutlierFinding>& found) {
  const int threshold = options.failure_percentage_threshold;
  if (threshold == 0) return;
  for (size_t i = 0; i < hosts.size(); ++i) {
    const uint32_t requests = hosts[i].Requests();
    if (requests < static_cast<uint32_t>(options.failure_percentage_request_volume)) continue;
    const double percent = 100.0 * hosts[i].failures / requests;
    if (percent < threshold) continue;
    found.push_back({i, OutlierRule::kFailurePercentage, percent,
                     absl::StrFormat("%u of %u requests failed (%.0f %%; the limit is %d %%)",
                                     hosts[i].failures, requests, percent, threshold)});
  }
}

void FindSuccessRates(const OutlierOptions& options, const std::vector<HostInterval>& hosts,
                      std::vector<OutlierFinding>& found) {
  if (options.success_rate_stdev_factor == 0) return;
  std::vector<size_t> known;
  double sum = 0;
  double squares = 0;
  const auto rate_of = [&hosts](size_t host) {
    return static_cast<double>(hosts[host].successes) / hosts[host].Requests();
  };
  for (size_t i = 0; i < hosts.size(); ++i) {
    if (hosts[i].Requests() < static_cast<uint32_t>(options.success_rate_request_volume)) continue;
    known.push_back(i);
    sum += rate_of(i);
    squares += rate_of(i) * rate_of(i);
  }
  if (known.size() < static_cast<size_t>(options.success_rate_minimum_hosts)) return;
  const auto others = static_cast<double>(known.size() - 1);
  for (const size_t i : known) {
    const double rate = rate_of(i);
    const double mean = std::min((sum - rate) / others, 1.0);
    const double deviation =
        std::sqrt(std::max((squares - rate * rate) / others - mean * mean, 0.0));
    const double requests = hosts[i].Requests();
    const double expected = requests * (1 - mean);
    const double allowed =
        expected + std::max(options.success_rate_stdev_factor * deviation * requests,
                            kChance * std::sqrt(expected) + kChance);
    const double failed = hosts[i].Requests() - hosts[i].successes;
    if (failed <= allowed) continue;
    found.push_back(
        {i, OutlierRule::kSuccessRate, mean - rate,
         absl::StrFormat("success rate %.1f %% of %.0f requests, of the other %.0f hosts %.1f %% "
                         "(standard deviation %.1f; the limit here is %.1f %%)",
                         100 * rate, requests, others, 100 * mean, 100 * deviation,
                         100 * (1 - allowed / requests))});
  }
}

// Of an even number, the middle between the middle two. Not of none.
double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void FindLatencies(const OutlierOptions& options, const std::vector<HostInterval>& hosts,
                   std::vector<OutlierFinding>& found) {
  const double factor = options.latency_factor;
  if (factor == 0) return;
  std::vector<size_t> known;
  std::vector<double> medians;
  std::vector<double> quartiles;
  for (size_t i = 0; i < hosts.size(); ++i) {
    const LatencyCounts& latency = hosts[i].latency;
    if (latency.Samples() < static_cast<uint64_t>(options.latency_request_volume)) continue;
    known.push_back(i);
    medians.push_back(static_cast<double>(latency.Quantile(0.5).count()));
    quartiles.push_back(static_cast<double>(latency.Quantile(0.25).count()));
  }
  if (known.size() < kLatencyHosts) return;
  const double median = MedianOf(medians);
  const double quartile = MedianOf(quartiles);
  for (size_t k = 0; k < known.size(); ++k) {
    if (medians[k] <= factor * median || quartiles[k] <= factor * quartile) continue;
    found.push_back({known[k], OutlierRule::kLatency, medians[k] / median,
                     absl::StrFormat("median %.3g ms, of the median host %.3g ms", medians[k] / 1e6,
                                     median / 1e6)});
  }
}

}  // namespace

absl::Status Validate(const OutlierOptions& options) {
  const absl::Duration day = absl::Hours(24);
  const absl::Duration tick = absl::Nanoseconds(1);
  const auto volume = [](int value) { return value >= 1 && value <= 1'000'000; };
  if (options.consecutive_failures < 0 || options.consecutive_failures > 1000)
    return Refuse("consecutive_failures", "0 … 1000");
  if (!Between(options.interval, absl::Seconds(1), absl::Hours(1)))
    return Refuse("interval", "1 s … 1 h");
  if (!Between(options.base_ejection_time, tick, day))
    return Refuse("base_ejection_time", "more than nothing, at most a day");
  if (!Between(options.max_ejection_time, options.base_ejection_time, day))
    return Refuse("max_ejection_time", "at least base_ejection_time, at most a day");
  if (!Between(options.max_ejection_time_jitter, absl::ZeroDuration(), absl::Hours(1)))
    return Refuse("max_ejection_time_jitter", "0 … 1 h");
  if (options.max_ejection_percent < 1 || options.max_ejection_percent > 100)
    return Refuse("max_ejection_percent", "1 … 100");
  if (options.success_rate_minimum_hosts < 2 || options.success_rate_minimum_hosts > 1'000'000)
    return Refuse("success_rate_minimum_hosts", "2 … 1,000,000");
  if (!volume(options.success_rate_request_volume))
    return Refuse("success_rate_request_volume", "1 … 1,000,000");
  if (!(options.success_rate_stdev_factor >= 0 && options.success_rate_stdev_factor <= 100))
    return Refuse("success_rate_stdev_factor", "0 … 100");
  if (options.failure_percentage_threshold < 0 || options.failure_percentage_threshold > 100)
    return Refuse("failure_percentage_threshold", "0 … 100");
  if (!volume(options.failure_percentage_request_volume))
    return Refuse("failure_percentage_request_volume", "1 … 1,000,000");
  if (options.latency_factor != 0 &&
      !(options.latency_factor > 1 && options.latency_factor <= 1000))
    return Refuse("latency_factor", "0, or more than 1, at most 1000");
  if (options.latency_intervals < 1 || options.latency_intervals > 1000)
    return Refuse("latency_intervals", "1 … 1000");
  if (!volume(options.latency_request_volume))
    return Refuse("latency_request_volume", "1 … 1,000,000");
  if (options.panic_threshold_percent < 0 || options.panic_threshold_percent > 100)
    return Refuse("panic_threshold_percent", "0 … 100");
  return absl::OkStatus();
}

std::vector<OutlierFinding> FindOutliers(const OutlierOptions& options,
                                         const std::vector<HostInterval>& hosts) {
  std::vector<OutlierFinding> found;
  FindFailurePercentages(options, hosts, found);
  FindSuccessRates(options, hosts, found);
  FindLatencies(options, hosts, found);
  std::stable_sort(found.begin(), found.end(),
                   [](const OutlierFinding& a, const OutlierFinding& b) {
                     return a.rule != b.rule ? a.rule < b.rule : a.severity > b.severity;
                   });
  return found;
}

}  // namespace weft::inline v0::cluster
