// How streams of messages end by what the server does, and what waits meanwhile.
#include <functional>
#include <string>
#include <vector>

#include "grpc/native_rig.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;
using absl::StatusCode;
using Texts = std::vector<std::string>;

TEST_CASE("good messages before a bad one are delivered, then the stream is reset") {
  World w;
  // All in one piece or each byte by itself, and nothing behind it, the end neither.
  const size_t piece = GENERATE(size_t{0}, size_t{1});
  const auto [bad, code] = GENERATE(
      table<std::string, StatusCode>({{Prefix(7, 1), StatusCode::kInternal},
                                      {Prefix(0, 0xffffffff), StatusCode::kResourceExhausted},
                                      {Prefix(1, 0), StatusCode::kInternal},
                                      {Prefix(0, 1) + "x", StatusCode::kInternal}}));
  const std::string body = Wire("one") + Wire("two") + bad;
  w.server.options().handler = [&](const RogueRequest&) {
    RogueAnswer answer = Answer(body, {});
    answer.piece = piece;
    answer.end = false;
    return answer;
  };
  ServerSide stream(w.channel(), kMethod, Message("all"));
  Reader<ServerSide> reader(stream);
  reader.Go();
  REQUIRE(w.env->RunUntil([&] { return reader.end; }, 1s));
  CHECK(reader.texts == Texts{"one", "two"});
  w.Until([&] { return w.server.open_streams() == 0; });
  CHECK(w.request().reset == kCancel);
  const absl::Status end = FinishOf(w, stream);
  CHECK(end.code() == code);
  CHECK(Says(end, std::string(kHost) + " sent a "));
  // It stays so.
  CHECK(FinishOf(w, stream) == end);
  Reader<ServerSide> again(stream);
  again.Go();
  w.Until([&] { return again.end; });
  CHECK(again.texts.empty());
  w.Close();
}

TEST_CASE("a body that ends inside a message gives the ones before it and an error") {
  World w;
  w.server.options().handler = [](const RogueRequest&) {
    return Answer(Wire("one") + Wire("two").substr(0, 6));
  };
  ServerSide stream(w.channel(), kMethod, Message("all"));
  Reader<ServerSide> reader(stream);
  reader.Go();
  w.Until([&] { return reader.end; });
  CHECK(reader.texts == Texts{"one"});
  const absl::Status end = FinishOf(w, stream);
  CHECK(end.code() == StatusCode::kInternal);
  CHECK(Says(end, "ended the body inside a message: 1 of 5 bytes came"));
  CHECK(GetCallError(end)->origin == Origin::kConnection);
  w.Close();
}

TEST_CASE("an error of the server goes before a truncated body, and has the metadata") {
  World w;
  w.server.options().handler = [](const RogueRequest&) {
    return Answer(Wire("one").substr(0, 6), {{"grpc-status", "13"}, {"grpc-message", "crashed"}});
  };
  ServerSide stream(w.channel(), kMethod, Message("all"));
  Reader<ServerSide> reader(stream);
  reader.Go();
  w.Until([&] { return reader.end; });
  const absl::Status end = FinishOf(w, stream);
  CHECK(end.message() == "crashed");
  CHECK(GetCallError(end)->origin == Origin::kPeer);
  w.Close();
}

TEST_CASE("Finish throws away what was not read and says the status of the trailers") {
  World w;
  w.server.options().handler = [](const RogueRequest&) {
    return Answer(Wire("one") + Wire("two"),
                  {{"grpc-status", "11"}, {"grpc-message", "enough"}, {"after", "2"}});
  };
  grpc::Context context;
  Bidi stream(w.channel(), kMethod, {}, &context);
  CHECK(WriteOf(w, stream, "x").ok());
  const absl::Status end = FinishOf(w, stream);  // completes the request too
  CHECK(end.code() == StatusCode::kOutOfRange);
  CHECK(end.message() == "enough");
  CHECK(context.trailing_metadata["after"] == "2");
  CHECK(w.request().complete);
  w.Close();
}

