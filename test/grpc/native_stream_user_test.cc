// Streams of messages and their user: cancelling, destroying, the forms of each operation, and what
// is refused on this side.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "grpc/native_rig.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;
using absl::StatusCode;
using Texts = std::vector<std::string>;

TEST_CASE("Cancel ends a stream at every stage with CANCELLED, once") {
  const int stage = GENERATE(range(0, 5));
  INFO("stage " << stage);
  World w;
  w.server.options().answer_at_head = true;
  w.server.options().handler = [&](const RogueRequest&) {
    if (stage < 3) return RogueAnswer::Silence();
    RogueAnswer answer = HeadOnly();
    if (stage == 4) answer.body = Wire("one") + Wire("two");
    return answer;
  };
  grpc::Context context;
  Bidi stream(w.channel(), kMethod, {}, &context);
  Reader<Bidi> reader(stream);
  std::optional<absl::Status> head;
  if (stage >= 1) reader.Go(stage == 4 ? 1 : 10);
  if (stage >= 2) stream.InitialMetadataThen([&](absl::Status s) { head = std::move(s); });
  if (stage >= 2) w.env->RunFor(100ms);
  stream.Cancel();
  stream.Cancel();
  const absl::Status end = FinishOf(w, stream);
  CHECK(absl::IsCancelled(end));
  CHECK(GetCallError(end)->origin == Origin::kLocal);
  if (stage >= 1 && stage < 4) CHECK(reader.end);
  if (stage == 4) CHECK(reader.texts == Texts{"one"});
  if (stage >= 2) CHECK(head.has_value());
  CHECK_FALSE(WriteOf(w, stream, "late").ok());
  w.env->RunFor(100ms);
  CHECK(w.server.open_streams() == 0);
  w.Close();
}

TEST_CASE("destroying a stream silences its callbacks and resets it") {
  World w;
  w.server.options().handler = [](const RogueRequest&) { return RogueAnswer::Silence(); };
  bool ran = false;
  {
    Bidi stream(w.channel(), kMethod);
    stream.InitialMetadataThen([&](auto) { ran = true; });
    stream.ReadThen([&](auto) { ran = true; });
    stream.FinishThen([&](auto) { ran = true; });
    w.Until([&] { return w.server.open_streams() == 1; });
  }
  w.env->RunFor(1s);
  CHECK_FALSE(ran);
  CHECK(w.server.open_streams() == 0);
  w.Close();
}

TEST_CASE("a stream may be destroyed in each of its callbacks") {
  const int which = GENERATE(range(0, 6));
  INFO("callback " << which);
  World w;
  w.server.options().handler = [&](const RogueRequest&) {
    return which == 5 ? Answer(Prefix(9, 0)) : Answer(Wire("one") + Wire("two"));
  };
  bool ran = false;
  auto stream = std::make_unique<Bidi>(w.channel(), kMethod);
  auto upload = std::make_unique<ClientSide>(w.channel(), kMethod);
  const auto destroy = [&](auto&&) {
    ran = true;
    stream.reset();
    upload.reset();
  };
  Reader<Bidi> reader(*stream);
  switch (which) {
    case 0:
      stream->InitialMetadataThen(destroy);
      break;
    case 1:
    case 5:
      stream->ReadThen(destroy);
      break;
    case 2:
      stream->FinishThen(destroy);
      break;
    case 3:
      upload->FinishThen(destroy);
      break;
    case 4:
      stream->ReadThen([&](auto) { stream->ReadThen(destroy); });  // this one is there already
      break;
    default:
      break;
  }
  if (which != 2 && which != 3) CHECK(stream->WritesDone().ok());  // Finish says it by itself
  w.Until([&] { return ran; });
  w.env->RunFor(1s);
  CHECK(w.server.open_streams() == 0);
  auto writer = std::make_unique<Bidi>(w.channel(), kMethod);
  writer->WriteThen(Message("x"), [&](auto) { writer.reset(); });
  w.Until([&] { return writer == nullptr; });
  w.env->RunFor(1s);
  CHECK(w.server.open_streams() == 0);
  w.Close();
}

