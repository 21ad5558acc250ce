#include "cluster/orca_message.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "support/catch.h"

namespace weft::cluster {
namespace {

using namespace std::chrono_literals;

std::string Tag(int number, int type) { return {static_cast<char>(number << 3 | type)}; }
std::string Number(int field, double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  std::string text = Tag(field, 1);
  for (int i = 0; i < 8; ++i) text += static_cast<char>(bits >> (8 * i) & 0xff);
  return text;
}
std::string Bytes(int field, std::string_view bytes) {
  return Tag(field, 2) + static_cast<char>(bytes.size()) + std::string(bytes);
}
std::string Entry(int field, std::string_view name, double value) {
  return Bytes(field, Bytes(1, name) + Number(2, value));
}

TEST_CASE("every field of a binary load report that is of use is read, the others are not") {
  const std::string message = Number(1, 0.5) + Number(2, NAN) + Tag(3, 0) + "\xff\x01" +
                              Entry(4, "weft.in_flight", 77) + Entry(5, "weft.workers", 78) +
                              Number(6, 250) + Number(7, 2) + Entry(8, "weft.in_flight", 5) +
                              Entry(8, "weft.workers", 4) + Entry(8, "weft.service_time_ms", 2.5) +
                              Entry(8, "weft.latency_ms", 7.25) + Entry(8, "queue", -1) +
                              Number(9, 0.75) + Tag(10, 5) + "abcd" + Bytes(11, "later");
  const LoadReport all = {.in_flight = 5,
                          .workers = 4,
                          .service_time = 2500us,
                          .latency = 7250us,
                          .utilization = 0.75,
                          .qps = 250,
                          .eps = 2};
  CHECK(ReportOfMessage(message) == all);
  CHECK(ReportOfMessage(Number(1, 0.5)) == LoadReport{.utilization = 0.5});
  // Zero need not be written.
  CHECK(ReportOfMessage(Bytes(8, Bytes(1, "weft.in_flight")) + Entry(8, "weft.workers", 4)) ==
        LoadReport{.in_flight = 0, .workers = 4});
}

TEST_CASE("a binary load report that is cut, malformed or absurd counts as nothing") {
  CHECK_FALSE(ReportOfMessage("").has_value());
  CHECK_FALSE(ReportOfMessage(Entry(8, "other", 1)).has_value());
  CHECK_FALSE(ReportOfMessage(Entry(8, "weft.workers", 4)).has_value());
  const std::string good = Entry(8, "weft.in_flight", 5) + Number(1, 0.5);
  REQUIRE(ReportOfMessage(good).has_value());
  for (size_t cut = 1; cut < good.size(); ++cut) {
    CAPTURE(cut);
    // The first entry by itself is whole.
    CHECK(ReportOfMessage(good.substr(0, cut)).has_value() == (cut == good.size() - 9));
  }
  for (const double value :
       {static_cast<double>(NAN), static_cast<double>(INFINITY), -1.0, 1e300}) {
    CAPTURE(value);
    CHECK_FALSE(ReportOfMessage(good + Number(6, value)).has_value());
    CHECK_FALSE(ReportOfMessage(good + Entry(8, "weft.workers", value)).has_value());
  }
  CHECK_FALSE(ReportOfMessage(good + good).has_value());                          // twice
  CHECK_FALSE(ReportOfMessage(good + Tag(12, 3)).has_value());                    // a group
  CHECK_FALSE(ReportOfMessage(good + Tag(12, 7)).has_value());                    // no type
  CHECK_FALSE(ReportOfMessage(good + Tag(0, 0) + "\x01").has_value());            // no field
  CHECK_FALSE(ReportOfMessage(good + std::string(11, '\xff')).has_value());       // no end
  CHECK_FALSE(ReportOfMessage(good + Bytes(8, Tag(1, 2) + "\x40")).has_value());  // entry cut
}

}  // namespace
}  // namespace weft::cluster
