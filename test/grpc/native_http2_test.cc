// The negative HTTP/2 cases of gRPC's interoperability tests, as one call of one message each way
// and as a stream: what a client must do when the server's side of HTTP/2 is unusual or wrong.
#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "grpc/native_rig.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;
using absl::StatusCode;

// A call of either kind, and what came of it.
struct Asked {
  std::vector<std::string> texts;
  std::optional<absl::Status> end;
  CallHandle handle;
  std::unique_ptr<Bidi> stream;
  std::unique_ptr<Reader<Bidi>> reader;
};

class Asking {
 public:
  Asking(World& w, bool streams) : w_(w), streams_(streams) {}

  Asked& Start() {
    Asked& asked = asked_.emplace_back();
    if (!streams_) {
      asked.handle = grpc::Start<StringValue>(w_.channel(), kMethod, Message("hi"), {},
                                              [&asked](absl::StatusOr<StringValue> reply) {
                                                if (reply.ok()) asked.texts = {reply->value()};
                                                asked.end = reply.status();
                                              });
      return asked;
    }
    asked.stream = std::make_unique<Bidi>(w_.channel(), kMethod);
    asked.stream->WriteThen(Message("hi"), [](absl::Status) {});
    CHECK(asked.stream->WritesDone().ok());
    Read(asked);
    return asked;
  }
  Asked& Ask() {
    Asked& asked = Start();
    w_.Until([&] { return asked.end.has_value(); });
    return asked;
  }

 private:
  void Read(Asked& asked) {
    asked.stream->ReadThen([this, &asked](std::optional<StringValue> message) {
      if (message.has_value()) {
        asked.texts.push_back(message->value());
        return Read(asked);
      }
      asked.stream->FinishThen([&asked](absl::Status end) { asked.end = std::move(end); });
    });
  }

  World& w_;
  const bool streams_;
  std::deque<Asked> asked_;
};

RogueAnswer CutWith(std::string body, uint32_t reset) {
  RogueAnswer answer = Answer(std::move(body), {});
  answer.end = false;
  answer.reset = reset;
  return answer;
}

TEST_CASE("goaway - the call after it goes to a new connection, those before are answered") {
  World w;
  Asking asking(w, GENERATE(false, true));
  w.server.options().handler = [&](const RogueRequest& request) {
    // Said before the answer: the call that runs is among those that are still answered.
    if (request.connection == w.server.connection(0).id())
      w.server.last().SendGoaway(request.stream);
    return Answer(Wire("hello"));
  };
  CHECK(asking.Ask().end == absl::OkStatus());
  w.env->RunFor(1s);
  Asked& second = asking.Ask();
  CHECK(second.end == absl::OkStatus());
  CHECK(second.texts == std::vector<std::string>{"hello"});
  CHECK(w.server.accepted() == 2);
  CHECK(w.server.connection(0).request_count() == 1);
  CHECK(w.server.connection(1).request_count() == 1);
  w.Close();
}

TEST_CASE("rst_after_header - a reset behind the head fails the call, and only it") {
  World w;
  Asking asking(w, GENERATE(false, true));
  w.server.options().handler = [](const RogueRequest&) { return CutWith("", kNoError); };
  const Asked& asked = asking.Ask();
  CHECK(asked.end->code() == StatusCode::kInternal);
  CHECK(asked.texts.empty());
  w.server.options().handler = [](const RogueRequest&) { return Answer(Wire("hello")); };
  CHECK(asking.Ask().end == absl::OkStatus());
  CHECK(w.server.accepted() == 1);
  w.Close();
}

TEST_CASE("rst_during_data - a reset within a message fails the call, and the half is not seen") {
  World w;
  Asking asking(w, GENERATE(false, true));
  const uint32_t code = GENERATE(kNoError, kInternalError);
  w.server.options().handler = [&](const RogueRequest&) {
    return CutWith(Wire(std::string(1000, 'x')).substr(0, 500), code);
  };
  const Asked& asked = asking.Ask();
  CHECK(asked.end->code() == StatusCode::kInternal);
  CHECK(GetCallError(*asked.end)->origin == Origin::kPeer);
  CHECK(asked.texts.empty());
  CHECK(w.server.accepted() == 1);
  w.Close();
}

TEST_CASE("rst_after_data - a reset in place of the status fails the call, a stream has its data") {
  World w;
  const bool streams = GENERATE(false, true);
  Asking asking(w, streams);
  w.server.options().handler = [](const RogueRequest&) { return CutWith(Wire("hello"), kNoError); };
  const Asked& asked = asking.Ask();
  CHECK(asked.end->code() == StatusCode::kInternal);
  CHECK(asked.texts == (streams ? std::vector<std::string>{"hello"} : std::vector<std::string>{}));
  CHECK(w.server.accepted() == 1);
  w.Close();
}

