#include "http2/error_map.h"

#include <string>

#include "support/catch.h"

namespace weft::http2 {
namespace {

TEST_CASE("the table of reset codes") {
  const auto [code, name, status,
              processed] = GENERATE(table<uint32_t, std::string, absl::StatusCode, Processed>({
      {0, "NO_ERROR", absl::StatusCode::kInternal, Processed::kMaybeProcessed},
      {1, "PROTOCOL_ERROR", absl::StatusCode::kInternal, Processed::kMaybeProcessed},
      {2, "INTERNAL_ERROR", absl::StatusCode::kInternal, Processed::kMaybeProcessed},
      {3, "FLOW_CONTROL_ERROR", absl::StatusCode::kInternal, Processed::kMaybeProcessed},
      {4, "SETTINGS_TIMEOUT", absl::StatusCode::kInternal, Processed::kMaybeProcessed},
      {5, "STREAM_CLOSED", absl::StatusCode::kInternal, Processed::kMaybeProcessed},
      {6, "FRAME_SIZE_ERROR", absl::StatusCode::kInternal, Processed::kMaybeProcessed},
      {7, "REFUSED_STREAM", absl::StatusCode::kUnavailable, Processed::kRefused},
      {8, "CANCEL", absl::StatusCode::kCancelled, Processed::kMaybeProcessed},
      {9, "COMPRESSION_ERROR", absl::StatusCode::kInternal, Processed::kMaybeProcessed},
      {10, "CONNECT_ERROR", absl::StatusCode::kInternal, Processed::kMaybeProcessed},
      {11, "ENHANCE_YOUR_CALM", absl::StatusCode::kResourceExhausted, Processed::kMaybeProcessed},
      {12, "INADEQUATE_SECURITY", absl::StatusCode::kPermissionDenied, Processed::kMaybeProcessed},
      {13, "HTTP_1_1_REQUIRED", absl::StatusCode::kFailedPrecondition, Processed::kMaybeProcessed},
      {14, "error 14", absl::StatusCode::kInternal, Processed::kMaybeProcessed},
      {0xffffffff, "error 4294967295", absl::StatusCode::kInternal, Processed::kMaybeProcessed},
  }));
  CHECK(CodeName(code) == name);
  const http::StreamEnd end = EndOfReset(code);
  CHECK(end.status.code() == status);
  CHECK(end.origin == Origin::kPeer);
  CHECK(end.processed == processed);
  CHECK(std::string(end.status.message()).rfind("reset the stream (" + name, 0) == 0);
}

TEST_CASE("a GOAWAY leaves out what was sent as refused, and the rest as not sent") {
  CHECK(EndOfGoaway(0, true).processed == Processed::kRefused);
  CHECK(EndOfGoaway(0, false).processed == Processed::kNotSent);
  CHECK(EndOfGoaway(11, true).status.code() == absl::StatusCode::kUnavailable);
  CHECK(EndOfGoaway(11, true).status.message() ==
        "takes no more requests on this connection (GOAWAY ENHANCE_YOUR_CALM)");
}

TEST_CASE("the end of a connection has the code's name and the reason") {
  CHECK(ConnectionError(1, "DATA: stream_id == 0").message() ==
        "broke the rules of HTTP/2 (PROTOCOL_ERROR: DATA: stream_id == 0)");
  CHECK(ConnectionError(6, "").message() == "broke the rules of HTTP/2 (FRAME_SIZE_ERROR)");
  CHECK(ConnectionError(6, "").code() == absl::StatusCode::kInternal);
  CHECK(ConnectionError(11, "").code() == absl::StatusCode::kResourceExhausted);
}

TEST_CASE("what a peer sent is made printable") {
  CHECK(Printable("a\x1f\x7f\x80 ~", 100) == "a??? ~");
  CHECK(Printable("abcdef", 3) == "abc");
  CHECK(Printable("", 3).empty());
}

}  // namespace
}  // namespace weft::http2
