// Resets, GOAWAY, limits and windows: faults 14 to 23 of the catalogue, as far as a session sees
// them.
#include "rig.h"
#include "support/catch.h"

namespace weft::test::http2 {
namespace {

using Catch::Matchers::ContainsSubstring;

const Fields kOk = {{":status", "200"}};

TEST_CASE("fault 16: GOAWAY(2^31-1), then GOAWAY(n), ends only what is above") {
  Rig rig;
  rig.Start();
  User& first = rig.Open();
  User& second = rig.Open();
  User& third = rig.Open();
  rig.Collect();
  REQUIRE(rig.Feed(Goaway(INT32_MAX, kNoError)).ok());
  CHECK_FALSE(rig.session->accepting());
  CHECK(rig.session->capacity() == 0);
  CHECK(rig.session->open_streams() == 3);
  bool ended_before = false;
  rig.on_goaway = [&] { ended_before = second.ends == 1 && third.ends == 1; };
  REQUIRE(rig.Feed(Goaway(1, kNoError, "max\x01_age\xff")).ok());
  CHECK(ended_before);
  CHECK(rig.goaways.back() == "0 max?_age?");
  CHECK(second.Log() == "end UNAVAILABLE connection refused unprocessed");
  CHECK_THAT(std::string(second.end.status.message()), ContainsSubstring("GOAWAY"));
  REQUIRE(rig.Feed(Head(1, kOk) + Data(1, "x", true)).ok());
  CHECK(first.Log() == "head 200; data x; end OK peer may have been processed");
  rig.Collect();
  CHECK(first.ends + second.ends + third.ends == 3);
}

TEST_CASE("fault 16: a GOAWAY that came before our head ends it as not sent") {
  Rig rig;
  rig.Start();
  User& sent = rig.Open();
  rig.Collect();
  User& unsent = rig.Open();
  REQUIRE(rig.Feed(Goaway(GENERATE(INT32_MAX, 1), kNoError)).ok());
  CHECK(unsent.Log() == "end UNAVAILABLE connection not sent");
  CHECK(sent.ends == 0);
  CHECK(CountFrames(rig.CollectFrames(), kHeaders) == 0);
}

TEST_CASE("fault 16: a last id that rises un-fails nothing and ends the connection") {
  Rig rig;
  rig.Start();
  User& first = rig.Open();
  User& second = rig.Open();
  rig.Collect();
  REQUIRE(rig.Feed(Goaway(1, kNoError)).ok());
  CHECK(second.ends == 1);
  const absl::Status status = rig.Feed(Goaway(3, kNoError));
  CHECK(status.code() == absl::StatusCode::kInternal);
  CHECK_THAT(std::string(status.message()), ContainsSubstring("last_stream_id"));
  CHECK(FindFrame(rig.CollectFrames(), kGoaway)->code() == kProtocolError);
  rig.session->EndAll(status, SIZE_MAX - 1);
  CHECK(first.ends == 1);
  CHECK(second.ends == 1);
}

TEST_CASE("after GOAWAY a breach of the rules is still noticed") {
  Rig rig;
  rig.Start();
  rig.Open();
  rig.Collect();
  REQUIRE(rig.Feed(Goaway(1, kNoError)).ok());
  CHECK(rig.Feed(Data(0, "x")).code() == absl::StatusCode::kInternal);
  CHECK(FindFrame(rig.CollectFrames(), kGoaway) != nullptr);
}

TEST_CASE("fault 17: GOAWAY tells its code and its words, at most 256 of them, printable") {
  Rig rig;
  rig.Start();
  REQUIRE(rig.Feed(Goaway(0, kEnhanceYourCalm, "too_many_pings")).ok());
  REQUIRE(rig.goaways.size() == 1);
  CHECK(rig.goaways[0] == "11 too_many_pings");
  Rig other;
  other.Start();
  REQUIRE(other.Feed(Goaway(0, 0, std::string(5000, '\n'))).ok());
  CHECK(other.goaways[0] == "0 " + std::string(256, '?'));
}

TEST_CASE("faults 17, 18: each reset ends its call as its code says") {
  const auto [code, log, words] = GENERATE(table<uint32_t, std::string, std::string>({
      {kRefusedStream, "end UNAVAILABLE peer refused unprocessed",
       "reset the stream (REFUSED_STREAM)"},
      {kCancel, "end CANCELLED peer may have been processed", "reset the stream (CANCEL)"},
      {kHttp11Required, "end FAILED_PRECONDITION peer may have been processed",
       "reset the stream (HTTP_1_1_REQUIRED: it answers this request over HTTP/1.1 only)"},
      {kNoError, "end INTERNAL peer may have been processed",
       "reset the stream (NO_ERROR, before the answer was complete)"},
      {12345, "end INTERNAL peer may have been processed", "reset the stream (error 12345)"},
  }));
  for (size_t split = 0; split < Rst(1, code).size(); ++split) {
    Rig rig;
    rig.Start();
    User& user = rig.Open();
    rig.Collect();
    REQUIRE(rig.Feed(Rst(1, code).substr(0, split)).ok());
    CHECK(user.ends == 0);
    REQUIRE(rig.Feed(Rst(1, code).substr(split)).ok());
    CHECK(user.Log() == log);
    CHECK(user.end.status.message() == words);
    CHECK(rig.Collect().empty());
    CHECK(rig.session->capacity() == 1 << 20);
  }
}

TEST_CASE("fault 18: a reset after the head keeps what was delivered and ends as an error") {
  Rig rig;
  rig.Start();
  User& user = rig.Open();
  rig.Collect();
  REQUIRE(rig.Feed(Head(1, kOk) + Data(1, "part") + Rst(1, kNoError)).ok());
  CHECK(user.Log() == "head 200; data part; end INTERNAL peer may have been processed");
}

TEST_CASE("fault 18: a whole answer, then RST NO_ERROR while we upload, is kept") {
  const std::string script =
      Head(1, kOk) + Data(1, "x") + Head(1, {{"t", "1"}}, true) + Rst(1, kNoError);
  for (size_t split = 0; split <= script.size(); ++split) {
    Rig rig;
    rig.Start();
    User& user = rig.Prepare();
    user.body = std::string(200000, 'b');
    rig.Open(user, "/", true);
    rig.Collect();
    REQUIRE(rig.Feed(script.substr(0, split)).ok());
    rig.Collect();
    REQUIRE(rig.Feed(script.substr(split) + WindowUpdate(0, 100000)).ok());
    CHECK(CountFrames(rig.CollectFrames(), kData) == 0);
    CHECK(user.Log() == "head 200; data x; trailers t=1; end OK peer may have been processed");
  }
}

TEST_CASE("fault 19: the peer's stream limit is kept, and never below zero") {
  Rig rig;
  rig.Start({{kMaxStreams, 2}});
  CHECK(rig.session->capacity() == 2);
  User& first = rig.Open();
  rig.Open();
  CHECK(rig.session->capacity() == 0);
  CHECK(CountFrames(rig.CollectFrames(), kHeaders) == 2);
  REQUIRE(rig.Feed(Settings({{kMaxStreams, 1}})).ok());
  CHECK(rig.settings == 2);
  CHECK(rig.session->capacity() == 0);
  REQUIRE(rig.Feed(Head(1, kOk, true)).ok());
  CHECK(first.end.status.ok());
  CHECK(rig.session->capacity() == 0);
  REQUIRE(rig.Feed(Settings({{kMaxStreams, 5}})).ok());
  CHECK(rig.session->capacity() == 4);
  REQUIRE(rig.Feed(Settings({{kMaxStreams, 0}})).ok());
  CHECK(rig.session->capacity() == 0);
  CHECK(rig.session->accepting());
}

TEST_CASE("fault 19: a limit lowered under heads that wait to be collected ends them as not sent") {
  Rig rig;
  rig.Start({{kMaxStreams, 3}});
  User& first = rig.Open();
  rig.Collect();
  User* second;
  {
    // Its views die with the Collect that ends it.
    auto path = std::make_unique<std::string>(std::string(200, 'p'));
    second = &rig.Prepare();
    http::RequestHead head;
    head.method = "GET";
    head.scheme = "http";
    head.authority = "a";
    head.path = *path;
    second->stream = rig.session->Open(*second, head);
    REQUIRE(rig.Feed(Settings({{kMaxStreams, 1}})).ok());
    CHECK(CountFrames(rig.CollectFrames(), kHeaders) == 0);
  }
  CHECK(second->Log() == "end UNAVAILABLE connection not sent");
  CHECK(rig.session->open_streams() == 1);
  REQUIRE(rig.Feed(Settings({{kMaxStreams, 3}})).ok());
  CHECK(CountFrames(rig.CollectFrames(), kHeaders) == 0);
  REQUIRE(rig.Feed(Head(1, kOk, true)).ok());
  CHECK(first.end.status.ok());
  User& third = rig.Open();
  CHECK(CountFrames(rig.CollectFrames(), kHeaders) == 1);
  REQUIRE(rig.Feed(Head(5, kOk, true)).ok());
  CHECK(third.end.status.ok());
}

size_t BodyBytes(const std::vector<Sent>& frames, uint32_t id) {
  size_t bytes = 0;
  for (const Sent& frame : frames) {
    if (frame.type == kData && frame.id == id) bytes += frame.payload.size();
  }
  return bytes;
}

TEST_CASE("fault 20: windows of 0, lowered below what was sent, raised by SETTINGS alone") {
  Rig rig;
  rig.Start({{kInitialWindow, 0}});
  User& upload = rig.Prepare();
  upload.body = std::string(50000, 'b');
  rig.Open(upload, "/", true);
  User& other = rig.Open();
  auto frames = rig.CollectFrames();
  CHECK(CountFrames(frames, kHeaders) == 2);
  CHECK(BodyBytes(frames, 1) == 0);
  CHECK_FALSE(rig.session->wants_to_send());
  REQUIRE(rig.Feed(Head(3, kOk, true)).ok());  // the other one does not wait
  CHECK(other.end.status.ok());
  REQUIRE(rig.Feed(Settings({{kInitialWindow, 10000}})).ok());
  CHECK(BodyBytes(rig.CollectFrames(), 1) == 10000);
  REQUIRE(rig.Feed(Settings({{kInitialWindow, 4000}})).ok());  // now -6000
  CHECK(BodyBytes(rig.CollectFrames(), 1) == 0);
  REQUIRE(rig.Feed(WindowUpdate(1, 6000)).ok());
  CHECK(BodyBytes(rig.CollectFrames(), 1) == 0);
  REQUIRE(rig.Feed(WindowUpdate(1, 1)).ok());
  CHECK(BodyBytes(rig.CollectFrames(), 1) == 1);
  REQUIRE(rig.Feed(Settings({{kInitialWindow, 1 << 20}})).ok());
  frames = rig.CollectFrames();
  CHECK(BodyBytes(frames, 1) == 39999);
  CHECK(frames.back().flags == kEndStream);
  REQUIRE(rig.Feed(Head(1, kOk, true)).ok());
  CHECK(upload.end.status.ok());
}

TEST_CASE("fault 20: a reset frees an upload that waits for a window") {
  Rig rig;
  rig.Start({{kInitialWindow, 0}});
  User& upload = rig.Prepare();
  upload.body = std::string(50000, 'b');
  rig.Open(upload, "/", true);
  rig.Collect();
  rig.session->Reset(upload.stream, http::ResetReason::kCancelled);
  const auto frames = rig.CollectFrames();
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].code() == kCancel);
  REQUIRE(rig.Feed(WindowUpdate(1, 100000) + Settings({{kInitialWindow, 100000}})).ok());
  CHECK(BodyBytes(rig.CollectFrames(), 1) == 0);
}

