#include "cluster/load_report_header.h"

#include <optional>
#include <string>
#include <vector>

#include "support/catch.h"

namespace weft::cluster {
namespace {

std::optional<LoadReport> Said(std::string_view value) {
  return ReportOf(Headers{{":status", "200"}, {"endpoint-load-metrics", value}});
}

TEST_CASE("what a host says of its load") {
  struct Row {
    std::string said;
    uint32_t in_flight;
    uint32_t workers;
  };
  const std::string in_flight = "named_metrics.weft.in_flight";
  const std::string workers = "named_metrics.weft.workers";
  const std::vector<Row> table = {
      {"TEXT " + in_flight + "=3, " + workers + "=4", 3, 4},
      {"TEXT " + workers + "=4," + in_flight + "=3", 3, 4},
      {"TEXT  \t" + in_flight + " = 3 ,\t" + workers + " =4 ", 3, 4},
      {"TEXT " + in_flight + ":3, " + workers + ":4", 3, 4},
      {"TEXT cpu_utilization=0.3, " + in_flight + "=0, " + workers + "=1000000", 0, 1000000},
      {"TEXT " + in_flight + "=3.0, " + workers + "=4.0e0", 3, 4},
      {"TEXT " + in_flight + "=2.1, " + workers + "=3.9", 3, 3},
      {"TEXT " + in_flight + "=3", 3, 0},
      // What is not Weft's may be anything.
      {"TEXT ,, cpu_utilization=nan, x, =, named_metrics.weft.other=?, " + in_flight + "=3,", 3, 0},
  };
  for (const Row& row : table) {
    CAPTURE(row.said);
    const std::optional<LoadReport> report = Said(row.said);
    REQUIRE(report.has_value());
    CHECK(report->in_flight == row.in_flight);
    CHECK(report->workers == row.workers);
  }
}

TEST_CASE("what is not to be believed of a host's load counts as nothing") {
  CHECK_FALSE(ReportOf(Headers()).has_value());
  CHECK_FALSE(ReportOf(Headers{{"x-endpoint-load-metrics", "TEXT named_metrics.weft.in_flight=3"}})
                  .has_value());
  for (const char* said :
       {"", "TEXT", "TEXT ", "JSON {\"named_metrics\":{\"weft.in_flight\":3}}", "BIN AAAA",
        "named_metrics.weft.in_flight=3", "text named_metrics.weft.in_flight=3",
        "TEXT cpu_utilization=0.3", "TEXT named_metrics.weft.workers=4", "TEXT weft.in_flight=3",
        "TEXT named_metrics.weft.in_flight=3 named_metrics.weft.workers=4",
        "TEXT named_metrics.weft.in_flight=3, named_metrics.weft.in_flight=3"}) {
    CAPTURE(said);
    CHECK_FALSE(Said(said).has_value());
  }
  for (const char* value : {"", "=", "x", "nan", "inf", "-inf", "-1", "-0.5", "1000000.5", "1e7",
                            "1e999", "3x", "0x3", "+3", "3;4"}) {
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
