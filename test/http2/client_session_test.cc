// What a session does for well-behaved peers.
#include "http2/client_session.h"

#include "rig.h"
#include "support/catch.h"

namespace weft::test::http2 {
namespace {

const Fields kOk = {{":status", "200"}, {"content-type", "text/plain"}};

TEST_CASE("the preface and SETTINGS come first, and nothing may be opened before the peer's") {
  Rig rig;
  CHECK(rig.session->wants_to_send());
  const auto frames = rig.CollectFrames();
  REQUIRE(frames.size() == 2);
  CHECK(frames[0].type == kSettings);
  CHECK(frames[1].type == kWindowUpdate);
  CHECK(frames[1].number() == (size_t{16} << 20) - 65535);
  CHECK(rig.session->capacity() == 0);
  CHECK(rig.session->accepting());
  CHECK_FALSE(rig.session->settings_acknowledged());
  CHECK(rig.Feed(Settings()).ok());
  CHECK(rig.settings == 1);
  CHECK(rig.session->capacity() == size_t{1} << 20);
  CHECK_FALSE(rig.session->settings_acknowledged());
  CHECK(rig.Feed(SettingsAck()).ok());
  CHECK(rig.session->settings_acknowledged());
  CHECK(rig.settings == 1);
}

TEST_CASE("a request head has its fields in order, and a user agent") {
  Rig rig;
  rig.Start();
  User& user = rig.Prepare();
  const Headers headers = {{"Authorization", "Bearer x"}, {"x-b", "2"}, {"x-a", "1"}};
  http::RequestHead head;
  head.method = "PUT";
  head.scheme = "https";
  head.authority = "svc:1";
  head.path = "/p";
  head.headers = &headers;
  user.stream = rig.session->Open(user, head);
  const auto frames = rig.CollectFrames();
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].flags == (kEndHeaders | kEndStream));
  CHECK(rig.Decode(frames[0]) == Fields{{":method", "PUT"},
                                        {":scheme", "https"},
                                        {":authority", "svc:1"},
                                        {":path", "/p"},
                                        {"authorization", "Bearer x"},
                                        {"x-b", "2"},
                                        {"x-a", "1"},
                                        {"user-agent", "weft/0.1.0"}});
  // A secret is marked as never to be indexed (RFC 7541 section 6.2.3): nothing of it is in a table
  // the second time.
  User& again = rig.Prepare();
  again.stream = rig.session->Open(again, head);
  const auto second = rig.CollectFrames();
  REQUIRE(second.size() == 1);
  CHECK(second[0].payload.size() > 8);
  CHECK(second[0].payload.size() < frames[0].payload.size() / 2);
  CHECK(rig.Decode(second[0])[4].second == "Bearer x");
  rig.session->EndAll(absl::CancelledError(), 0);
}

TEST_CASE("a user agent of the caller's own replaces ours") {
  Rig rig;
  rig.Start();
  User& user = rig.Prepare();
  const Headers headers = {{"user-agent", "mine"}};
  http::RequestHead head;
  head.method = "GET";
  head.scheme = "http";
  head.authority = "a";
  head.path = "/";
  head.headers = &headers;
  user.stream = rig.session->Open(user, head);
  const auto frames = rig.CollectFrames();
  const Fields fields = rig.Decode(frames.at(0));
  CHECK(fields.size() == 5);
  CHECK(fields.back() == std::pair<std::string, std::string>("user-agent", "mine"));
  rig.session->EndAll(absl::CancelledError(), 0);
}