TEST_CASE("fault 21: one slow reader among many takes nothing from the others") {
  weft::http2::SessionOptions options;
  options.stream_window = options.max_stream_window = 100000;
  options.connection_window = options.max_connection_window = 200000;
  Rig rig(options);
  rig.Start();
  for (int i = 0; i < 10; ++i) rig.Open();
  rig.users[0].consume = false;
  rig.users[1].consume = false;
  rig.Collect();
  for (uint32_t id = 1; id < 20; id += 2) REQUIRE(rig.Feed(Head(id, kOk)).ok());
  // The slow ones get their whole windows and no more.
  for (uint32_t id : {1, 3}) {
    for (int i = 0; i < 10; ++i) REQUIRE(rig.Feed(Data(id, std::string(10000, 's'))).ok());
  }
  std::vector<Sent> frames = rig.CollectFrames();
  CHECK(FindFrame(frames, kWindowUpdate, 1) == nullptr);
  CHECK(FindFrame(frames, kWindowUpdate, 0) != nullptr);
  for (int round = 0; round < 100; ++round) {
    for (uint32_t id = 5; id < 20; id += 2) {
      REQUIRE(rig.Feed(Data(id, std::string(10000, 'f'))).ok());
      rig.Collect();
    }
  }
  CHECK(rig.users[9].received == 1000000);
  CHECK(rig.users[0].received == 100000);
  // It wakes up: its window comes back.
  rig.session->Consume(rig.users[0].stream, 100000);
  frames = rig.CollectFrames();
  REQUIRE(FindFrame(frames, kWindowUpdate, 1) != nullptr);
  CHECK(FindFrame(frames, kWindowUpdate, 1)->number() == 100000);
}

