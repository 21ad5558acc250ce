// Outlier ejection: a host that fails, or is far slower than the others, gets no calls for a while.
//
// A host is ejected by what this process's own attempts met at it, in one channel:
//   failures in a row   `consecutive_failures` of them: answers 5xx or UNAVAILABLE, INTERNAL,
//   UNKNOWN
//                       or DATA_LOSS, timeouts, resets, lost connections; at once. Those that end
//                       together, with one connection, are one failure. Apart from these, as many
//                       attempts in a row that did not get a connection.
//   success rate        in an interval, far below that of the other hosts
//   failure percentage  in an interval, whatever the other hosts do
//   latency             for several intervals, far above that of the other hosts (gray failure:
//                       Huang et al., HotOS 2017)
// An answer that says that the host has too much to do (429, RESOURCE_EXHAUSTED) counts for the
// success rate alone: to eject such a host gives the others what it could not do. What the user or
// another attempt cut short, what was refused unprocessed, and what was noticed late because this
// process did not run, is held against nobody.
//
// For the n-th time a host is ejected for base_ejection_time · 2^(n-1), at most max_ejection_time,
// and a random part of max_ejection_time_jitter; n falls by one for each interval that it is not
// ejected. It comes back slowly, and its first failure ejects it again. At most
// max_ejection_percent of the hosts are ejected at a time, but at least one may be where there are
// two or more, and one always stays.
//
// The words are Envoy's (outlier detection; gRFC A50 has the same); where the rules differ from
// theirs it is said.
#ifndef WEFT_OUTLIER_OPTIONS_H_
#define WEFT_OUTLIER_OPTIONS_H_

#include "absl/time/time.h"

namespace weft::inline v0 {

// GetChannel refuses what is out of range with INVALID_ARGUMENT that names the field.
struct OutlierOptions {
  bool enabled = true;

  // 1 … 1000; 0: this rule is off.
  int consecutive_failures = 5;

  // 1 s … 1 h.
  absl::Duration interval = absl::Seconds(10);
  // More than nothing, at most a day; max_ejection_time is no less than base_ejection_time.
  absl::Duration base_ejection_time = absl::Seconds(30);
  absl::Duration max_ejection_time = absl::Seconds(300);
  // So that the clients of a fleet do not all come back at the same moment. 0 … an hour.
  absl::Duration max_ejection_time_jitter = absl::Seconds(5);
  // 1 … 100.
  int max_ejection_percent = 50;

  // Where so many hosts, 2 or more, had so many requests in the interval, 1 or more: a host whose
  // success rate is below the mean of the others by so many of their standard deviations, and by
  // more than chance explains. (Envoy takes the mean and the deviation of all. But among five no
  // host can be 1.9 deviations below a mean that it is part of; and among many that are alike, 3 %
  // are, so that it ejects by chance.) A factor of 0: this rule is off.
  int success_rate_minimum_hosts = 5;
  int success_rate_request_volume = 100;
  double success_rate_stdev_factor = 1.9;

  // A host that had so many requests in the interval, 1 or more, of which so many percent failed,
  // 1 … 100. 0 percent: this rule is off.
  int failure_percentage_threshold = 85;
  int failure_percentage_request_volume = 50;

  // Where three hosts or more had so many requests, 1 or more, in each of so many intervals in a
  // row, 1 … 1000: a host whose answers took so many times as long as the median host's, more than
  // 1, by both median and lower quartile; the quartile, so that a host that happened to get more of
  // the slow requests is no outlier. An attempt that was cut short (a hedge that lost) took at
  // least as long as it ran. A factor of 0: this rule is off.
  double latency_factor = 3;
  int latency_intervals = 3;
  int latency_request_volume = 100;

  // Where fewer than so many percent of the hosts are healthy, 0 … 100, health is ignored and all
  // of them get calls: rather a host that may fail than too much for the others. 0: never.
  int panic_threshold_percent = 50;
};

}  // namespace weft::inline v0

#endif  // WEFT_OUTLIER_OPTIONS_H_
