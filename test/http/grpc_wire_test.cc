#include "http/grpc_wire.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "support/catch.h"

namespace weft::http {
namespace {

std::string Written(base::MonoDuration remaining) {
  char text[kGrpcTimeoutBytes];
  return {text, WriteGrpcTimeout(remaining, text)};
}

TEST_CASE("each unit of grpc-timeout, up to 8 digits") {
  const auto [text, expected] = GENERATE(table<std::string, absl::Duration>({
      {"1H", absl::Hours(1)},
      {"2M", absl::Minutes(2)},
      {"3S", absl::Seconds(3)},
      {"4m", absl::Milliseconds(4)},
      {"5u", absl::Microseconds(5)},
      {"6n", absl::Nanoseconds(6)},
      {"0S", absl::ZeroDuration()},
      {"00000001S", absl::Seconds(1)},
      {"99999999n", absl::Nanoseconds(99'999'999)},
      {"99999999m", absl::Milliseconds(99'999'999)},
      {"99999999H", absl::Hours(99'999'999)},
  }));
  INFO(text);
  const std::optional<absl::Duration> timeout = ParseGrpcTimeout(text);
  REQUIRE(timeout.has_value());
  CHECK(*timeout == expected);
}

TEST_CASE("what is no grpc-timeout is refused") {
  const std::string text =
      GENERATE(as<std::string>(), "", "S", "1", "123456789S", "000000001S", "-1S", "+1S", "1.5S",
               " 1S", "1S ", "1 S", "1s", "1h", "1ms", "1N", "0x1S", "S1", "1SS", "1,2S",
               std::string("1\0S", 3), std::string("1S\0", 3), "\xd9\xa1S");
  INFO(text);
  CHECK_FALSE(ParseGrpcTimeout(text).has_value());
}

TEST_CASE("every byte after a digit is a unit of grpc-timeout or refused") {
  constexpr std::string_view kUnits = "HMSmun";
  for (int c = 0; c < 256; ++c) {
    const char byte = static_cast<char>(c);
    CHECK(ParseGrpcTimeout(std::string("7") + byte).has_value() ==
          (kUnits.find(byte) != std::string_view::npos));
  }
}

TEST_CASE("what remains is written in the finest unit that holds it") {
  using std::chrono::nanoseconds;
  CHECK(Written(nanoseconds(99'999'999)) == "99999999n");
  CHECK(Written(nanoseconds(100'000'000)) == "100000u");
  CHECK(Written(std::chrono::milliseconds(250)) == "250000u");
  CHECK(Written(std::chrono::seconds(15)) == "15000000u");
  CHECK(Written(std::chrono::seconds(100)) == "100000m");
  CHECK(Written(std::chrono::hours(24)) == "86400000m");
  CHECK(Written(std::chrono::hours(48)) == "172800S");
  CHECK(Written(nanoseconds(INT64_MAX)) == "2562047H");
}

TEST_CASE("no time at all is written as the least, since 0 is not for everybody an end") {
  CHECK(Written(base::MonoDuration::zero()) == "1n");
  CHECK(Written(-std::chrono::seconds(1)) == "1n");
}

TEST_CASE("what is written is read back, never longer and at most a unit shorter") {
  for (int64_t ns = 1; ns < INT64_MAX / 7; ns = ns * 7 + 3) {
    const std::string text = Written(std::chrono::nanoseconds(ns));
    CAPTURE(ns, text);
    CHECK(text.size() <= 9);
    const std::optional<absl::Duration> back = ParseGrpcTimeout(text);
    REQUIRE(back.has_value());
    CHECK(*back <= absl::Nanoseconds(ns));
    CHECK(*back * 1.000001 + absl::Nanoseconds(1) > absl::Nanoseconds(ns) * 0.9999);
  }
}

TEST_CASE("the length of a message is read from its prefix") {
  CHECK(GrpcMessageBytes(std::string("\0\0\0\0\7", 5)) == 7);
  CHECK(GrpcMessageBytes(std::string("\1\1\2\3\4", 5)) == 0x01020304);
  CHECK(GrpcMessageBytes("\xff\xff\xff\xff\xff") == 0xffffffff);
}

}  // namespace
}  // namespace weft::http