TEST_CASE("windows grow while data flows fast, by rare probes that are no keepalive") {
  weft::http2::SessionOptions options;
  options.stream_window = 65536;
  options.max_stream_window = 4 << 20;
  options.connection_window = 65536;
  options.max_connection_window = 4 << 20;
  Rig rig(options);
  rig.Start();
  rig.Open();
  rig.Collect();
  REQUIRE(rig.Feed(Head(1, kOk)).ok());
  size_t probes = 0;
  size_t largest = 0;
  std::vector<uint64_t> unanswered;
  for (int round = 0; round < 3000; ++round) {
    rig.now += std::chrono::milliseconds(1);
    if (round % 40 == 39) {  // a round trip of 40 ms
      for (const uint64_t payload : unanswered) REQUIRE(rig.Feed(Ping(payload, true)).ok());
      unanswered.clear();
    }
    REQUIRE(rig.Feed(Data(1, std::string(10000, 'd'))).ok());
    for (const Sent& frame : rig.CollectFrames()) {
      if (frame.type == kPing && (frame.flags & kAck) == 0) {
        ++probes;
        unanswered.push_back(frame.number());
      }
      if (frame.type == kSettings && (frame.flags & kAck) == 0) {
        largest = std::max<size_t>(largest, Sent{0, 0, 0, frame.payload.substr(2)}.number());
        REQUIRE(rig.Feed(SettingsAck()).ok());
      }
    }
  }
  CHECK(largest == 1 << 20);  // 2/3 of it is more than the 400,000 bytes of a round trip
  CHECK(probes >= 4);
  CHECK(probes <= 12);
  CHECK(rig.acks.empty());
}

