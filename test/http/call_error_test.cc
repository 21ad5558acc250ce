#include <string>

#include "support/catch.h"
#include "weft/error.h"

namespace weft {
namespace {

TEST_CASE("what is put on a status is read back") {
  for (const Origin origin : {Origin::kLocal, Origin::kConnection, Origin::kPeer}) {
    for (const Processed processed :
         {Processed::kNotSent, Processed::kRefused, Processed::kMaybeProcessed}) {
      for (const std::string host : {"", "10.0.0.7:8080", "[::1]:1", "/a b\n c"}) {
        absl::Status status = absl::UnavailableError("text");
        SetCallError(status, {origin, processed, host, 3});
        const auto error = GetCallError(status);
        REQUIRE(error.has_value());
        CHECK(error->origin == origin);
        CHECK(error->processed == processed);
        CHECK(error->host == host);
        CHECK(error->attempts == 3);
        CHECK(status.message() == "text");
      }
    }
  }
}

TEST_CASE("a payload is replaced") {
  absl::Status status = absl::UnavailableError("");
  SetCallError(status, {Origin::kPeer, Processed::kRefused, "a", 1});
  SetCallError(status, {Origin::kLocal, Processed::kNotSent, "b", 2147483647});
  CHECK(GetCallError(status)->host == "b");
  CHECK(GetCallError(status)->attempts == 2147483647);
}

TEST_CASE("other statuses have none") {
  CHECK_FALSE(GetCallError(absl::OkStatus()).has_value());
  CHECK_FALSE(GetCallError(absl::InternalError("x")).has_value());
  absl::Status ok;
  SetCallError(ok, {});
  CHECK_FALSE(GetCallError(ok).has_value());
}

TEST_CASE("what does not parse to the letter is no payload") {
  for (const char* text : {"", "1", "1 2", "1 2 3", "3 0 0 h", "0 3 0 h", "-1 0 0 h", "0 0 -1 h",
                           "0 0 2147483648 h", " 0 0 0 h", "0  0 0 h", "00 0 0 h", "0 0 01 h",
                           "0 0 x h", "+0 0 0 h", "0 0 -0 h", "0 0 99999999999999999999 h"}) {
    CAPTURE(text);
    absl::Status status = absl::InternalError("x");
    status.SetPayload("weft/call-error", absl::Cord(text));
    CHECK_FALSE(GetCallError(status).has_value());
  }
}

TEST_CASE("the log of attempts is read back, whatever is in it") {
  AttemptLog log;
  log.why_no_more = "so \n it was ";
  log.attempts.push_back({.why = AttemptInfo::Why::kFirst,
                          .host = "10.0.0.7:80",
                          .started = absl::ZeroDuration(),
                          .took = absl::Milliseconds(7),
                          .lost = true,
                          .code = absl::StatusCode::kCancelled});
  log.attempts.push_back({.why = AttemptInfo::Why::kHedge,
                          .host = "",
                          .started = absl::Nanoseconds(5),
                          .took = absl::Hours(1),
                          .code = absl::StatusCode::kUnavailable,
                          .http_status = 503,
                          .error = std::string("12 a\0b ", 7)});
  absl::Status status = absl::UnavailableError("text");
  SetCallError(status, {.host = "h", .attempts = 2, .log = log});
  const AttemptLog read = GetCallError(status)->log;
  CHECK(read.why_no_more == log.why_no_more);
  REQUIRE(read.attempts.size() == 2);
  for (size_t i = 0; i < 2; ++i) {
    CAPTURE(i);
    CHECK(read.attempts[i].why == log.attempts[i].why);
    CHECK(read.attempts[i].host == log.attempts[i].host);
    CHECK(read.attempts[i].started == log.attempts[i].started);
    CHECK(read.attempts[i].took == log.attempts[i].took);
    CHECK(read.attempts[i].lost == log.attempts[i].lost);
    CHECK(read.attempts[i].code == log.attempts[i].code);
    CHECK(read.attempts[i].http_status == log.attempts[i].http_status);
    CHECK(read.attempts[i].error == log.attempts[i].error);
  }
  SetCallError(status, {.host = "h"});
  CHECK(GetCallError(status)->log.attempts.empty());
}

TEST_CASE("a log that does not parse to the letter is left out") {
  for (const char* text :
       {"", "0", "0  ", "0  1 ", "5 a 0 ", "0  0 x", "0  1 5 0 0 0 0 0 0  0  ", "0  9999 ",
        "0  1 0 -1 0 0 0 0 0  0  ", "0  1 0 0 0 2 0 0 0  0  ", "0  1 0 0 0 0 17 0 0  0  "}) {
    CAPTURE(text);
    absl::Status status = absl::InternalError("x");
    SetCallError(status, {.host = "h"});
    status.SetPayload("weft/attempt-log", absl::Cord(text));
    REQUIRE(GetCallError(status).has_value());
    CHECK(GetCallError(status)->log.attempts.empty());
  }
}

TEST_CASE("names are those of the documentation") {
  CHECK(OriginName(Origin::kLocal) == "local");
  CHECK(OriginName(Origin::kConnection) == "connection");
  CHECK(OriginName(Origin::kPeer) == "peer");
  CHECK(ProcessedName(Processed::kNotSent) == "not sent");
  CHECK(ProcessedName(Processed::kRefused) == "refused unprocessed");
  CHECK(ProcessedName(Processed::kMaybeProcessed) == "may have been processed");
}

}  // namespace
}  // namespace weft
