#include "http/answer_code.h"

#include <string>

#include "support/catch.h"
#include "weft/response.h"

namespace weft::inline v0::http {
namespace {

using absl::StatusCode;

TEST_CASE("the code of an HTTP answer is that of its status") {
  for (const int status : {200, 204, 302, 399}) {
    CHECK(CodeOf({status, {}, {}, false}, Protocol::kHttp) == StatusCode::kOk);
  }
  for (const int status : {400, 401, 403, 404, 418, 429, 500, 502, 503, 504, 599}) {
    const StatusCode code = CodeOf({status, {}, {}, true}, Protocol::kHttp);
    CHECK(code == CodeOfHttpStatus(status));
    CHECK(code != StatusCode::kOk);
  }
  CHECK(CodeOfHttpStatus(200) == StatusCode::kUnknown);
  // What a grpc-status says is nothing to HTTP.
  CHECK(CodeOf({200, {}, {{"grpc-status", "14"}}, true}, Protocol::kHttp) == StatusCode::kOk);
}

TEST_CASE("the code of a gRPC answer is its grpc-status") {
  const auto code_of = [](int status, const Headers& headers, const Headers& trailers, bool body) {
    return CodeOf({status, headers, trailers, body}, Protocol::kGrpc);
  };
  CHECK(code_of(200, {}, {{"grpc-status", "0"}}, true) == StatusCode::kOk);
  CHECK(code_of(503, {}, {{"grpc-status", "5"}}, true) == StatusCode::kNotFound);
  CHECK(code_of(200, {{"grpc-status", "5"}}, {}, false) == StatusCode::kNotFound);
  // In headers it counts only where these were all.
  CHECK(code_of(200, {{"grpc-status", "0"}}, {}, true) == StatusCode::kUnknown);
  CHECK(code_of(200, {{"grpc-status", "0"}}, {{"x", "y"}}, false) == StatusCode::kUnknown);
  for (const char* invalid : {"", "17", "-1", "1x", " 1", "99999999999"}) {
    CHECK(code_of(200, {}, {{"grpc-status", invalid}}, true) == StatusCode::kUnknown);
    CHECK(code_of(503, {}, {{"grpc-status", invalid}}, true) == StatusCode::kUnavailable);
  }
}

}  // namespace
}  // namespace weft::inline v0::http
