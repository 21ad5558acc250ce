#include "cluster/load_report_header.h"

#include <optional>
#include <string>
#include <vector>

#include "support/catch.h"

namespace weft::cluster {
namespace {

using namespace std::chrono_literals;

std::optional<LoadReport> Said(std::string_view value) {
  return ReportOf(Headers{{":status", "200"}, {"endpoint-load-metrics", value}});
}

TEST_CASE("what a host says of its load") {
  struct Row {
    std::string said;
    LoadReport report;
  };
  const std::string weft = "named_metrics.weft.";
  const std::string in_flight = weft + "in_flight";
  const std::string workers = weft + "workers";
  const LoadReport both = {.in_flight = 3, .workers = 4};
  const std::vector<Row> table = {
      {"TEXT " + in_flight + "=3, " + workers + "=4", both},
      {"TEXT " + workers + "=4," + in_flight + "=3", both},
      {"TEXT  \t" + in_flight + " = 3 ,\t" + workers + " =4 ", both},
      {"TEXT " + in_flight + ":3, " + workers + ":4", both},
      {"TEXT " + in_flight + "=3.0, " + workers + "=4.0e0", both},
      {"TEXT " + in_flight + "=2.1, " + workers + "=3.9", {.in_flight = 3, .workers = 3}},
      {"TEXT " + in_flight + "=0, " + workers + "=1000000", {.in_flight = 0, .workers = 1000000}},
      {"TEXT " + in_flight + "=3", {.in_flight = 3}},
      {"TEXT " + in_flight + "=3," + weft + "service_time_ms=9.5," + weft + "latency_ms=12.000125",
       {.in_flight = 3, .service_time = 9500us, .latency = 12000125ns}},
      {"TEXT " + weft + "latency_ms=86400000", {.latency = 24h}},
      {"TEXT cpu_utilization=0.25", {.utilization = 0.25}},
      {"TEXT cpu_utilization=0.25,application_utilization=1.5", {.utilization = 1.5}},
      {"TEXT application_utilization=0,cpu_utilization=0.25", {.utilization = 0.25}},
      {"TEXT rps_fractional=1250.5, eps=0.125", {.qps = 1250.5, .eps = 0.125}},
      // What is not read may be anything.
      {"TEXT ,, mem_utilization=nan, x, =, " + weft + "other=?, " + in_flight + "=3,",
       {.in_flight = 3}},
  };
  for (const Row& row : table) {
    CAPTURE(row.said);
    const std::optional<LoadReport> report = Said(row.said);
    REQUIRE(report.has_value());
    CHECK(*report == row.report);
  }
}

TEST_CASE("the binary form of a load report is read where gRPC's servers put it") {
  // cpu_utilization 0.25, rps_fractional 100, named_metrics {"weft.in_flight": 3}
  const std::string message = "CQAAAAAAANA/MQAAAAAAAFlAQhkKDndlZnQuaW5fZmxpZ2h0EQAAAAAAAAhA";
  const LoadReport report = {.in_flight = 3, .utilization = 0.25, .qps = 100};
  CHECK(ReportOf(Headers{{"endpoint-load-metrics-bin", message}}) == report);
  CHECK(Said("BIN " + message) == report);
  // With padding and without.
  CHECK(ReportOf(Headers{{"endpoint-load-metrics-bin", "CQAAAAAAANA/"}}) ==
        LoadReport{.utilization = 0.25});
  CHECK(ReportOf(Headers{{"endpoint-load-metrics-bin", "CQAAAAAAANA/EAE="}}) ==
        LoadReport{.utilization = 0.25});
  CHECK(ReportOf(Headers{{"endpoint-load-metrics-bin", "CQAAAAAAANA/EAE"}}) ==
        LoadReport{.utilization = 0.25});
  CHECK_FALSE(ReportOf(Headers{{"endpoint-load-metrics-bin", "%%%%"}}).has_value());
  CHECK_FALSE(ReportOf(Headers{{"endpoint-load-metrics-bin", ""}}).has_value());
}

TEST_CASE("what is not to be believed of a host's load counts as nothing") {
  CHECK_FALSE(ReportOf(Headers()).has_value());
  CHECK_FALSE(ReportOf(Headers{{"x-endpoint-load-metrics", "TEXT named_metrics.weft.in_flight=3"}})
                  .has_value());
  for (const char* said :
       {"", "TEXT", "TEXT ", "JSON {\"named_metrics\":{\"weft.in_flight\":3}}", "BIN AAAA",
        "named_metrics.weft.in_flight=3", "text named_metrics.weft.in_flight=3",
        "TEXT mem_utilization=0.3", "TEXT named_metrics.weft.workers=4", "TEXT weft.in_flight=3",
        "TEXT named_metrics.weft.in_flight=3 named_metrics.weft.workers=4",
        "TEXT named_metrics.weft.in_flight=3, named_metrics.weft.in_flight=3",
        "TEXT cpu_utilization=nan", "TEXT eps=-1, rps_fractional=3", "TEXT eps=1e10",
        "TEXT named_metrics.weft.latency_ms=86400001", "TEXT application_utilization=1001"}) {
    CAPTURE(said);
    CHECK_FALSE(Said(said).has_value());
  }
  for (const char* value : {"", "=", "x", "nan", "inf", "-inf", "-1", "-0.5", "1000000.5", "1e7",
                            "1e999", "3x", "0x3", "+3", "3;4", "1.2.3", ".", "1 2"}) {
    for (const char* name : {"in_flight", "workers"}) {
      const std::string other = name == std::string("workers") ? "in_flight" : "workers";
      const std::string said = std::string("TEXT named_metrics.weft.") + name + "=" + value +
                               ", named_metrics.weft." + other + "=4";
      CAPTURE(said);
      CHECK_FALSE(Said(said).has_value());
    }
  }
  CHECK_FALSE(Said("TEXT named_metrics.weft.workers, named_metrics.weft.in_flight=3").has_value());
}

}  // namespace
}  // namespace weft::cluster
