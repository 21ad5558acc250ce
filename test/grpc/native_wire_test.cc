// Unary calls: what goes over the wire, and what is made of a good answer.
#include <string>

#include "grpc/codec.h"
#include "grpc/native_rig.h"
#include "http/grpc_wire.h"
#include "weft/grpc/status_details.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a unary call is a POST with the headers of gRPC and one message") {
  World w;
  w.server.options().handler = [](const RogueRequest&) { return Answer(Wire("hello")); };
  Unary& call = w.Call("hi", {.timeout = absl::Seconds(3)});
  REQUIRE(call.status() == absl::OkStatus());
  CHECK(call.text() == "hello");
  const RogueRequest& request = w.request();
  CHECK(request.method() == "POST");
  CHECK(request.header(":scheme") == "http");
  CHECK(request.path() == kMethod);
  CHECK(request.authority() == kHost);
  CHECK(request.header("te") == "trailers");
  CHECK(request.header("content-type") == "application/grpc");
  CHECK(request.header("grpc-accept-encoding") == "identity,deflate,gzip");
  CHECK(request.header("grpc-encoding").empty());
  CHECK(request.header("user-agent").starts_with("grpc-c++-weft/"));
  CHECK(request.header("content-length").empty());
  CHECK(request.header("x-request-timeout-ms").empty());
  CHECK(request.body == std::string("\0\0\0\0\4\x0a\2hi", 9));
  CHECK(request.trailers.empty());
  w.Close();
}

TEST_CASE("grpc-timeout is the time that remains, of each attempt anew") {
  World w;
  int requests = 0;
  w.server.options().handler = [&](const RogueRequest&) {
    if (++requests > 1) return Answer(Wire("hello"));
    return RogueAnswer{.delay = 2s, .head = false, .end = false, .reset = kRefusedStream};
  };
  Unary& call = w.Call("hi", {.timeout = absl::Seconds(10)});
  REQUIRE(call.status() == absl::OkStatus());
  CHECK(call.context.info.attempts == 2);
  const auto all = w.server.requests();
  REQUIRE(all.size() == 2);
  const auto first = http::ParseGrpcTimeout(all[0]->header("grpc-timeout"));
  const auto second = http::ParseGrpcTimeout(all[1]->header("grpc-timeout"));
  REQUIRE(first.has_value());
  REQUIRE(second.has_value());
  CHECK(*first <= absl::Seconds(10));
  CHECK(*first > absl::Seconds(9));
  CHECK(*second <= absl::Seconds(8));
  CHECK(*second > absl::Seconds(7));
  CHECK(all[1]->body == all[0]->body);
  w.Close();
}

TEST_CASE("without an end there is no grpc-timeout, and the channel's default counts as one") {
  World w;
  w.server.options().handler = [](const RogueRequest&) { return Answer(Wire("hello")); };
  w.Call("hi", {.timeout = absl::InfiniteDuration()});
  CHECK(w.request().header("grpc-timeout").empty());
  w.Call("hi");
  const auto timeout = http::ParseGrpcTimeout(w.request().header("grpc-timeout"));
  REQUIRE(timeout.has_value());
  CHECK(*timeout <= kDefaultTimeout);
  CHECK(*timeout > kDefaultTimeout - absl::Seconds(1));
  w.Close();
}

TEST_CASE("metadata goes out as text or base64 and comes back apart, before and after") {
  World w;
  w.server.options().handler = [](const RogueRequest&) {
    RogueAnswer answer = Answer(Wire("hello"), {{"grpc-status", "0"},
                                                {"after", "2"},
                                                {"after-bin", "AP8="},
                                                {"grpc-internal", "not for users"}});
    answer.headers.insert(answer.headers.end(),
                          {{"before", "1"}, {"before-bin", "AAE,Ag"}, {"bad-bin", "!!"}});
    return answer;
  };
  const std::string bytes("\0\xff", 2);
  grpc::Context context;
  context.metadata = {{"tenant", "7"}, {"Upper-Case", "x"}};
  context.metadata.Add("token-bin", bytes);
  context.metadata.Add("token-bin", "second");
  Unary& call = w.Call("hi", {}, std::move(context));
  REQUIRE(call.status() == absl::OkStatus());
  CHECK(w.request().header("tenant") == "7");
  CHECK(w.request().header("upper-case") == "x");
  HeaderList tokens;
  for (const auto& field : w.request().headers) {
    if (field.first == "token-bin") tokens.push_back(field);
  }
  CHECK(tokens == HeaderList{{"token-bin", "AP8"}, {"token-bin", "c2Vjb25k"}});

  const Headers& initial = call.context.initial_metadata;
  const Headers& trailing = call.context.trailing_metadata;
  CHECK(initial["before"] == "1");
  const auto values = initial.All("before-bin");
  REQUIRE(values.size() == 2);
  CHECK(values[0] == std::string_view("\0\1", 2));
  CHECK(values[1] == "\2");
  CHECK(initial.size() == 3);
  CHECK(trailing["after"] == "2");
  CHECK(trailing["after-bin"] == bytes);
  CHECK(trailing.size() == 2);
  CHECK(call.context.info.host == kHost);
  CHECK(call.context.info.attempts == 1);
  CHECK(call.context.info.body_bytes == Wire("hello").size());
  CHECK(call.context.metadata["tenant"] == "7");
  w.Close();
}

