// What the tests of native gRPC calls have in common: a client and a rogue server in a simulation,
// calls whose ends are kept, readers, and answers as a gRPC server gives them. Messages are
// google.protobuf.StringValue, which every protobuf brings along.
//
//   World w;
//   w.server.options().handler = [](const RogueRequest&) { return Answer(Wire("hello")); };
//   Unary& call = w.Call("hi");           // runs until it has ended
//   CHECK(call.text() == "hello");        // or call.status(), call.error(), call.context
#ifndef WEFT_TEST_GRPC_NATIVE_RIG_H_
#define WEFT_TEST_GRPC_NATIVE_RIG_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "google/protobuf/wrappers.pb.h"
#include "support/catch.h"
#include "support/rogue_server.h"
#include "support/says.h"
#include "support/sim_client.h"
#include "weft/grpc.h"

namespace weft::inline v0::testing {

using google::protobuf::StringValue;
using Bidi = grpc::BidiStream<StringValue, StringValue>;
using ServerSide = grpc::ServerStream<StringValue>;
using ClientSide = grpc::ClientStream<StringValue, StringValue>;

inline constexpr char kHost[] = "10.0.0.1:80";
inline constexpr char kMethod[] = "/test.Service/Method";

inline StringValue Message(std::string_view text) {
  StringValue message;
  message.set_value(std::string(text));
  return message;
}

// A message as it is on the wire.
inline std::string Wire(std::string_view text) {
  return GrpcMessage(Message(text).SerializeAsString());
}
// Five bytes that announce a message.
inline std::string Prefix(uint8_t flag, uint32_t size) {
  return std::string(1, static_cast<char>(flag)) + BigEndian(size, 4);
}

// A gRPC server's answer. Without trailers and body, the headers are all there is.
inline RogueAnswer Answer(std::string body, HeaderList trailers = {{"grpc-status", "0"}}) {
  return {.headers = {{"content-type", "application/grpc"}},
          .body = std::move(body),
          .trailers = std::move(trailers)};
}
inline RogueAnswer TrailersOnly(HeaderList fields) {
  fields.insert(fields.begin(), {"content-type", "application/grpc"});
  return {.headers = std::move(fields)};
}
// Only the head: the rest is to come from the test.
inline RogueAnswer HeadOnly() {
  return {.headers = {{"content-type", "application/grpc"}}, .end = false};
}

// A call of one message each way.
struct Unary {
  grpc::Context context;
  std::optional<absl::StatusOr<StringValue>> result;
  int ends = 0;
  CallHandle handle;

  bool done() const { return result.has_value(); }
  const absl::Status& status() const { return result.value().status(); }
  const std::string& text() const { return result.value().value().value(); }
  CallError error() const { return GetCallError(status()).value_or(CallError{}); }
};

struct World {
  explicit World(ChannelFactory::Options options = {})
      : client(env, std::string("static:") + kHost, std::move(options)) {}

  std::shared_ptr<SimEnv> env = std::make_shared<SimEnv>();
  RogueServer server{*env, kHost};
  SimClient client;
  std::deque<Unary> calls;

  Channel& channel() { return client.channel(); }
  Unary& Start(std::string_view text = "hi", const CallOptions& options = {},
               grpc::Context context = {}, std::string_view method = kMethod) {
    Unary& call = calls.emplace_back();
    call.context = std::move(context);
    call.handle = grpc::Start<StringValue>(
        channel(), method, Message(text), options,
        [&call](absl::StatusOr<StringValue> result) {
          ++call.ends;
          call.result = std::move(result);
        },
        &call.context);
    return call;
  }
  Unary& Call(std::string_view text = "hi", const CallOptions& options = {},
              grpc::Context context = {}) {
    Unary& call = Start(text, options, std::move(context));
    Until([&] { return call.done(); });
    return call;
  }
  template <class Predicate>
  void Until(Predicate predicate) {
    REQUIRE(env->RunUntil(predicate, std::chrono::seconds(60)));
  }
  // What the server got; the newest.
  const RogueRequest& request() { return *server.requests().at(server.requests().size() - 1); }
  // Nothing is left behind, and the client kept to the rules.
  void Close() {
    CHECK(server.violations() == std::vector<std::string>{});
    CHECK(client.Close());
    for (const Unary& call : calls) CHECK(call.ends <= 1);
  }
};

// Reads a stream to its end; stops before after a number of messages, where one is given.
template <class Stream>
struct Reader {
  explicit Reader(Stream& s) : stream(s) {}
  void Go(size_t most = SIZE_MAX) {
    if (texts.size() >= most) return;
    stream.ReadThen([this, most](std::optional<StringValue> message) {
      if (!message.has_value()) {
        end = true;
        return;
      }
      texts.push_back(message->value());
      Go(most);
    });
  }
  Stream& stream;
  std::vector<std::string> texts;
  bool end = false;
};

template <class Stream>
absl::Status FinishOf(World& w, Stream& stream) {
  std::optional<absl::Status> end;
  stream.FinishThen([&](absl::Status status) { end = std::move(status); });
  w.Until([&] { return end.has_value(); });
  return *end;
}

inline absl::StatusOr<std::string> FinishOf(World& w, ClientSide& stream) {
  std::optional<absl::StatusOr<StringValue>> end;
  stream.FinishThen([&](absl::StatusOr<StringValue> reply) { end = std::move(reply); });
  w.Until([&] { return end.has_value(); });
  if (!end->ok()) return end->status();
  return (*end)->value();
}

template <class Stream>
absl::Status WriteOf(World& w, Stream& stream, std::string_view text) {
  std::optional<absl::Status> written;
  stream.WriteThen(Message(text), [&](absl::Status status) { written = std::move(status); });
  w.Until([&] { return written.has_value(); });
  return *written;
}

// The server sends back what it gets, DATA by DATA.
inline void Echo(RogueOptions& options) {
  options.answer_at_head = true;
  options.handler = [](const RogueRequest&) { return HeadOnly(); };
  options.on_frame = [](RogueConnection& c, const Frame& frame) {
    if (frame.type != kData) return false;
    const std::string bytes = Content(frame).value();
    if (!bytes.empty()) c.SendBody(frame.stream, bytes);
    if (frame.has(kEndStream)) c.SendTrailers(frame.stream, {{"grpc-status", "0"}});
    return false;
  };
}

// The smallest coroutine type there is: starts at once, nobody awaits it.
struct Fire {
  struct promise_type {
    Fire get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_GRPC_NATIVE_RIG_H_
