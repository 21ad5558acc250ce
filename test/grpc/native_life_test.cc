// Unary calls: what is refused before it is sent, what is tried again, how a call is ended.
#include <string>
#include <utility>

#include "grpc/native_rig.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;
using absl::StatusCode;

TEST_CASE("a method that is none and metadata that gRPC does not allow are refused, unsent") {
  World w;
  const std::string method =
      GENERATE(as<std::string>(), "", "/", "//", "Method", "test.Service/Method", "/test.Service",
               "/test.Service/", "//Method", "/a b/c", "/a/b\n", "*");
  INFO(method);
  Unary& bad = w.Start("hi", {}, {}, method);
  CHECK_FALSE(bad.done());  // never within the call that passes the callback
  w.Until([&] { return bad.done(); });
  CHECK(bad.status().code() == StatusCode::kInvalidArgument);
  CHECK(bad.error().origin == Origin::kLocal);
  CHECK(bad.error().processed == Processed::kNotSent);
  CHECK(bad.error().attempts == 0);

  ClientSide stream(w.channel(), method);
  const absl::Status status = FinishOf(w, stream).status();
  CHECK(status.code() == StatusCode::kInvalidArgument);
  CHECK(status.message() == bad.status().message());
  CHECK(w.server.request_count() == 0);
  w.Close();
}

TEST_CASE("bad metadata is named and never sent, its value is not told") {
  World w;
  const std::string name = GENERATE(as<std::string>(), "grpc-timeout", "te", "content-type",
                                    "user-agent", ":path", "a b", "", "connection");
  grpc::Context context;
  context.metadata = {{"fine", "1"}};
  context.metadata.Add(name, "secret");
  Unary& call = w.Call("hi", {}, context);
  CHECK(call.status().code() == StatusCode::kInvalidArgument);
  CHECK(Says(call.status(), "metadata \"" + name + "\": "));
  CHECK_FALSE(Says(call.status(), "secret"));
  CHECK(call.error().processed == Processed::kNotSent);
  Bidi stream(w.channel(), kMethod, {}, &context);
  Reader<Bidi> reader(stream);
  reader.Go();
  CHECK(FinishOf(w, stream).message() == call.status().message());
  CHECK(reader.end);
  CHECK_FALSE(WriteOf(w, stream, "x").ok());
  CHECK(w.server.request_count() == 0);
  w.Close();
}

TEST_CASE("a value that is no text is refused unless its name ends in -bin") {
  World w;
  w.server.options().handler = [](const RogueRequest&) { return Answer(Wire("hello")); };
  grpc::Context context;
  context.metadata.Add("key", "a\nb");
  CHECK(w.Call("hi", {}, context).status().code() == StatusCode::kInvalidArgument);
  context.metadata.Clear();
  context.metadata.Add("key-bin", "a\nb");
  CHECK(w.Call("hi", {}, context).status() == absl::OkStatus());
  CHECK(w.server.request_count() == 1);
  w.Close();
}

TEST_CASE("a request above its limit is not sent") {
  World w;
  w.server.options().handler = [](const RogueRequest&) { return Answer(Wire("hello")); };
  grpc::Context context;
  context.max_request_bytes = 10;
  CHECK(w.Call("12345678", {}, context).status() == absl::OkStatus());
  Unary& call = w.Call("123456789", {}, context);
  CHECK(call.status().code() == StatusCode::kResourceExhausted);
  CHECK(call.status().message() == "the message to be sent has 11 bytes, and the limit is 10");
  CHECK(call.error().origin == Origin::kLocal);
  CHECK(call.error().processed == Processed::kNotSent);
  CHECK(w.server.request_count() == 1);
  w.Close();
}

TEST_CASE("Cancel ends a call with CANCELLED and its stream with a reset") {
  World w;
  w.server.options().handler = [](const RogueRequest&) { return RogueAnswer::Silence(); };
  Unary& call = w.Start();
  w.Until([&] { return w.server.open_streams() == 1; });
  call.handle.Cancel();
  w.Until([&] { return call.done(); });
  CHECK(call.status().code() == StatusCode::kCancelled);
  CHECK(call.error().origin == Origin::kLocal);
  CHECK(call.error().processed == Processed::kMaybeProcessed);
  CHECK(call.context.info.host == kHost);
  CHECK(call.context.info.attempts == 1);
  w.Until([&] { return w.server.open_streams() == 0; });
  CHECK(w.request().reset == kCancel);
  w.Close();
}

TEST_CASE("the deadline ends a call, with the head and half of a reply there as well") {
  World w;
  w.server.options().handler = [](const RogueRequest&) {
    RogueAnswer answer = Answer(Wire("hello").substr(0, 8), {});
    answer.headers.emplace_back("before", "1");
    answer.end = false;
    return answer;
  };
  grpc::Context context;
  context.trailing_metadata = {{"old", "of a call before"}};
  const base::MonoTime start = w.env->Now();
  Unary& call = w.Call("hi", {.timeout = absl::Seconds(2)}, std::move(context));
  CHECK(call.status().code() == StatusCode::kDeadlineExceeded);
  CHECK(w.env->Now() - start >= 2s);
  CHECK(w.env->Now() - start < 2100ms);
  CHECK(call.context.info.host == kHost);
  CHECK(call.context.trailing_metadata.empty());
  w.Until([&] { return w.server.open_streams() == 0; });
  CHECK(w.request().reset.has_value());
  w.Close();
}

