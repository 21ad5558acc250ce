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