TEST_CASE("little data causes no probe") {
  Rig rig;
  rig.Start();
  rig.Open();
  rig.Collect();
  REQUIRE(rig.Feed(Head(1, kOk)).ok());
  for (int i = 0; i < 400; ++i) {
    rig.now += std::chrono::seconds(1);
    REQUIRE(rig.Feed(Data(1, std::string(1000, 'd'))).ok());
    REQUIRE(CountFrames(rig.CollectFrames(), kPing) == 0);
  }
}

TEST_CASE("fault 23: whatever follows the end of a session is passed over") {
  Rig rig;
  rig.Start();
  User& user = rig.Open();
  rig.Collect();
  const std::string torn = Frame(kPushPromise, kEndHeaders, 1, "");
  const absl::Status status = rig.Feed(Frame(kData, 0, 0, ""));
  CHECK_FALSE(status.ok());
  for (const std::string& more : {torn, Ping(1), Settings(), std::string(1000, '\xff')}) {
    CHECK(rig.Feed(more) == status);
  }
  rig.Collect();
  rig.session->Ping(1);
  rig.session->Consume(user.stream, 0);
  rig.session->ResumeBody(user.stream);
  rig.session->Goaway(0, "");
  CHECK(rig.Collect().empty());
  rig.session->EndAll(status, 1000);
  CHECK(rig.Feed(Ping(1)) == status);
  CHECK(user.ends == 1);
}

TEST_CASE("records of streams are used again") {
  Rig rig;
  rig.Start();
  std::vector<http::OpenStream*> seen;
  for (uint32_t id = 1; id < 1000; id += 2) {
    User& user = rig.Open();
    if (std::find(seen.begin(), seen.end(), user.stream) == seen.end()) seen.push_back(user.stream);
    rig.Collect();
    REQUIRE(rig.Feed(id % 4 == 1 ? Head(id, kOk, true) : Rst(id, kCancel)).ok());
    rig.users.clear();
  }
  CHECK(seen.size() <= 2);
}

}  // namespace
}  // namespace weft::test::http2
