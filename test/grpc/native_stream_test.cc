// Streams of messages: the three kinds, callbacks and coroutines, wherever the messages are cut.
#include <string>
#include <vector>

#include "grpc/codec.h"
#include "grpc/native_rig.h"
#include "http/grpc_wire.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

TEST_CASE("a server stream sends one request and reads replies, however they are cut") {
  World w;
  const size_t piece = GENERATE(size_t{0}, size_t{1}, size_t{2}, size_t{7}, size_t{16'384});
  if (piece == 1) w.server.host().link.chunk = 1;  // each byte comes in a turn of its own
  // The whole in one DATA, or one of them in many.
  const size_t long_one = piece > 7 ? 100'000 : 300;
  const Texts texts = {"first", "", "third, longer", std::string(long_one, 'x'), "last"};
  std::string body;
  for (const std::string& text : texts) body += Wire(text);
  w.server.options().handler = [&](const RogueRequest&) {
    RogueAnswer answer = Answer(body, {{"grpc-status", "0"}, {"after", "2"}});
    answer.headers.emplace_back("before", "1");
    answer.piece = piece;
    return answer;
  };
  grpc::Context context;
  context.metadata = {{"tenant", "7"}};
  ServerSide stream(w.channel(), kMethod, Message("all"), {.timeout = absl::Seconds(50)}, &context);
  Reader<ServerSide> reader(stream);
  reader.Go();
  w.Until([&] { return reader.end; });
  CHECK(reader.texts == texts);
  CHECK(FinishOf(w, stream) == absl::OkStatus());
  CHECK(context.initial_metadata["before"] == "1");
  CHECK(context.trailing_metadata["after"] == "2");
  CHECK(context.info.host == kHost);
  CHECK(context.info.attempts == 1);
  CHECK(context.info.body_bytes == body.size());

  const RogueRequest& request = w.request();
  CHECK(request.method() == "POST");
  CHECK(request.path() == kMethod);
  CHECK(request.header("te") == "trailers");
  CHECK(request.header("content-type") == "application/grpc");
  CHECK(request.header("grpc-accept-encoding") == "identity,deflate,gzip");
  CHECK(request.header("tenant") == "7");
  CHECK(http::ParseGrpcTimeout(request.header("grpc-timeout")) <= absl::Seconds(50));
  CHECK(request.body == Wire("all"));
  w.Close();
}

TEST_CASE("a client stream sends messages and gets one reply") {
  World w;
  w.server.options().handler = [](const RogueRequest& request) {
    return request.body.empty() ? Answer(Wire("nothing")) : Answer(Wire("thanks"));
  };
  ClientSide stream(w.channel(), kMethod);
  for (const char* text : {"a", "b", "c"}) CHECK(WriteOf(w, stream, text).ok());
  w.env->RunFor(100ms);
  REQUIRE(w.server.request_count() == 1);
  CHECK_FALSE(w.request().complete);
  CHECK(FinishOf(w, stream).value() == "thanks");
  CHECK(w.request().body == Wire("a") + Wire("b") + Wire("c"));

  // WritesDone may be said before; none at all is fine too.
  ClientSide empty(w.channel(), kMethod);
  CHECK(empty.WritesDone().ok());
  CHECK(absl::IsFailedPrecondition(WriteOf(w, empty, "x")));
  CHECK(FinishOf(w, empty).value() == "nothing");
  w.Close();
}

TEST_CASE("a client stream needs one reply to be OK, and an error of the server goes first") {
  World w;
  const auto [replies, says] = GENERATE(table<int, std::string>(
      {{0, "without a message"}, {2, "more than one message"}, {9, "more than one message"}}));
  const std::string status = GENERATE(as<std::string>(), "0", "5");
  std::string body;
  for (int i = 0; i < replies; ++i) body += Wire("reply");
  w.server.options().handler = [&](const RogueRequest&) {
    return Answer(body, {{"grpc-status", status}, {"grpc-message", "why"}});
  };
  ClientSide stream(w.channel(), kMethod);
  const absl::Status end = FinishOf(w, stream).status();
  if (status == "0") {
    CHECK(end.code() == absl::StatusCode::kUnimplemented);
    CHECK(Says(end, says));
  } else {
    CHECK(end.code() == absl::StatusCode::kNotFound);
    CHECK(end.message() == "why");
  }
  w.Close();
}

TEST_CASE("messages go both ways in any order, and each comes before the next is asked for") {
  World w;
  Echo(w.server.options());
  grpc::Context context;
  Bidi stream(w.channel(), kMethod, {}, &context);
  Reader<Bidi> reader(stream);
  for (size_t i = 1; i <= 5; ++i) {
    CHECK(WriteOf(w, stream, "ping " + std::to_string(i)).ok());
    reader.Go(i);
    w.Until([&] { return reader.texts.size() == i; });
    CHECK(reader.texts.back() == "ping " + std::to_string(i));
  }
  // Many writes before the first read.
  for (int i = 0; i < 100; ++i) CHECK(WriteOf(w, stream, std::string(1000, 'x')).ok());
  CHECK(stream.WritesDone().ok());
  reader.Go();
  w.Until([&] { return reader.end; });
  CHECK(reader.texts.size() == 105);
  CHECK(FinishOf(w, stream) == absl::OkStatus());
  CHECK(context.info.attempts == 1);
  w.Close();
}

TEST_CASE("initial metadata is there before the first message, and more than once") {
  World w;
  w.server.options().answer_at_head = true;
  w.server.options().handler = [](const RogueRequest&) {
    RogueAnswer answer = HeadOnly();
    answer.headers.emplace_back("before-bin", "AAE");
    return answer;
  };
  grpc::Context context;
  Bidi stream(w.channel(), kMethod, {}, &context);
  for (int i = 0; i < 2; ++i) {
    std::optional<absl::Status> head;
    std::string before;
    stream.InitialMetadataThen([&](absl::Status status) {
      before = context.initial_metadata["before-bin"];
      head = std::move(status);
    });
    w.Until([&] { return head.has_value(); });
    CHECK(head->ok());
    CHECK(before == std::string("\0\1", 2));
  }
  CHECK(context.initial_metadata.size() == 1);
  w.server.last().SendTrailers(1, {{"grpc-status", "5"}, {"after", "2"}});
  CHECK(FinishOf(w, stream).code() == absl::StatusCode::kNotFound);
  CHECK(context.initial_metadata.size() == 1);
  CHECK(context.trailing_metadata["after"] == "2");
  w.Close();
}

TEST_CASE("initial metadata of a stream that ends without any, or is none of gRPC") {
  World w;
  const int kind = GENERATE(0, 1, 2);
  w.server.options().handler = [&](const RogueRequest&) {
    if (kind == 0) return TrailersOnly({{"grpc-status", "5"}, {"only", "1"}});
    if (kind == 1) return RogueAnswer{.status = 503, .body = "no"};
    return RogueAnswer::Reset(kInternalError);
  };
  grpc::Context context;
  ServerSide stream(w.channel(), kMethod, Message("all"), {}, &context);
  std::optional<absl::Status> head;
  stream.InitialMetadataThen([&](absl::Status status) { head = std::move(status); });
  w.Until([&] { return head.has_value(); });
  CHECK(context.initial_metadata.empty());
  const absl::Status end = FinishOf(w, stream);
  if (kind == 0) {
    CHECK(head->ok());  // there was a head, and nothing in it but the status
    CHECK(end.code() == absl::StatusCode::kNotFound);
    CHECK(context.initial_metadata.empty());
    CHECK(context.trailing_metadata["only"] == "1");
  } else if (kind == 1) {
    CHECK(head->code() == absl::StatusCode::kUnavailable);
    CHECK(end.code() == absl::StatusCode::kUnavailable);
  } else {
    CHECK(head->code() == absl::StatusCode::kInternal);
    CHECK(end.code() == absl::StatusCode::kInternal);
  }
  w.Close();
}

TEST_CASE("messages of a stream are compressed one by one and inflated as their flags say") {
  World w;
  w.server.options().handler = [](const RogueRequest& request) {
    RogueAnswer answer = Answer(request.body + Wire("plain") + request.body);
    answer.headers.emplace_back("grpc-encoding", "gzip");
    return answer;
  };
  grpc::Context context;
  context.compression = grpc::Compression::kGzip;
  Bidi stream(w.channel(), kMethod, {}, &context);
  const std::string text(5000, 'x');
  CHECK(WriteOf(w, stream, text).ok());
  CHECK(WriteOf(w, stream, "small").ok());
  CHECK(stream.WritesDone().ok());
  Reader<Bidi> reader(stream);
  reader.Go();
  w.Until([&] { return reader.end; });
  CHECK(reader.texts == Texts{text, "small", "plain", text, "small"});
  CHECK(w.request().header("grpc-encoding") == "gzip");
  CHECK(w.request().body[0] == 1);
  CHECK(w.request().body.ends_with(Wire("small")));
  CHECK(FinishOf(w, stream) == absl::OkStatus());
  w.Close();
}

TEST_CASE("messages that are bytes go through as they are") {
  World w;
  Echo(w.server.options());
  grpc::MessageStream stream(w.channel(), kMethod, {}, nullptr);
  std::string got = "of before";
  std::optional<absl::Status> written;
  stream.WriteThen(std::string_view("\0any\xff", 5), [&](absl::Status s) { written = s; });
  std::optional<bool> read;
  stream.ReadThen(&got, [&](bool there) { read = there; });
  w.Until([&] { return written.has_value() && read.has_value(); });
  CHECK(*read);
  CHECK(got == std::string("\0any\xff", 5));
  CHECK(stream.WritesDone().ok());
  CHECK(FinishOf(w, stream) == absl::OkStatus());

  grpc::MessageStream moved = std::move(stream);
  CHECK_FALSE(static_cast<bool>(stream));
  CHECK(static_cast<bool>(moved));
  CHECK(absl::IsFailedPrecondition(stream.WritesDone()));

  grpc::MessageStream one(w.channel(), kMethod, std::string_view("only"), {}, nullptr);
  std::optional<absl::Status> end;
  one.FinishWithThen(&got, [&](absl::Status s) { end = s; });
  w.Until([&] { return end.has_value(); });
  CHECK(*end == absl::OkStatus());
  CHECK(got == "only");
  w.Close();
}

Fire Chat(Channel& channel, Texts& said) {
  grpc::Context context;
  Bidi stream(channel, kMethod, {.timeout = absl::Seconds(30)}, &context);
  for (const char* text : {"one", "two"}) {
    const StringValue message = Message(text);
    const absl::Status written = co_await stream.WriteAsync(message);
    if (!written.ok()) break;
    if (std::optional<StringValue> reply = co_await stream.ReadAsync())
      said.push_back(reply->value());
  }
  (void)stream.WritesDone();
  said.push_back((co_await stream.InitialMetadataAsync()).ToString());
  said.push_back((co_await stream.ReadAsync()).has_value() ? "more" : "end");
  said.push_back((co_await stream.FinishAsync()).ToString());

  ClientSide sum(channel, kMethod);
  const StringValue message = Message("three");
  said.push_back((co_await sum.WriteAsync(message)).ToString());
  absl::StatusOr<StringValue> reply = co_await sum.FinishAsync();
  said.push_back(reply.ok() ? reply->value() : reply.status().ToString());

  ServerSide all(channel, kMethod, Message("four"));
  while (std::optional<StringValue> next = co_await all.ReadAsync()) said.push_back(next->value());
  said.push_back((co_await all.FinishAsync()).ToString());
}

TEST_CASE("a coroutine writes and reads streams of all kinds") {
  World w;
  Echo(w.server.options());
  Texts said;
  const Fire coroutine = Chat(w.channel(), said);
  w.Until([&] { return coroutine.handle.done(); });
  CHECK(said == Texts{"one", "two", "OK", "end", "OK", "OK", "three", "four", "OK"});
  coroutine.handle.destroy();

  // Destroyed while it waits for the second reply.
  said.clear();
  w.server.options().on_frame = nullptr;
  const Fire suspended = Chat(w.channel(), said);
  w.Until([&] { return w.server.open_streams() == 1; });
  w.env->RunFor(100ms);
  suspended.handle.destroy();
  w.Until([&] { return w.server.open_streams() == 0; });
  CHECK(said.empty());
  w.Close();
}

}  // namespace
}  // namespace weft::testing