TEST_CASE("a server that ends early ends the writes, and Finish says why") {
  World w;
  w.server.options().answer_at_head = true;
  w.server.options().handler = [](const RogueRequest&) {
    return TrailersOnly({{"grpc-status", "7"}, {"grpc-message", "not you"}});
  };
  Bidi stream(w.channel(), kMethod);
  absl::Status written;
  for (int i = 0; i < 100 && written.ok(); ++i) {
    written = WriteOf(w, stream, std::string(1000, 'x'));
    w.env->RunFor(1ms);
  }
  CHECK_FALSE(written.ok());
  const absl::Status end = FinishOf(w, stream);
  CHECK(end.code() == StatusCode::kPermissionDenied);
  CHECK(end.message() == "not you");
  w.Until([&] { return w.server.open_streams() == 0; });

  // OK as well: that the server does not want the rest is no error.
  w.server.options().handler = [](const RogueRequest&) { return Answer(Wire("enough")); };
  ClientSide upload(w.channel(), kMethod);
  CHECK(WriteOf(w, upload, "x").ok());
  w.env->RunFor(100ms);
  CHECK_FALSE(WriteOf(w, upload, "y").ok());
  CHECK(FinishOf(w, upload).value() == "enough");
  w.Until([&] { return w.server.open_streams() == 0; });
  w.Close();
}

TEST_CASE("a writer waits where the server takes nothing, and its deadline frees it") {
  World w;
  w.server.options().return_windows = false;
  w.server.options().settings = {{kInitialWindowSize, 1000}};
  Bidi stream(w.channel(), kMethod, {.timeout = absl::Seconds(5)});
  int done = 0;
  absl::Status last;
  std::function<void()> write = [&] {
    stream.WriteThen(Message(std::string(10'000, 'x')), [&](absl::Status status) {
      last = status;
      if (!status.ok()) return;
      ++done;
      write();
    });
  };
  write();
  w.env->RunFor(1s);
  CHECK(done >= 6);
  CHECK(done <= 8);
  w.env->RunFor(5s);
  CHECK(absl::IsDeadlineExceeded(last));
  CHECK(absl::IsDeadlineExceeded(FinishOf(w, stream)));
  w.Close();
}

TEST_CASE("a reader that does not read stops the sender, and gets all once it reads") {
  ChannelFactory::Options options;
  options.connection.stream_window = options.connection.max_stream_window = 65'535;
  World w(options);
  std::string body;
  for (int i = 0; i < 400; ++i) body += Wire(std::string(5000, 'x'));
  w.server.options().handler = [&](const RogueRequest&) { return Answer(body); };
  ServerSide stream(w.channel(), kMethod, Message("all"));
  Reader<ServerSide> reader(stream);
  reader.Go(1);
  w.env->RunFor(5s);
  CHECK(reader.texts.size() == 1);
  // The window, and what was given back for the first piece.
  CHECK(w.server.last().blocked_bytes() > body.size() - 2 * 65'535);
  Unary& other = w.Start();
  w.server.options().handler = [](const RogueRequest&) { return Answer(Wire("hello")); };
  w.Until([&] { return other.done(); });
  CHECK(other.status() == absl::OkStatus());
  reader.Go();
  w.Until([&] { return reader.end; });
  CHECK(reader.texts.size() == 400);
  CHECK(FinishOf(w, stream) == absl::OkStatus());
  w.Close();
}

TEST_CASE("a stream that was refused unprocessed is sent again with all that was written") {
  World w;
  int requests = 0;
  w.server.options().handler = [&](const RogueRequest& request) {
    return ++requests == 1 ? RogueAnswer::Refused() : Answer(request.body);
  };
  grpc::Context context;
  Bidi stream(w.channel(), kMethod, {}, &context);
  CHECK(WriteOf(w, stream, "one").ok());
  CHECK(WriteOf(w, stream, "two").ok());
  CHECK(stream.WritesDone().ok());
  Reader<Bidi> reader(stream);
  reader.Go();
  w.Until([&] { return reader.end; });
  CHECK(reader.texts == Texts{"one", "two"});
  CHECK(FinishOf(w, stream) == absl::OkStatus());
  CHECK(context.info.attempts == 2);
  w.Close();
}

}  // namespace
}  // namespace weft::testing