TEST_CASE("answers are the same at every split of their bytes") {
  const std::string script = Head(1, {{":status", "103"}, {"link", "x"}}) + Head(1, kOk) +
                             Data(1, "hello ") + Ping(7) + Data(3, "") + PaddedData(1, "world", 9) +
                             Frame(0x42, 0xff, 1, "unknown") + WindowUpdate(0, 10) +
                             Head(3, {{":status", "204"}}, true) +
                             Frame(kHeaders, kEndStream, 1, Block({{"grpc-status", "0"}})) +
                             Frame(kContinuation, kEndHeaders, 1, Block({{"x", "y"}})) +
                             Head(5, kOk) + Data(5, "abc", true) + Goaway(5, 0, "bye");
  const auto run = [&](auto&& feed) {
    Rig rig;
    rig.Start();
    rig.Open();
    rig.Open();
    rig.Open();
    rig.Collect();
    // An empty DATA on a stream without a head would be an error: give it one.
    const absl::Status status = feed(rig);
    CHECK(status.ok());
    rig.Collect();
    CHECK(rig.session->open_streams() == 0);
    return rig.users[0].Log() + " | " + rig.users[1].Log() + " | " + rig.users[2].Log() + " | " +
           (rig.goaways.empty() ? "" : rig.goaways[0]);
  };
  std::string good = script;
  const std::string empty = Data(3, "");
  good.erase(good.find(empty), empty.size());
  const std::string expected =
      "head 200 content-type=text/plain; data hello world; trailers grpc-status=0 x=y; "
      "end OK peer may have been processed | head 204; end OK peer may have been processed | "
      "head 200 content-type=text/plain; data abc; end OK peer may have been processed | 0 bye";
  CHECK(run([&](Rig& rig) { return rig.Feed(good); }) == expected);
  for (size_t split = 1; split < good.size(); ++split) {
    CAPTURE(split);
    REQUIRE(run([&](Rig& rig) {
              const std::string first = good.substr(0, split);
              const absl::Status status = rig.Feed(first);
              return status.ok() ? rig.Feed(good.substr(split)) : status;
            }) == expected);
  }
  for (const size_t step : {1, 2, 3, 8, 9, 10}) {
    CAPTURE(step);
    REQUIRE(run([&](Rig& rig) { return rig.FeedInSteps(good, step); }) == expected);
  }
}

TEST_CASE("every event may reset its stream, and nothing follows") {
  const std::string at = GENERATE("head", "data", "trailers", "read");
  Rig rig;
  rig.Start();
  User& user = rig.Prepare();
  user.body = "request";
  user.on = [&](std::string_view event) {
    if (event == at) rig.session->Reset(user.stream, http::ResetReason::kInternal);
  };
  rig.Open(user, "/", true);
  rig.Collect();
  CHECK(rig.Feed(Head(1, kOk) + Data(1, "data") + Head(1, {{"t", "1"}}, true)).ok());
  CHECK(user.ends == 0);
  CHECK(rig.session->open_streams() == 0);
  const auto frames = rig.CollectFrames();
  if (at != "read") {
    const Sent* rst = FindFrame(frames, kRstStream, 1);
    if (at != "trailers") {
      REQUIRE(rst != nullptr);
      CHECK(rst->code() == kInternalError);
    }
  }
  User& next = rig.Open();
  rig.Collect();
  CHECK(rig.Feed(Head(3, kOk, true)).ok());
  CHECK(next.end.status.ok());
}

TEST_CASE("an end may open the next call") {
  Rig rig;
  rig.Start({{kMaxStreams, 1}});
  int left = 50;
  std::function<void()> open_next = [&] {
    REQUIRE(rig.session->capacity() == 1);
    User& user = rig.Open();
    user.on = [&](std::string_view event) {
      if (event == "end" && --left > 0) open_next();
    };
  };
  open_next();
  for (uint32_t id = 1; left > 0; id += 2) {
    rig.Collect();
    const absl::Status status = rig.Feed(Head(id, kOk, true));
    CAPTURE(id, left, status.ToString());
    REQUIRE(status.ok());
  }
  CHECK(rig.users.size() == 50);
}

TEST_CASE("a stream that is reset before it is collected is never sent") {
  Rig rig;
  rig.Start();
  {
    // Its views die before Collect.
    auto path = std::make_unique<std::string>(std::string(100, 'p'));
    auto headers = std::make_unique<Headers>(Headers{{"a-name", "a-value"}});
    User& user = rig.Prepare();
    http::RequestHead head;
    head.method = "GET";
    head.scheme = "http";
    head.authority = "a";
    head.path = *path;
    head.headers = headers.get();
    user.stream = rig.session->Open(user, head);
    rig.session->Reset(user.stream, http::ResetReason::kCancelled);
  }
  CHECK(rig.Collect().empty());
  CHECK(rig.session->open_streams() == 0);
  User& next = rig.Open();
  const auto frames = rig.CollectFrames();
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].id == 3);
  CHECK(rig.Feed(Head(3, kOk, true)).ok());
  CHECK(next.end.status.ok());
}

