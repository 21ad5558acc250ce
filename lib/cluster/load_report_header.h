// What a host says of its load with an answer, by ORCA (Open Request Cost Aggregation,
// github.com/envoyproxy/envoy/issues/6614; gRFC A51), with four metrics of Weft's own, which
// weft/serving.h sends:
//
//   endpoint-load-metrics: TEXT named_metrics.weft.in_flight=3,named_metrics.weft.workers=4,
//       named_metrics.weft.service_time_ms=9.5,named_metrics.weft.latency_ms=12,
//       application_utilization=0.7,rps_fractional=290,eps=0.1
//   endpoint-load-metrics: BIN <as below>
//   endpoint-load-metrics-bin: <base64 of an xds.data.orca.v3.OrcaLoadReport>
//
// in an answer's headers or, as gRPC's servers do, in its trailers. The JSON form is passed over.
#ifndef WEFT_LIB_CLUSTER_LOAD_REPORT_HEADER_H_
#define WEFT_LIB_CLUSTER_LOAD_REPORT_HEADER_H_

#include <optional>

#include "weft/headers.h"
#include "weft/load_report.h"

namespace weft::inline v0::cluster {

// Of the first of these fields. Nothing where a metric that is read is twice there, no number,
// negative or absurd: a host's word is not trusted. On the path of every answer: where there is no
// such field it costs a comparison of lengths for each field, and a report in text costs no
// allocation.
std::optional<LoadReport> ReportOf(const Headers& fields);

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_LOAD_REPORT_HEADER_H_
