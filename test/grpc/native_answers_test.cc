// Answers that are wrong: the same code and the same words for unary calls and for streams.
#include <string>
#include <vector>

#include "grpc/codec.h"
#include "grpc/native_rig.h"

namespace weft::testing {
namespace {

using absl::StatusCode;

struct BadAnswer {
  const char* name;
  RogueAnswer answer;
  StatusCode code;
  std::string says;  // behind the host's address
};

RogueAnswer Http(int status, const char* type = nullptr, std::string body = {}) {
  RogueAnswer answer{.status = status, .body = std::move(body)};
  if (type != nullptr) answer.headers.emplace_back("content-type", type);
  return answer;
}

// `head` behind the content-type of gRPC.
RogueAnswer With(HeaderList head, RogueAnswer answer) {
  answer.headers.insert(answer.headers.end(), head.begin(), head.end());
  return answer;
}

std::vector<BadAnswer> BadAnswers() {
  const std::string hello = Wire("hello");
  constexpr char kNoTrailers[] = "ended the body without trailers, and so without a grpc-status";
  constexpr char kNoStatus[] = "ended the call without a grpc-status";
  const auto status = [](std::string text) {
    return "sent the grpc-status \"" + text + "\", which is no code of gRPC";
  };
  return {
      // Bodies that end where they must not.
      {"no trailers", Answer(hello, {}), StatusCode::kUnknown, kNoTrailers},
      {"nothing but a head", TrailersOnly({}), StatusCode::kUnknown, kNoStatus},
      {"cut in the message", Answer(hello.substr(0, 10)), StatusCode::kInternal,
       "ended the body inside a message: 5 of 7 bytes came"},
      {"cut in the prefix", Answer(hello.substr(0, 3)), StatusCode::kInternal,
       "ended the body inside a message: 3 of the 5 bytes before it came"},
      {"cut behind a message", Answer(hello + hello.substr(0, 5)), StatusCode::kInternal,
       "ended the body inside a message: 0 of 7 bytes came"},
      // Flags and encodings.
      {"flag 2", Answer(Prefix(2, 3) + "abc"), StatusCode::kInternal,
       "sent a message whose compressed-flag is 2, not 0 or 1"},
      {"flag 255", Answer(Prefix(255, 3) + "abc"), StatusCode::kInternal,
       "sent a message whose compressed-flag is 255, not 0 or 1"},
      {"compressed without an encoding", Answer(Prefix(1, 3) + "abc"), StatusCode::kInternal,
       "sent a compressed message without a grpc-encoding"},
      {"compressed as identity",
       With({{"grpc-encoding", "identity"}}, Answer(Prefix(1, 3) + "abc")), StatusCode::kInternal,
       "sent a compressed message without a grpc-encoding"},
      {"compressed as nobody can read",
       With({{"grpc-encoding", "snappy"}}, Answer(Prefix(1, 3) + "abc")), StatusCode::kInternal,
       "sent a compressed message of the grpc-encoding \"snappy\", which it was not offered"},
      {"not compressed though it says so",
       With({{"grpc-encoding", "gzip"}}, Answer(Prefix(1, 3) + "abc")), StatusCode::kInternal,
       "sent a message that is not gzip: incorrect header check"},
      {"no protobuf", Answer(Prefix(0, 3) + "\x0a\x7f" + "x"), StatusCode::kInternal,
       "sent a message that is no google.protobuf.StringValue"},
      // The status.
      {"no grpc-status", Answer(hello, {{"other", "1"}}), StatusCode::kUnknown, kNoStatus},
      {"status abc", Answer(hello, {{"grpc-status", "abc"}}), StatusCode::kUnknown, status("abc")},
      {"status 99", Answer(hello, {{"grpc-status", "99"}}), StatusCode::kUnknown, status("99")},
      {"status -1", Answer(hello, {{"grpc-status", "-1"}}), StatusCode::kUnknown, status("-1")},
      {"status 17, trailers only", TrailersOnly({{"grpc-status", "17"}}), StatusCode::kUnknown,
       status("17")},
      {"status twice", Answer(hello, {{"grpc-status", "0"}, {"grpc-status", "0"}}),
       StatusCode::kUnknown, "sent grpc-status more than once"},
      {"status in the head, and a body without trailers",
       With({{"grpc-status", "0"}}, Answer(hello, {})), StatusCode::kUnknown, kNoTrailers},
      // HTTP.
      {"400", Http(400), StatusCode::kInternal,
       "answered with HTTP status 400, no content-type and no grpc-status"},
      {"401", Http(401, "text/plain"), StatusCode::kUnauthenticated,
       "answered with HTTP status 401, content-type \"text/plain\" and no grpc-status"},
      {"403", Http(403), StatusCode::kPermissionDenied,
       "answered with HTTP status 403, no content-type and no grpc-status"},
      {"404", Http(404), StatusCode::kUnimplemented,
       "answered with HTTP status 404, no content-type and no grpc-status"},
      {"429", Http(429), StatusCode::kUnavailable,
       "answered with HTTP status 429, no content-type and no grpc-status"},
      {"503 with a short body", Http(503, "text/plain", "no"), StatusCode::kUnavailable,
       "answered with HTTP status 503, content-type \"text/plain\" and no grpc-status"},
      {"500 with trailers", With({}, {.status = 500, .trailers = {{"grpc-status", "0"}}}),
       StatusCode::kUnknown,
       "answered with HTTP status 500, no content-type and the grpc-status \"0\""},
      {"a page", Http(200, "text/html", "<a>"), StatusCode::kUnknown,
       "answered with content-type \"text/html\", which is not gRPC"},
      {"no type", Http(200), StatusCode::kUnknown,
       "answered with no content-type, which is not gRPC"},
      // The number of messages.
      {"no message", Answer(""), StatusCode::kUnimplemented,
       "ended the call with OK and without a message, where one was due"},
      {"no message, trailers only", TrailersOnly({{"grpc-status", "0"}}),
       StatusCode::kUnimplemented,
       "ended the call with OK and without a message, where one was due"},
      {"two messages", Answer(hello + hello), StatusCode::kUnimplemented,
       "sent more than one message, where one was due"},
  };
}

void Check(const BadAnswer& bad, const absl::Status& status, const grpc::Context& context) {
  INFO(bad.name);
  CHECK(status.code() == bad.code);
  CHECK(status.message() == std::string(kHost) + " " + bad.says);
  const CallError error = GetCallError(status).value_or(CallError{});
  CHECK(error.origin == Origin::kConnection);
  CHECK(error.processed == Processed::kMaybeProcessed);
  CHECK(error.host == kHost);
  CHECK(error.attempts == 1);
  CHECK(context.info.host == kHost);
  CHECK(context.info.attempts == 1);
}

TEST_CASE("a wrong answer to a unary call is an error that says what was wrong") {
  World w;
  for (const BadAnswer& bad : BadAnswers()) {
    w.server.options().handler = [&](const RogueRequest&) { return bad.answer; };
    Unary& call = w.Call();
    Check(bad, call.status(), call.context);
  }
  CHECK(w.server.accepted() == 1);  // none of it concerns the connection
  w.Close();
}

TEST_CASE("a wrong answer to a stream is the same error, however it is cut into pieces") {
  const size_t piece = GENERATE(size_t{0}, size_t{1}, size_t{3});
  World w;
  for (const BadAnswer& bad : BadAnswers()) {
    w.server.options().handler = [&](const RogueRequest&) {
      RogueAnswer answer = bad.answer;
      if (!answer.body.empty()) answer.piece = piece;
      return answer;
    };
    grpc::Context context;
    ClientSide stream(w.channel(), kMethod, {}, &context);
    Check(bad, FinishOf(w, stream).status(), context);
  }
  CHECK(w.server.accepted() == 1);
  w.Close();
}

TEST_CASE("the body of an error page is no message, whatever its first bytes are") {
  World w;
  w.server.options().handler = [](const RogueRequest& request) {
    return Http(request.path() == kMethod ? 503 : 200, "text/html", "<html>Service Unavailable");
  };
  Unary& call = w.Call();
  CHECK(call.status().code() == StatusCode::kUnavailable);
  CHECK(Says(call.status(), "answered with HTTP status 503"));
  ClientSide stream(w.channel(), kMethod);
  CHECK(FinishOf(w, stream).status().message() == call.status().message());
  Unary& page = w.Start("hi", {}, {}, "/test.Service/Other");
  w.Until([&] { return page.done(); });
  CHECK(page.status().code() == StatusCode::kUnknown);
  CHECK(Says(page.status(), "answered with content-type \"text/html\", which is not gRPC"));
  w.Close();
}

TEST_CASE("a status in the head followed by a body counts for nothing, the trailers' does") {
  World w;
  w.server.options().handler = [](const RogueRequest&) {
    return With({{"grpc-status", "7"}, {"grpc-message", "of the head"}}, Answer(Wire("hello")));
  };
  Unary& call = w.Call();
  REQUIRE(call.status() == absl::OkStatus());
  CHECK(call.text() == "hello");
  w.Close();
}

TEST_CASE("a message that is not well encoded is delivered as far as it goes") {
  World w;
  w.server.options().handler = [](const RogueRequest&) {
    return Answer("", {{"grpc-status", "5"}, {"grpc-message", "50% of %zz%41"}});
  };
  CHECK(w.Call().status().message() == "50% of %zzA");
  w.Close();
}

TEST_CASE("a length above the limit fails from its five bytes, though the message never comes") {
  World w;
  const uint32_t size = GENERATE(1001u, 0xffffffffu);
  w.server.options().handler = [&](const RogueRequest&) {
    RogueAnswer answer = Answer(Prefix(0, size), {});
    answer.end = false;
    return answer;
  };
  const base::MonoTime start = w.env->Now();
  Unary& call = w.Call("hi", {.max_response_bytes = 1000});
  CHECK(call.status().code() == StatusCode::kResourceExhausted);
  CHECK(Says(call.status(), "max_response_bytes (1000)"));
  CHECK(call.error().host == kHost);
  ClientSide stream(w.channel(), kMethod, {.max_response_bytes = 1000});
  const absl::Status status = FinishOf(w, stream).status();
  CHECK(status.code() == StatusCode::kResourceExhausted);
  CHECK(status.message() == std::string(kHost) + " sent a message of " + std::to_string(size) +
                                " bytes, above the limit of 1000 bytes");
  CHECK(w.env->Now() - start < std::chrono::seconds(1));
  w.Until([&] { return w.server.open_streams() == 0; });
  for (const RogueRequest* request : w.server.requests()) CHECK(request->reset.has_value());

  w.server.options().handler = [](const RogueRequest&) { return Answer(Wire("fine")); };
  CHECK(w.Call().status() == absl::OkStatus());
  CHECK(w.server.accepted() == 1);
  w.Close();
}

TEST_CASE("a message of just the limit passes") {
  World w;
  const std::string text(1000, 'x');
  const size_t size = Wire(text).size() - 5;
  w.server.options().handler = [&](const RogueRequest&) { return Answer(Wire(text)); };
  CHECK(w.Call("hi", {.max_response_bytes = size}).text() == text);
  CHECK(w.Call("hi", {.max_response_bytes = size - 1}).status().code() ==
        StatusCode::kResourceExhausted);
  ClientSide stream(w.channel(), kMethod, {.max_response_bytes = size});
  CHECK(FinishOf(w, stream).value() == text);
  w.Close();
}

TEST_CASE("a bomb ends at the limit, and what inflates to no more is delivered") {
  World w;
  const auto [encoding, name] = GENERATE(table<grpc::Encoding, std::string>(
      {{grpc::Encoding::kGzip, "gzip"}, {grpc::Encoding::kDeflate, "deflate"}}));
  const std::string text(1 << 20, 'x');
  std::string bomb;
  REQUIRE(grpc::Compress(encoding, Message(text).SerializeAsString(), bomb).ok());
  REQUIRE(bomb.size() < 10'000);
  const HeaderList head = {{"grpc-encoding", name}};
  w.server.options().handler = [&](const RogueRequest&) {
    return With(head, Answer(GrpcMessage(bomb, 1)));
  };
  const std::string says =
      std::string(kHost) +
      " sent a message that is above the limit of 100000 bytes when decompressed";
  Unary& call = w.Call("hi", {.max_response_bytes = 100'000});
  CHECK(call.status().code() == StatusCode::kResourceExhausted);
  CHECK(call.status().message() == says);
  ClientSide stream(w.channel(), kMethod, {.max_response_bytes = 100'000});
  const absl::Status status = FinishOf(w, stream).status();
  CHECK(status.code() == StatusCode::kResourceExhausted);
  CHECK(status.message() == says);
  CHECK(w.Call().text() == text);
  ClientSide fine(w.channel(), kMethod);
  CHECK(FinishOf(w, fine).value() == text);
  w.Close();
}

}  // namespace
}  // namespace weft::testing
