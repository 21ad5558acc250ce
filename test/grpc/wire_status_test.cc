#include "grpc/wire_status.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "grpc/metadata.h"
#include "support/catch.h"
#include "weft/grpc/status_details.h"

namespace weft::grpc {
namespace {

using absl::StatusCode;
using Catch::Matchers::ContainsSubstring;

const Headers& Head() {
  static const Headers head = {{"content-type", "application/grpc"}};
  return head;
}

Headers TrailersOnly(const Headers& trailers) {
  Headers head = Head();
  for (const Headers::Field field : trailers) head.Add(field.name, field.value);
  return head;
}

// The status of these trailers, which is the same whether they are trailers or all there is.
absl::Status StatusOfTrailers(const Headers& trailers) {
  const absl::Status status = StatusOf(200, Head(), trailers, /*trailers_only=*/false);
  const absl::Status only = StatusOf(200, TrailersOnly(trailers), {}, /*trailers_only=*/true);
  CHECK(only.code() == status.code());
  if (!trailers.empty()) CHECK(only == status);
  return status;
}

std::string TextOf(const absl::Status& status) { return std::string(status.message()); }

TEST_CASE("each code of gRPC is the same code of absl::Status") {
  for (int code = 0; code <= 16; ++code) {
    Headers trailers = {{"grpc-message", "why"}};
    trailers.Add("grpc-status", std::to_string(code));
    const absl::Status status = StatusOfTrailers(trailers);
    CHECK(static_cast<int>(status.code()) == code);
    CHECK(status.raw_code() == code);
    if (code != 0) CHECK(status.message() == "why");
  }
}

TEST_CASE("a grpc-status that is no code is UNKNOWN") {
  const std::string value = GENERATE(as<std::string>(), "abc", "99", "-1", "17", "", "+1", "00",
                                     "01", "0x0", "0 0", "0,0", "1.0", "0abc", "4294967296",
                                     "18446744073709551616", "\xd9\xa0", std::string("0\0", 2));
  INFO(value);
  Headers trailers;
  trailers.Add("grpc-status", value);
  const absl::Status status = StatusOfTrailers(trailers);
  CHECK(status.code() == StatusCode::kUnknown);
  CHECK_THAT(TextOf(status), ContainsSubstring("which is no code of gRPC"));
  for (const char c : status.message()) CHECK((c >= 0x20 && c <= 0x7e));
}

TEST_CASE("a grpc-status that comes twice is UNKNOWN, the same one too") {
  for (const char* second : {"0", "5", "abc"}) {
    const absl::Status status = StatusOfTrailers({{"grpc-status", "0"}, {"grpc-status", second}});
    CHECK(status.code() == StatusCode::kUnknown);
    CHECK(status.message() == "sent grpc-status more than once");
  }
}

TEST_CASE("a call that ends without a grpc-status is never OK") {
  CHECK(StatusOf(200, Head(), {}, /*trailers_only=*/false) ==
        absl::UnknownError("ended the body without trailers, and so without a grpc-status"));
  CHECK(StatusOf(200, Head(), {{"x", "y"}}, /*trailers_only=*/false) ==
        absl::UnknownError("ended the call without a grpc-status"));
  CHECK(StatusOf(200, Head(), {}, /*trailers_only=*/true) ==
        absl::UnknownError("ended the call without a grpc-status"));
  CHECK(StatusOf(200, Head(), {{"grpc-message", "some%20words"}}, /*trailers_only=*/false) ==
        absl::UnknownError("ended the call without a grpc-status: some words"));
}

TEST_CASE("a grpc-status in the head counts only if the head is all there is") {
  for (const char* code : {"0", "5"}) {
    const Headers head = TrailersOnly({{"grpc-status", code}, {"grpc-message", "of the head"}});
    CHECK(StatusOf(200, head, {}, /*trailers_only=*/false).code() == StatusCode::kUnknown);
    CHECK(StatusOf(200, head, {{"grpc-status", "0"}}, /*trailers_only=*/false).ok());
    CHECK(StatusOf(200, head, {{"grpc-status", "7"}}, /*trailers_only=*/false) ==
          absl::PermissionDeniedError(""));
  }
}

TEST_CASE("the table of HTTP statuses") {
  const auto [http_status, code] = GENERATE(table<int, StatusCode>({
      {400, StatusCode::kInternal},
      {401, StatusCode::kUnauthenticated},
      {403, StatusCode::kPermissionDenied},
      {404, StatusCode::kUnimplemented},
      {429, StatusCode::kUnavailable},
      {502, StatusCode::kUnavailable},
      {503, StatusCode::kUnavailable},
      {504, StatusCode::kUnavailable},
      {201, StatusCode::kUnknown},
      {204, StatusCode::kUnknown},
      {302, StatusCode::kUnknown},
      {402, StatusCode::kUnknown},
      {405, StatusCode::kUnknown},
      {408, StatusCode::kUnknown},
      {500, StatusCode::kUnknown},
      {501, StatusCode::kUnknown},
      {505, StatusCode::kUnknown},
      {599, StatusCode::kUnknown},
      {0, StatusCode::kUnknown},
      {999, StatusCode::kUnknown},
  }));
  INFO(http_status);
  for (const bool trailers_only : {false, true}) {
    const absl::Status status =
        StatusOf(http_status, {{"content-type", "text/html"}}, {}, trailers_only);
    CHECK(status.code() == code);
    CHECK(status.message() == "answered with HTTP status " + std::to_string(http_status) +
                                  ", content-type \"text/html\" and no grpc-status");
    // The same below a gRPC content-type, and never OK.
    CHECK(StatusOf(http_status, Head(), {}, trailers_only).code() == code);
    CHECK(StatusOf(http_status, TrailersOnly({{"grpc-status", "0"}}), {{"grpc-status", "0"}},
                   trailers_only)
              .code() == code);
    CHECK(StatusOf(http_status, TrailersOnly({{"grpc-status", "x"}}), {{"grpc-status", "x"}},
                   trailers_only)
              .code() == code);
  }
}

TEST_CASE("an error that the server named goes before the HTTP status and the content-type") {
  const Headers error = {{"grpc-status", "8"}, {"grpc-message", "full"}};
  CHECK(StatusOf(503, TrailersOnly(error), {}, true) == absl::ResourceExhaustedError("full"));
  CHECK(StatusOf(200, error, {}, true) == absl::ResourceExhaustedError("full"));
  CHECK(StatusOf(200, {{"content-type", "text/html"}}, error, false) ==
        absl::ResourceExhaustedError("full"));
}

TEST_CASE("another content-type is UNKNOWN and named, even with a grpc-status of 0") {
  const std::string type =
      GENERATE(as<std::string>(), "text/html", "text/html; charset=utf-8", "application/json",
               "application/grp", "application/grpc-web", "application/grpcx", "", "Application");
  INFO(type);
  Headers head;
  head.Add("content-type", type);
  CHECK_FALSE(IsGrpcResponse(200, head));
  for (const Headers& trailers : {Headers(), Headers({{"grpc-status", "0"}})}) {
    CHECK(StatusOf(200, head, trailers, false) ==
          absl::UnknownError("answered with content-type \"" + type + "\", which is not gRPC"));
  }
}

TEST_CASE("content-types of gRPC") {
  for (const char* type :
       {"application/grpc", "application/grpc+proto", "application/grpc+json",
        "application/grpc;charset=utf-8", "application/grpc ; a=b", "Application/GRPC+proto"}) {
    INFO(type);
    const Headers head = {{"content-type", type}};
    CHECK(IsGrpcResponse(200, head));
    CHECK_FALSE(IsGrpcResponse(503, head));
    CHECK(StatusOf(200, head, {{"grpc-status", "0"}}, false).ok());
  }
}

TEST_CASE("a missing content-type, and two of them, are not gRPC") {
  CHECK_FALSE(IsGrpcResponse(200, {}));
  CHECK(StatusOf(200, {}, {{"grpc-status", "0"}}, false) ==
        absl::UnknownError("answered with no content-type, which is not gRPC"));
  const Headers two = {{"content-type", "application/grpc"}, {"content-type", "text/html"}};
  CHECK_FALSE(IsGrpcResponse(200, two));
  CHECK(StatusOf(200, two, {{"grpc-status", "0"}}, false).code() == StatusCode::kUnknown);
}

TEST_CASE("what a peer wrote is shown printable and in part in texts of this side") {
  Headers head;
  head.Add("content-type", "a\x1b[31m" + std::string(10'000, 'x'));
  const std::string text = TextOf(StatusOf(200, head, {}, false));
  CHECK_THAT(text, ContainsSubstring("a?[31mxxx"));
  CHECK_THAT(text, ContainsSubstring("...\""));
  CHECK(text.size() < 200);
}

TEST_CASE("the message of the server is decoded and otherwise passed on as it is") {
  const auto [wire, text] = GENERATE(table<std::string, std::string>({
      {"", ""},
      {"not found", "not found"},
      {"50%25 %E2%82%AC%0a%00.", std::string("50% \xe2\x82\xac\n\0.", 10)},
      {"%", "%"},
      {"%%", "%%"},
      {"%4", "%4"},
      {"%41", "A"},
      {"%4g%zz%41", "%4g%zzA"},
      {"a%", "a%"},
      {"%e2%82", "\xe2\x82"},
      {"%%41", "%A"},
      {"%2541", "%41"},
      {"raw \xc3\xa9", "raw \xc3\xa9"},
      {"+", "+"},
  }));
  INFO(wire);
  CHECK(PercentDecode(wire) == text);
  Headers trailers = {{"grpc-status", "5"}};
  trailers.Add("grpc-message", wire);
  CHECK(StatusOfTrailers(trailers) == absl::NotFoundError(text));
}

TEST_CASE("percent-encoding leaves printable ASCII alone and brings every byte back") {
  CHECK(PercentEncode("a b~!") == "a b~!");
  CHECK(PercentEncode("50%\n\xc3\xa9\x7f") == "50%25%0A%C3%A9%7F");
  std::string bytes;
  for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
  CHECK(PercentDecode(PercentEncode(bytes)) == bytes);
  for (const char c : PercentEncode(bytes)) CHECK((c >= 0x20 && c <= 0x7e));
}

TEST_CASE("details of the server are on the status as they were sent") {
  const std::string bytes("\x08\x05\x12\0\xff", 5);
  Headers trailers = {{"grpc-status", "5"}, {"grpc-message", "gone"}};
  trailers.Add("grpc-status-details-bin", EncodeBinary(bytes));
  const absl::Status status = StatusOfTrailers(trailers);
  CHECK(status.code() == StatusCode::kNotFound);
  CHECK(status.message() == "gone");
  CHECK(StatusDetails(status) == bytes);
  CHECK(status.GetPayload("type.googleapis.com/google.rpc.Status").has_value());
}

TEST_CASE("no details, bad ones, and details of OK") {
  CHECK_FALSE(StatusDetails(StatusOfTrailers({{"grpc-status", "5"}})).has_value());
  const absl::Status bad = StatusOfTrailers(
      {{"grpc-status", "5"}, {"grpc-message", "gone"}, {"grpc-status-details-bin", "!!"}});
  CHECK(bad == absl::NotFoundError("gone"));
  const absl::Status ok =
      StatusOfTrailers({{"grpc-status", "0"}, {"grpc-status-details-bin", "YQ"}});
  CHECK(ok.ok());
  CHECK_FALSE(StatusDetails(ok).has_value());
  CHECK_FALSE(StatusDetails(absl::InternalError("of this side")).has_value());
  CHECK(StatusDetails(StatusOfTrailers({{"grpc-status", "5"}, {"grpc-status-details-bin", ""}})) ==
        "");
}

TEST_CASE("one message is due, and none or two are an error") {
  CHECK(CheckOneMessage(1).ok());
  CHECK(CheckOneMessage(0).code() == StatusCode::kUnimplemented);
  CHECK_THAT(TextOf(CheckOneMessage(0)), ContainsSubstring("without a message"));
  CHECK(CheckOneMessage(2).code() == StatusCode::kUnimplemented);
  CHECK_THAT(TextOf(CheckOneMessage(2)), ContainsSubstring("more than one"));
}

}  // namespace
}  // namespace weft::grpc