TEST_CASE("a deadline that has passed sends nothing") {
  World w;
  Unary& call = w.Call("hi", {.timeout = absl::ZeroDuration()});
  CHECK(call.status().code() == StatusCode::kDeadlineExceeded);
  CHECK(call.error().processed == Processed::kNotSent);
  CHECK(w.server.request_count() == 0);
  w.Close();
}

TEST_CASE("destroying the handle cancels without a word") {
  World w;
  w.server.options().handler = [](const RogueRequest&) { return RogueAnswer::Silence(); };
  Unary& call = w.Start();
  w.Until([&] { return w.server.open_streams() == 1; });
  call.handle.Reset();
  w.Until([&] { return w.server.open_streams() == 0; });
  w.env->RunFor(1s);
  CHECK_FALSE(call.done());
  w.Close();
}

TEST_CASE("the end of the factory ends calls with CANCELLED, and later ones at once") {
  World w;
  w.server.options().handler = [](const RogueRequest&) { return RogueAnswer::Silence(); };
  auto other = ChannelFactory::Create({.loops = 1, .env = w.env}).value();
  auto channel = other->GetChannel(std::string("static:") + kHost).value();
  std::optional<absl::Status> ends[2];
  const auto call = [&](size_t i) {
    return grpc::Start<StringValue>(*channel, kMethod, Message("hi"), {},
                                    [&, i](auto reply) { ends[i] = reply.status(); });
  };
  const CallHandle first = call(0);
  w.Until([&] { return w.server.open_streams() == 1; });
  other.reset();
  const CallHandle second = call(1);
  w.Until([&] { return ends[0].has_value() && ends[1].has_value(); });
  CHECK(absl::IsCancelled(*ends[0]));
  CHECK(absl::IsCancelled(*ends[1]));
  CHECK(w.server.request_count() == 1);
}

TEST_CASE("what was refused unprocessed is sent again once, by itself") {
  World w;
  int refusals = GENERATE(1, 1000);
  const int refused = refusals;
  w.server.options().handler = [&](const RogueRequest&) {
    return refusals-- > 0 ? RogueAnswer::Refused() : Answer(Wire("hello"));
  };
  Unary& call = w.Call();
  if (refused == 1) {
    REQUIRE(call.status() == absl::OkStatus());
    CHECK(call.context.info.attempts == 2);
  } else {
    CHECK(call.status().code() == StatusCode::kUnavailable);
    CHECK(call.error().processed == Processed::kRefused);
    CHECK(call.error().origin == Origin::kPeer);
    CHECK(call.context.info.attempts == call.error().attempts);
  }
  CHECK(w.server.accepted() == 1);
  w.Close();
}

TEST_CASE("a call that a GOAWAY left out goes to the next connection") {
  World w;
  w.server.options().handler = [&](const RogueRequest& request) {
    if (request.connection != w.server.connection(0).id()) return Answer(Wire("hello"));
    w.server.last().SendGoaway(0);
    return RogueAnswer::Silence();
  };
  Unary& call = w.Call();
  REQUIRE(call.status() == absl::OkStatus());
  CHECK(call.context.info.attempts == 2);
  CHECK(w.server.accepted() == 2);
  w.Close();
}

TEST_CASE("a lost connection fails a call that may have been processed, not an idempotent one") {
  World w;
  w.server.options().handler = [&](const RogueRequest& request) {
    if (request.connection != w.server.connection(0).id()) return Answer(Wire("hello"));
    w.server.last().stream().Reset();
    return RogueAnswer::Silence();
  };
  const bool idempotent = GENERATE(false, true);
  Unary& call = w.Call("hi", {.idempotent = idempotent});
  CHECK(call.status().ok() == idempotent);
  if (idempotent) {
    CHECK(call.context.info.attempts == 2);
  } else {
    CHECK(call.status().code() == StatusCode::kUnavailable);
    CHECK(call.error().processed == Processed::kMaybeProcessed);
    CHECK(call.error().origin == Origin::kConnection);
  }
  w.Close();
}

TEST_CASE("an error that the server named is not tried again, idempotent or not") {
  World w;
  w.server.options().handler = [](const RogueRequest&) {
    return TrailersOnly({{"grpc-status", "14"}, {"grpc-message", "full"}});
  };
  Unary& call = w.Call("hi", {.idempotent = true});
  CHECK(call.status().code() == StatusCode::kUnavailable);
  CHECK(call.status().message() == "full");
  CHECK(w.server.request_count() == 1);
  w.Close();
}

TEST_CASE("a reset has the code of its table") {
  World w;
  const auto [reset, code] = GENERATE(table<uint32_t, StatusCode>({
      {kNoError, StatusCode::kInternal},
      {kProtocolError, StatusCode::kInternal},
      {kInternalError, StatusCode::kInternal},
      {kFlowControlError, StatusCode::kInternal},
      {kStreamClosed, StatusCode::kInternal},
      {kCancel, StatusCode::kCancelled},
      {kEnhanceYourCalm, StatusCode::kResourceExhausted},
      {kInadequateSecurity, StatusCode::kPermissionDenied},
  }));
  const uint32_t sent = reset;
  // Before anything came, and behind a head and a whole message.
  for (const bool head : {false, true}) {
    INFO(reset << (head ? " with a head" : ""));
    w.server.options().handler = [&](const RogueRequest&) {
      if (!head) return RogueAnswer::Reset(sent);
      RogueAnswer answer = Answer(Wire("hello"), {});
      answer.end = false;
      answer.reset = sent;
      return answer;
    };
    Unary& call = w.Call();
    CHECK(call.status().code() == code);
    CHECK(call.error().origin == Origin::kPeer);
  }
  CHECK(w.server.accepted() == 1);
  w.Close();
}

}  // namespace
}  // namespace weft::testing