TEST_CASE("the status of the server is passed on as it is, with its details and as the peer's") {
  World w;
  const std::string details("\x08\x05\x12\0\xff", 5);
  const bool trailers_only = GENERATE(false, true);
  w.server.options().handler = [&](const RogueRequest&) {
    const HeaderList fields = {{"grpc-status", "5"},
                               {"grpc-message", "no %22caf%C3%A9%22, 50%25 of %"},
                               {"grpc-status-details-bin", "CAUSAP8"},
                               {"why", "not there"}};
    return trailers_only ? TrailersOnly(fields) : Answer("", fields);
  };
  Unary& call = w.Call();
  CHECK(call.status().code() == absl::StatusCode::kNotFound);
  CHECK(call.status().message() == "no \"caf\xc3\xa9\", 50% of %");
  CHECK(grpc::StatusDetails(call.status()) == details);
  CHECK(call.error().origin == Origin::kPeer);
  CHECK(call.error().processed == Processed::kMaybeProcessed);
  CHECK(call.error().host == kHost);
  CHECK(call.error().attempts == 1);
  CHECK(call.context.trailing_metadata["why"] == "not there");
  CHECK(call.context.initial_metadata.empty());
  w.Close();
}

TEST_CASE("each code of gRPC is passed on, even with a message before it") {
  World w;
  w.server.options().handler = [](const RogueRequest& request) {
    return Answer(Wire("too late"),
                  {{"grpc-status", std::string(request.header("code"))}, {"grpc-message", "why"}});
  };
  for (int code = 1; code <= 16; ++code) {
    grpc::Context context;
    context.metadata.Add("code", std::to_string(code));
    Unary& call = w.Call("hi", {}, std::move(context));
    CHECK(call.status().raw_code() == code);
    CHECK(call.status().message() == "why");
    CHECK(call.error().origin == Origin::kPeer);
  }
  CHECK(w.server.accepted() == 1);
  w.Close();
}

TEST_CASE("an empty message and one of a megabyte go both ways") {
  World w;
  w.server.options().handler = [](const RogueRequest& request) { return Answer(request.body); };
  for (const size_t size : {size_t{0}, size_t{1} << 20}) {
    const std::string text(size, 'x');
    Unary& call = w.Call(text);
    REQUIRE(call.status() == absl::OkStatus());
    CHECK(call.text() == text);
    CHECK(w.request().body == Wire(text));
  }
  w.Close();
}

TEST_CASE("a compressed request says so in its header and in its frame") {
  World w;
  const auto [compression, name, encoding] =
      GENERATE(table<grpc::Compression, std::string, grpc::Encoding>({
          {grpc::Compression::kGzip, "gzip", grpc::Encoding::kGzip},
          {grpc::Compression::kDeflate, "deflate", grpc::Encoding::kDeflate},
      }));
  const std::string encoding_name = name;
  w.server.options().handler = [&](const RogueRequest& request) {
    RogueAnswer answer = Answer(request.body);
    answer.headers.emplace_back("grpc-encoding", encoding_name);
    return answer;
  };
  const std::string text(10'000, 'x');
  grpc::Context context;
  context.compression = compression;
  Unary& call = w.Call(text, {}, context);
  REQUIRE(call.status() == absl::OkStatus());
  CHECK(call.text() == text);
  const RogueRequest& request = w.request();
  CHECK(request.header("grpc-encoding") == name);
  CHECK(request.body.size() < 1000);
  CHECK(request.body[0] == 1);
  CHECK(ReadU32(request.body, 1) == request.body.size() - 5);
  const std::string_view bytes = std::string_view(request.body).substr(5);
  CHECK(grpc::Decompress(encoding, absl::MakeConstSpan(&bytes, 1), 1 << 20).value() ==
        Message(text).SerializeAsString());

  // What would not become smaller is sent as it is.
  Unary& small = w.Call("x", {}, context);
  REQUIRE(small.status() == absl::OkStatus());
  CHECK(w.request().body == Wire("x"));
  w.Close();
}

Fire AskTwice(Channel& channel, std::vector<std::string>& texts, grpc::Context& context) {
  for (const char* text : {"one", "two"}) {
    absl::StatusOr<StringValue> reply = co_await grpc::Async<StringValue>(
        channel, kMethod, Message(text), {.timeout = absl::Seconds(5)}, &context);
    texts.push_back(reply.ok() ? reply->value() : reply.status().ToString());
  }
  absl::StatusOr<StringValue> refused =
      co_await grpc::Async<StringValue>(channel, "no method", Message("three"));
  texts.push_back(std::string(refused.status().message()));
}

TEST_CASE("a coroutine gets replies and refusals, and is cancelled by its destruction") {
  World w;
  w.server.options().handler = [](const RogueRequest& request) { return Answer(request.body); };
  std::vector<std::string> texts;
  grpc::Context context;
  const Fire coroutine = AskTwice(w.channel(), texts, context);
  w.Until([&] { return coroutine.handle.done(); });
  CHECK(texts == std::vector<std::string>{
                     "one", "two", "\"no method\" is no method: \"/package.Service/Method\""});
  CHECK(context.info.attempts == 1);
  coroutine.handle.destroy();

  w.server.options().handler = [](const RogueRequest&) { return RogueAnswer::Silence(); };
  texts.clear();
  const Fire suspended = AskTwice(w.channel(), texts, context);
  w.Until([&] { return w.server.open_streams() == 1; });
  suspended.handle.destroy();
  w.Until([&] { return w.server.open_streams() == 0; });
  CHECK(texts.empty());
  w.Close();
}

}  // namespace
}  // namespace weft::testing