TEST_CASE("EndAll tells what was sent from what was not") {
  Rig rig;
  uint64_t collected = 24;  // the rig takes the preface off
  collected += rig.Collect().size();
  REQUIRE(rig.Feed(Settings()).ok());
  collected += rig.Collect().size();
  User& first = rig.Open("/1");
  const uint64_t before_head = collected;
  collected += rig.Collect().size();
  const uint64_t after_first = collected;
  User& second = rig.Open("/2");
  collected += rig.Collect().size();
  User& third = rig.Open("/3");
  CHECK(rig.session->HeadSent(first.stream, after_first));
  CHECK_FALSE(rig.session->HeadSent(first.stream, before_head));
  CHECK_FALSE(rig.session->HeadSent(third.stream, collected));
  const uint64_t torn = GENERATE(0, 1);
  rig.session->EndAll(absl::UnavailableError("gone"), after_first - torn);
  CHECK(first.Log() == (torn == 0 ? "end UNAVAILABLE connection may have been processed"
                                  : "end UNAVAILABLE connection not sent"));
  CHECK(second.Log() == "end UNAVAILABLE connection not sent");
  CHECK(third.Log() == "end UNAVAILABLE connection not sent");
  CHECK(rig.session->open_streams() == 0);
  CHECK_FALSE(rig.session->wants_to_send());
  CHECK(rig.Collect().empty());
}

TEST_CASE("EndAll takes the origin from the status, and its events may reset others") {
  Rig rig;
  rig.Start();
  User& first = rig.Open();
  User& second = rig.Open();
  User& third = rig.Open();
  first.on = [&](std::string_view) {
    rig.session->Reset(second.stream, http::ResetReason::kCancelled);
  };
  absl::Status status = absl::CancelledError("closed");
  SetCallError(status, {Origin::kLocal, Processed::kNotSent, "", 0});
  rig.session->EndAll(status, 0);
  CHECK(first.Log() == "end CANCELLED local not sent");
  CHECK(second.log.empty());
  CHECK(third.ends == 1);
}

TEST_CASE("pings are answered, and ours are told apart from strangers") {
  Rig rig;
  rig.Start();
  rig.session->Ping(0x1122334455667788);
  rig.session->Ping(2);
  auto frames = rig.CollectFrames();
  REQUIRE(frames.size() == 2);
  CHECK(frames[0].number() == 0x1122334455667788);
  CHECK(rig.Feed(Ping(9, true) + Ping(0x1122334455667788, true) + Ping(0x1122334455667788, true) +
                 Ping(5))
            .ok());
  CHECK(rig.acks == std::vector<uint64_t>{0x1122334455667788});
  frames = rig.CollectFrames();
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].flags == kAck);
  CHECK(frames[0].number() == 5);
}

TEST_CASE("our GOAWAY lets open streams finish and takes no new ones") {
  Rig rig;
  rig.Start();
  User& user = rig.Open();
  rig.Collect();
  rig.session->Goaway(kEnhanceYourCalm, "no more");
  CHECK_FALSE(rig.session->accepting());
  CHECK(rig.session->capacity() == 0);
  const auto frames = rig.CollectFrames();
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].code() == kEnhanceYourCalm);
  CHECK(frames[0].payload.substr(8) == "no more");
  CHECK(rig.Feed(Head(1, kOk) + Data(1, "x", true)).ok());
  CHECK(user.end.status.ok());
}

TEST_CASE("a session without calls is destroyed in any state") {
  { Rig rig; }
  {
    Rig rig;
    rig.Collect();
  }
  Rig rig;
  rig.Start();
  rig.Open();
  rig.Open("/x", true);
}

TEST_CASE("stream ids run out in time") {
  weft::http2::SessionOptions options;
  options.first_stream_id = INT32_MAX - 4;
  Rig rig(options);
  rig.Start();
  CHECK(rig.session->nearing_end());
  CHECK(rig.session->capacity() == 3);
  std::vector<User*> users;
  for (int i = 0; i < 3; ++i) {
    CHECK(rig.session->accepting());
    users.push_back(&rig.Open());
  }
  CHECK(rig.session->capacity() == 0);
  CHECK_FALSE(rig.session->accepting());
  rig.Collect();
  CHECK(rig.Feed(Head(INT32_MAX - 4, kOk, true) + Head(INT32_MAX - 2, kOk, true) +
                 Head(INT32_MAX, kOk, true))
            .ok());
  for (User* user : users) CHECK(user->end.status.ok());
  CHECK_FALSE(Rig().session->nearing_end());
}

}  // namespace
}  // namespace weft::test::http2