TEST_CASE("ping - each of the server's is answered, and the call goes on") {
  World w;
  Asking asking(w, GENERATE(false, true));
  uint64_t pings = 0;
  const auto ping = [&](RogueConnection& c) { c.Send(PingFrame(++pings)); };
  w.server.options().on_connection = [&](RogueConnection& c) {
    w.env->After(0s, [&] { ping(c); });
  };
  w.server.options().on_frame = [&](RogueConnection& c, const Frame& frame) {
    if (frame.type != kPing) ping(c);
    return false;
  };
  const std::string body = Wire(std::string(100, 'x'));
  w.server.options().handler = [&](const RogueRequest& request) {
    RogueConnection& c = w.server.last();
    ping(c);
    c.SendHead(request.stream, 200, {{"content-type", "application/grpc"}});
    ping(c);
    for (const char byte : body) {
      c.SendBody(request.stream, std::string(1, byte));
      if (pings < 30) ping(c);
    }
    c.SendTrailers(request.stream, {{"grpc-status", "0"}});
    ping(c);
    return RogueAnswer::Silence();
  };
  const Asked& asked = asking.Ask();
  CHECK(asked.end == absl::OkStatus());
  CHECK(asked.texts == std::vector<std::string>{std::string(100, 'x')});
  w.env->RunFor(1s);
  CHECK(pings >= 30);
  std::vector<uint64_t> expected;
  for (uint64_t i = 1; i <= pings; ++i) expected.push_back(i);
  CHECK(w.server.last().ping_acks() == expected);
  CHECK(w.server.accepted() == 1);
  w.Close();
}

TEST_CASE("max_streams - one stream at a time is kept to, and all calls are answered") {
  World w;
  Asking asking(w, GENERATE(false, true));
  w.server.options().settings = {{kMaxConcurrentStreams, 1}};
  w.server.options().handler = [](const RogueRequest&) {
    RogueAnswer answer = Answer(Wire("hello"));
    answer.delay = 100ms;
    return answer;
  };
  CHECK(asking.Ask().end == absl::OkStatus());
  std::vector<Asked*> all;
  for (int i = 0; i < 10; ++i) all.push_back(&asking.Start());
  w.Until([&] { return std::all_of(all.begin(), all.end(), [](auto* a) { return !!a->end; }); });
  for (const Asked* asked : all) CHECK(asked->end == absl::OkStatus());
  CHECK(w.server.last().most_open_streams() == 1);
  CHECK(w.server.accepted() == 1);
  w.Close();
}

// Sends one byte of a body in each DATA, behind 255 of padding, as the client's windows allow: the
// padding counts too, so one who does not give it back gets no further than 65,535 / 257 bytes.
class Padder {
 public:
  Padder(RogueConnection& c, uint32_t stream, std::string body)
      : c_(c), stream_(stream), body_(std::move(body)) {}

  void Granted(const Frame& frame) {
    if (frame.stream == 0) connection_window_ += ReadU32(frame.payload);
    if (frame.stream == stream_) window_ += ReadU32(frame.payload);
  }
  void Go() {
    constexpr uint32_t kSize = 257;
    for (; sent_ < body_.size() && std::min(window_, connection_window_) >= kSize; ++sent_) {
      c_.Send(PaddedDataFrame(stream_, body_.substr(sent_, 1), 255));
      window_ -= kSize;
      connection_window_ -= kSize;
    }
    if (sent_ == body_.size() && !std::exchange(ended_, true))
      c_.SendTrailers(stream_, {{"grpc-status", "0"}});
  }

 private:
  RogueConnection& c_;
  const uint32_t stream_;
  const std::string body_;
  uint32_t window_ = 65'535;
  uint32_t connection_window_ = 65'535;
  size_t sent_ = 0;
  bool ended_ = false;
};

TEST_CASE("data_frame_padding - padding is taken off, and its window is given back") {
  ChannelFactory::Options options;
  options.connection.stream_window = options.connection.max_stream_window = 65'535;
  options.connection.connection_window = options.connection.max_connection_window = 65'535;
  World w(options);
  Asking asking(w, GENERATE(false, true));
  const std::string text(5000, 'x');
  std::optional<Padder> padder;
  w.server.options().on_frame = [&](RogueConnection&, const Frame& frame) {
    if (frame.type != kWindowUpdate || !padder.has_value()) return false;
    padder->Granted(frame);
    padder->Go();
    return false;
  };
  w.server.options().handler = [&](const RogueRequest& request) {
    RogueConnection& c = w.server.last();
    c.SendHead(request.stream, 200, {{"content-type", "application/grpc"}});
    padder.emplace(c, request.stream, Wire(text));
    padder->Go();
    return RogueAnswer::Silence();
  };
  const Asked& asked = asking.Ask();
  CHECK(asked.end == absl::OkStatus());
  CHECK(asked.texts == std::vector<std::string>{text});
  CHECK(w.server.accepted() == 1);
  w.Close();
}

}  // namespace
}  // namespace weft::testing
