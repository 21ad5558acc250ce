// What a host says of its load with an answer: ORCA's header `endpoint-load-metrics` in its text
// form (Open Request Cost Aggregation, github.com/envoyproxy/envoy/issues/6614), with two metrics
// of Weft's own:
//
//   endpoint-load-metrics: TEXT named_metrics.weft.in_flight=3, named_metrics.weft.workers=4
//
// Other metrics are passed over: none of them tells whether one more request would be worked on at
// once. So are the JSON form and the binary trailer.
#ifndef WEFT_LIB_CLUSTER_LOAD_REPORT_HEADER_H_
#define WEFT_LIB_CLUSTER_LOAD_REPORT_HEADER_H_

#include <optional>

#include "weft/headers.h"
#include "weft/load_report.h"

namespace weft::inline v0::cluster {

// Nothing where `in_flight` is missing or a metric of Weft's is twice there, not a number, negative
// or above a million: a host's word is not trusted. What is not whole counts as the busier side.
std::optional<LoadReport> ReportOf(const Headers& headers);

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_LOAD_REPORT_HEADER_H_
