// Peers that break the rules of frames and sessions: faults 1 to 12 of the catalogue, as far as a
// session sees them.
#include "rig.h"
#include "support/catch.h"

namespace weft::test::http2 {
namespace {

using Catch::Matchers::ContainsSubstring;

const Fields kOk = {{":status", "200"}};

// A connection error at every split of the script: said once, GOAWAY with the code, nothing ends
// before EndAll.
void CheckConnectionError(const std::string& script, uint32_t code, const std::string& words,
                          absl::StatusCode status_code = absl::StatusCode::kInternal) {
  const size_t most = std::min<size_t>(script.size(), 300);
  for (size_t split = 0; split < most; ++split) {
    CAPTURE(split);
    Rig rig;
    rig.Start();
    User& user = rig.Open();
    User& unsent = rig.Prepare();
    rig.Collect();
    rig.Open(unsent, "/late", false);
    absl::Status status = rig.Feed(script.substr(0, split));
    if (status.ok()) status = rig.Feed(script.substr(split));
    REQUIRE(status.code() == status_code);
    REQUIRE_THAT(std::string(status.message()), ContainsSubstring(words));
    REQUIRE_FALSE(rig.session->accepting());
    REQUIRE(rig.session->capacity() == 0);
    REQUIRE(rig.Feed(Ping(1)) == status);
    const auto frames = rig.CollectFrames();
    const Sent* goaway = FindFrame(frames, kGoaway);
    REQUIRE(goaway != nullptr);
    REQUIRE(goaway->code() == code);
    REQUIRE(CountFrames(frames, kHeaders) == 0);
    REQUIRE(frames.back().type == kGoaway);
    REQUIRE_FALSE(rig.session->wants_to_send());
    REQUIRE(user.ends == 0);
    rig.session->EndAll(absl::UnavailableError("lost"), SIZE_MAX - 1);
    REQUIRE(user.log.back() == "end UNAVAILABLE connection may have been processed");
    REQUIRE(user.ends == 1);
    REQUIRE(unsent.Log() == "end UNAVAILABLE connection not sent");
  }
}

TEST_CASE("fault 1: a peer that does not speak HTTP/2 is named as what it is") {
  const auto [bytes, words] = GENERATE(table<std::string, std::string>({
      {"HTTP/1.1 400 Bad Request\r\n\r\n", "does not speak HTTP/2 (answered with HTTP/1.1"},
      {std::string("\x15\x03\x01\x00\x02\x02\x46", 7), "does not speak HTTP/2 (sent a TLS alert)"},
      {std::string("\x16\x03\x01\x00\x02\x02\x46\x01\x01", 9), "(sent a TLS record)"},
      {"SSH-2.0-OpenSSH_9.2\r\n", "(sent an SSH greeting)"},
      {"\xff\xff garbage garbage", "(did not begin with SETTINGS)"},
      {Ping(1), "(did not begin with SETTINGS)"},
      {SettingsAck(), "(did not begin with SETTINGS)"},
  }));
  for (const size_t step : {size_t{1}, size_t{5}, size_t{1000}}) {
    Rig rig;
    rig.Collect();
    const absl::Status status = rig.FeedInSteps(bytes, step);
    CHECK(status.code() == absl::StatusCode::kInternal);
    CHECK_THAT(std::string(status.message()), ContainsSubstring(words));
    const auto frames = rig.CollectFrames();
    REQUIRE(FindFrame(frames, kGoaway) != nullptr);
    CHECK(FindFrame(frames, kGoaway)->code() == kProtocolError);
    CHECK(rig.settings == 0);
  }
}

TEST_CASE("fault 1: the status of an HTTP/1.1 answer is told") {
  Rig rig;
  rig.Collect();
  CHECK_THAT(std::string(rig.Feed("HTTP/1.1 400 Bad Request\r\n").message()),
             ContainsSubstring("(answered with HTTP/1.1 400)"));
}

TEST_CASE("fault 4: frames of a wrong size end the connection") {
  const std::string script =
      GENERATE(Frame(kRstStream, 0, 1, "abc"), Frame(kPing, 0, 0, "1234567"),
               Frame(kSettings, 0, 0, "12345"), Frame(kSettings, kAck, 0, "123456"),
               Frame(kWindowUpdate, 0, 0, "12345"), Frame(kPriority, 0, 1, "1234"),
               Frame(kGoaway, 0, 0, "1234567"), Frame(kData, 0, 1, std::string(16385, 'x')));
  CheckConnectionError(script, kFrameSizeError, "FRAME_SIZE_ERROR");
}

TEST_CASE("fault 5: unknown frames and flags are passed over, but not inside a header block") {
  Rig rig;
  rig.Start();
  User& user = rig.Open();
  rig.Collect();
  CHECK(rig.Feed(Frame(0x77, 0xff, 1, "what") + Frame(0x78, 0, 0, "") +
                 Frame(kHeaders, kEndHeaders | 0xc2, 1, Block(kOk)) +
                 Frame(kData, 0xf7 & ~kPadded, 1, "x"))
            .ok());
  CHECK(user.Log() == "head 200; data x; end OK peer may have been processed");
  CheckConnectionError(Frame(kHeaders, 0, 1, Block(kOk)) + Frame(0x77, 0, 1, "what"),
                       kProtocolError, "CONTINUATION");
}

TEST_CASE("fault 6: frames on streams that they cannot be on end the connection") {
  CheckConnectionError(Data(0, "x"), kProtocolError, "DATA: stream_id == 0");
  CheckConnectionError(Head(0, kOk), kProtocolError, "stream_id == 0");
  CheckConnectionError(Data(99, "x"), kProtocolError, "idle");
  CheckConnectionError(Head(99, kOk), kProtocolError, "HEADERS");
  CheckConnectionError(Head(2, kOk), kProtocolError, "HEADERS");
  CheckConnectionError(Data(2, "x"), kProtocolError, "idle");
  CheckConnectionError(Rst(99, kCancel), kProtocolError, "idle");
  CheckConnectionError(Rst(0, kCancel), kProtocolError, "stream_id == 0");
  CheckConnectionError(WindowUpdate(99, 1), kProtocolError, "idle");
  CheckConnectionError(Data(1, "x"), kProtocolError, "not opened");
  CheckConnectionError(Frame(kPing, 0, 1, "12345678"), kProtocolError, "PING");
  CheckConnectionError(Frame(kSettings, 0, 1, ""), kProtocolError, "SETTINGS");
  CheckConnectionError(Frame(kGoaway, 0, 1, Number(0, 8)), kProtocolError, "GOAWAY");
}

TEST_CASE("fault 6: frames after END_STREAM do no harm to the call") {
  Rig rig;
  rig.Start();
  User& user = rig.Open();
  rig.Collect();
  REQUIRE(rig.Feed(Head(1, kOk, true) + Data(1, "late") + Head(1, kOk) + Rst(1, kCancel)).ok());
  CHECK(user.Log() == "head 200; end OK peer may have been processed");
}

TEST_CASE("fault 6: frames after END_STREAM while the request still runs are not delivered") {
  Rig rig;
  rig.Start();
  User& user = rig.Prepare();
  user.body_open = true;
  rig.Open(user, "/", true);
  rig.Collect();
  (void)rig.Feed(Head(1, kOk, true) + Data(1, "late"));
  CHECK(user.Log() == "head 200; end OK peer may have been processed");
}

TEST_CASE("fault 7: padding longer than its frame ends the connection") {
  CheckConnectionError(Head(1, kOk) + Frame(kData, kPadded, 1, std::string("\x05xxxx", 5)),
                       kProtocolError, "padding");
  CheckConnectionError(
      Frame(kHeaders, kEndHeaders | kPadded, 1, std::string("\x20", 1) + Block(kOk)),
      kProtocolError, "padding");
  CheckConnectionError(Head(1, kOk) + Frame(kData, kPadded, 1, ""), kProtocolError, "padding");
}

// What WINDOW_UPDATE frames give back for a stream or, with 0, the connection.
size_t Returned(const std::vector<Sent>& frames, uint32_t id) {
  size_t bytes = 0;
  for (const Sent& frame : frames) {
    if (frame.type == kWindowUpdate && frame.id == id) bytes += frame.number();
  }
  return bytes;
}

TEST_CASE("fault 7: padding gives its window back") {
  weft::http2::SessionOptions options;
  options.stream_window = options.max_stream_window = 100000;
  options.connection_window = options.max_connection_window = 100000;
  Rig rig(options);
  rig.Start();
  User& user = rig.Open();
  rig.Collect();
  REQUIRE(rig.Feed(Head(1, kOk)).ok());
  size_t sent = 0;
  size_t connection = 0;
  size_t stream = 0;
  for (int i = 0; i < 2000; ++i) {
    REQUIRE(rig.Feed(PaddedData(1, "123456789", 255)).ok());
    sent += 265;
    const auto frames = rig.CollectFrames();
    connection += Returned(frames, 0);
    stream += Returned(frames, 1);
    REQUIRE(sent - connection < 100000);
    REQUIRE(sent - stream < 100000);
  }
  CHECK(user.received == 18000);
}

TEST_CASE("fault 8: late frames on a reset stream are passed over, and their window comes back") {
  weft::http2::SessionOptions options;
  options.connection_window = options.max_connection_window = 65535;
  Rig rig(options);
  rig.Start();
  User& user = rig.Open();
  rig.Collect();
  REQUIRE(rig.Feed(Head(1, kOk) + Data(1, "begin")).ok());
  rig.session->Reset(user.stream, http::ResetReason::kCancelled);
  const bool collected = GENERATE(true, false);
  if (collected) {
    const auto frames = rig.CollectFrames();
    REQUIRE(frames.size() == 1);
    CHECK(frames[0].code() == kCancel);
  }
  size_t sent = 5;
  size_t returned = 0;
  for (int i = 0; i < 100; ++i) {
    REQUIRE(rig.Feed(i % 2 == 0 ? Data(1, std::string(10000, 'x'))
                                : PaddedData(1, std::string(9744, 'x'), 255))
                .ok());
    sent += 10000;
    returned += Returned(rig.CollectFrames(), 0);
    REQUIRE(sent - returned < 65535);
  }
  REQUIRE(rig.Feed(Head(1, {{"t", "1"}}, true) + WindowUpdate(1, 5) + Rst(1, kCancel)).ok());
  CHECK(user.Log() == "head 200; data begin");
}

TEST_CASE("fault 8: a reset in the middle of a DATA frame gives back the rest of it") {
  weft::http2::SessionOptions options;
  options.connection_window = options.max_connection_window = 65535;
  Rig rig(options);
  rig.Start();
  size_t sent = 0;
  size_t returned = 0;
  for (uint32_t id = 1; id < 100; id += 2) {
    User& user = rig.Open();
    rig.Collect();
    const std::string frame = Head(id, kOk) + Data(id, std::string(10000, 'x'));
    REQUIRE(rig.Feed(frame.substr(0, frame.size() / 2)).ok());
    rig.session->Reset(user.stream, http::ResetReason::kCancelled);
    REQUIRE(rig.Feed(frame.substr(frame.size() / 2)).ok());
    sent += 10000;
    returned += Returned(rig.CollectFrames(), 0);
    REQUIRE(sent - returned < 65535);
  }
}

TEST_CASE("fault 9: settings that are out of range, and pushes, end the connection") {
  CheckConnectionError(Settings({{2, 1}}), kProtocolError, "push");
  CheckConnectionError(Settings({{2, 2}}), kProtocolError, "PROTOCOL_ERROR");
  CheckConnectionError(Settings({{kInitialWindow, 0x80000000}}), kFlowControlError, "WINDOW");
  CheckConnectionError(Settings({{kMaxFrameSize, 16383}}), kProtocolError, "MAX_FRAME_SIZE");
  CheckConnectionError(Settings({{kMaxFrameSize, 1 << 24}}), kProtocolError, "MAX_FRAME_SIZE");
  CheckConnectionError(
      Frame(kPushPromise, kEndHeaders, 1, Number(2, 4) + Block({{":method", "GET"}})),
      kProtocolError, "push disabled");
}

TEST_CASE("fault 9: a push before our SETTINGS are acknowledged is refused") {
  Rig rig;
  rig.Collect();
  REQUIRE(rig.Feed(Settings()).ok());
  User& user = rig.Open();
  rig.Collect();
  REQUIRE(rig.Feed(Frame(kPushPromise, kEndHeaders, 1,
                         Number(2, 4) + Block({{":method", "GET"}, {":path", "/"}})) +
                   Head(2, kOk, true) + Head(1, kOk, true))
              .ok());
  CHECK(FindFrame(rig.CollectFrames(), kRstStream, 2) != nullptr);
  CHECK(user.Log() == "head 200; end OK peer may have been processed");
}

TEST_CASE("fault 10: acknowledgements that nobody asked for satisfy nothing, and too many end it") {
  Rig rig;
  rig.Start();
  rig.session->Ping(1);
  rig.Collect();
  absl::Status status;
  int frames = 0;
  for (; status.ok() && frames < 10000; ++frames) status = rig.Feed(Ping(77, true));
  CHECK(frames > 100);
  CHECK(status.code() == absl::StatusCode::kResourceExhausted);
  CHECK(rig.acks.empty());
  CHECK(FindFrame(rig.CollectFrames(), kGoaway)->code() == kEnhanceYourCalm);
}

TEST_CASE("fault 11: windows that are updated by nothing or overflow") {
  CheckConnectionError(WindowUpdate(0, 0), kProtocolError, "WINDOW_UPDATE");
  CheckConnectionError(WindowUpdate(1, 0), kProtocolError, "WINDOW_UPDATE");
  CheckConnectionError(WindowUpdate(0, 0x7fffffff), kFlowControlError, "FLOW_CONTROL_ERROR");
  Rig rig;
  rig.Start();
  User& user = rig.Open();
  rig.Collect();
  REQUIRE(rig.Feed(WindowUpdate(1, 0x7fffffff)).ok());
  const auto frames = rig.CollectFrames();
  REQUIRE(FindFrame(frames, kRstStream, 1) != nullptr);
  CHECK(FindFrame(frames, kRstStream, 1)->code() == kFlowControlError);
  CHECK(user.Log() == "end INTERNAL connection may have been processed");
  CHECK(user.end.status.message() == "sent a malformed response (flow control violated)");
}

TEST_CASE("fault 11: more than the windows allow is not taken") {
  weft::http2::SessionOptions options;
  options.stream_window = options.max_stream_window = 20000;
  options.connection_window = options.max_connection_window = 65535;
  Rig rig(options);
  rig.Start();
  User& user = rig.Open();
  user.consume = false;
  User& other = rig.Open();
  rig.Collect();
  REQUIRE(
      rig.Feed(Head(1, kOk) + Data(1, std::string(16384, 'x')) + Data(1, std::string(16384, 'x')))
          .ok());
  const auto frames = rig.CollectFrames();
  REQUIRE(FindFrame(frames, kRstStream, 1) != nullptr);
  CHECK(FindFrame(frames, kRstStream, 1)->code() == kFlowControlError);
  CHECK(user.end.status.message() == "sent a malformed response (flow control violated)");
  CHECK(other.ends == 0);
  REQUIRE(rig.Feed(Head(3, kOk, true)).ok());
  CHECK(other.end.status.ok());
}

TEST_CASE("fault 12: CONTINUATION frames that are orphans, strangers or too many end it") {
  CheckConnectionError(Frame(kContinuation, kEndHeaders, 1, Block(kOk)), kProtocolError,
                       "CONTINUATION");
  CheckConnectionError(Frame(kHeaders, 0, 1, Block(kOk)) + Frame(kContinuation, 0, 3, ""),
                       kProtocolError, "CONTINUATION");
  CheckConnectionError(Frame(kHeaders, 0, 1, Block(kOk)) + Ping(1), kProtocolError, "CONTINUATION");
  std::string many = Frame(kHeaders, 0, 1, Block(kOk));
  for (int i = 0; i < 9; ++i) many += Frame(kContinuation, 0, 1, "");
  CheckConnectionError(many, kEnhanceYourCalm, "CONTINUATION",
                       absl::StatusCode::kResourceExhausted);
}

TEST_CASE("fault 12: eight CONTINUATION frames are taken, however their bytes arrive") {
  const size_t step = GENERATE(size_t{1}, size_t{4}, size_t{100000});
  Rig rig;
  rig.Start();
  User& user = rig.Open();
  rig.Collect();
  std::string script = Frame(kHeaders, kEndStream, 1, Block(kOk));
  for (int i = 0; i < 8; ++i) {
    script += Frame(kContinuation, i == 7 ? kEndHeaders : 0, 1, Block({{"n", std::to_string(i)}}));
  }
  REQUIRE(rig.FeedInSteps(script, step).ok());
  CHECK(user.Log() ==
        "head 200 n=0 n=1 n=2 n=3 n=4 n=5 n=6 n=7; end OK peer may have been processed");
}

}  // namespace
}  // namespace weft::test::http2
