// What load reports cost: made by the server, and read by the client, with every answer.
#include <benchmark/benchmark.h>

#include "cluster/load_report_header.h"
#include "weft/headers.h"
#include "weft/serving.h"

namespace weft {
namespace {

void ReadReport(benchmark::State& state, const Headers& fields, bool there) {
  if (cluster::ReportOf(fields).has_value() != there) state.SkipWithError("not read as expected");
  for (auto _ : state) benchmark::DoNotOptimize(cluster::ReportOf(fields));
}

constexpr char kFour[] =
    "TEXT named_metrics.weft.in_flight=3,named_metrics.weft.workers=4,"
    "named_metrics.weft.service_time_ms=9.512,named_metrics.weft.latency_ms=12.25";
constexpr char kAll[] =
    "TEXT named_metrics.weft.in_flight=3,named_metrics.weft.workers=4,"
    "named_metrics.weft.service_time_ms=9.512,named_metrics.weft.latency_ms=12.25,"
    "application_utilization=0.712,rps_fractional=291.5,eps=0.125";
// The same four.
constexpr char kFourBinary[] =
    "QhkKDndlZnQuaW5fZmxpZ2h0EQAAAAAAAAhAQhcKDHdlZnQud29ya2VycxEAAAAAAAAQQEIfChR3ZWZ0LnNlcnZpY2Vf"
    "dGltZV9tcxGgGi/dJAYjQEIaCg93ZWZ0LmxhdGVuY3lfbXMRAAAAAACAKEA=";

BENCHMARK_CAPTURE(ReadReport, None,
                  Headers{{"content-type", "application/grpc"},
                          {"date", "Sun, 06 Nov 1994 08:49:37 GMT"},
                          {"server", "lean"},
                          {"x-request-id", "0123456789abcdef"}},
                  false);
BENCHMARK_CAPTURE(ReadReport, TextOfFour, Headers{{"endpoint-load-metrics", kFour}}, true);
BENCHMARK_CAPTURE(ReadReport, TextOfAll, Headers{{"endpoint-load-metrics", kAll}}, true);
BENCHMARK_CAPTURE(ReadReport, BinaryOfFour, Headers{{"endpoint-load-metrics-bin", kFourBinary}},
                  true);

// With the system's clock.
void ServeRequest(benchmark::State& state) {
  static ServingLoad load({.workers = 4});
  for (auto _ : state) {
    ServingRequest request = load.Begin("100");
    request.End(true);
  }
}
BENCHMARK(ServeRequest)->Threads(1)->Threads(2);

void WriteText(benchmark::State& state) {
  ServingLoad load({.workers = 4});
  load.Begin().End(true);
  for (auto _ : state) benchmark::DoNotOptimize(load.Report());
}
BENCHMARK(WriteText);

void WriteBinary(benchmark::State& state) {
  ServingLoad load({.workers = 4});
  load.Begin().End(true);
  for (auto _ : state) benchmark::DoNotOptimize(load.ReportBinary());
}
BENCHMARK(WriteBinary);

}  // namespace
}  // namespace weft

BENCHMARK_MAIN();