TEST_CASE("a message above the limit of requests ends its stream, with the peer's side reset") {
  World w;
  w.server.options().answer_at_head = true;
  w.server.options().handler = [](const RogueRequest&) { return HeadOnly(); };
  grpc::Context context;
  context.max_request_bytes = 10;
  Bidi stream(w.channel(), kMethod, {}, &context);
  CHECK(WriteOf(w, stream, "12345678").ok());
  w.env->RunFor(100ms);
  const absl::Status written = WriteOf(w, stream, "123456789");
  CHECK(written.message() == "the message to be sent has 11 bytes, and the limit is 10");
  const absl::Status end = FinishOf(w, stream);
  CHECK(end.code() == StatusCode::kResourceExhausted);
  CHECK(end.message() == written.message());
  CHECK(GetCallError(end)->processed == Processed::kMaybeProcessed);
  CHECK(GetCallError(end)->host == kHost);
  CHECK(w.request().body == Wire("12345678"));
  w.env->RunFor(100ms);
  CHECK(w.server.open_streams() == 0);
  ServerSide refused(w.channel(), kMethod, Message("123456789"), {}, &context);
  CHECK(FinishOf(w, refused).message() == written.message());
  CHECK(w.server.request_count() == 1);
  w.Close();
}

TEST_CASE("the blocking forms give what is there at once, and are refused on a loop") {
  World w;
  w.server.options().handler = [](const RogueRequest&) {
    return Answer(Wire("one") + Wire("two"), {{"grpc-status", "5"}, {"grpc-message", "gone"}});
  };
  const auto refused = [](absl::Status status) {
    CHECK(absl::IsFailedPrecondition(status));
    CHECK(Says(status, "loop thread"));
  };
  Bidi stream(w.channel(), kMethod);
  CHECK(stream.Write(Message("x")).ok());  // there is room, so it does not wait
  CHECK(stream.WritesDone().ok());
  CHECK_FALSE(stream.Write(Message("y")).ok());
  bool ran = false;
  stream.InitialMetadataThen([&](absl::Status) {
    refused(stream.InitialMetadata());
    refused(stream.Write(Message("x")));
    refused(stream.Finish());
    refused(grpc::Call<StringValue>(w.channel(), kMethod, Message("x")).status());
    ran = true;
  });
  w.env->RunFor(1s);
  REQUIRE(ran);
  CHECK(stream.InitialMetadata().ok());
  CHECK(stream.Read()->value() == "one");
  CHECK(stream.Read()->value() == "two");
  CHECK_FALSE(stream.Read().has_value());
  CHECK(stream.Finish().message() == "gone");
  ClientSide upload(w.channel(), kMethod);
  CHECK(upload.Write(Message("x")).ok());
  CHECK(upload.WritesDone().ok());
  w.env->RunFor(1s);
  CHECK(upload.Finish().status().message() == "gone");
  CHECK(absl::IsInvalidArgument(
      grpc::Call<StringValue>(w.channel(), "no method", Message("x")).status()));
  w.Close();
}

TEST_CASE("with an executor, the callbacks of gRPC calls run there and nowhere else") {
  World w;
  w.server.options().handler = [](const RogueRequest&) { return Answer(Wire("hello")); };
  std::vector<absl::AnyInvocable<void() &&>> queue;
  const Executor executor = [&](absl::AnyInvocable<void() &&> closure) {
    queue.push_back(std::move(closure));
  };
  Unary& call = w.Start("hi", {.executor = &executor});
  ServerSide stream(w.channel(), kMethod, Message("all"), {.executor = &executor});
  Reader<ServerSide> reader(stream);
  reader.Go();
  w.env->RunFor(1s);
  CHECK_FALSE(call.done());
  CHECK(reader.texts.empty());
  REQUIRE(queue.size() == 2);
  for (int turn = 0; turn < 10 && !reader.end; ++turn) {
    for (auto& closure : std::exchange(queue, {})) std::move(closure)();
    w.env->RunFor(10ms);
  }
  CHECK(call.text() == "hello");
  CHECK(reader.texts == Texts{"hello"});
  CHECK(reader.end);
  w.Close();
}

TEST_CASE("the context is filled before each result is given") {
  World w;
  w.server.options().handler = [](const RogueRequest&) {
    RogueAnswer answer = Answer(Wire("one"), {{"grpc-status", "5"}, {"after", "2"}});
    answer.headers.emplace_back("before", "1");
    return answer;
  };
  grpc::Context context;
  ServerSide stream(w.channel(), kMethod, Message("all"), {}, &context);
  std::string seen;
  stream.ReadThen([&](auto) {
    seen += std::string(context.initial_metadata["before"]);
    stream.FinishThen(
        [&](auto) { seen += std::string(context.trailing_metadata["after"]) + context.info.host; });
  });
  w.Until([&] { return seen.size() > 1; });
  CHECK(seen == std::string("12") + kHost);
  w.Close();
}

}  // namespace
}  // namespace weft::testing
