// Bodies and trailers of requests, on their way out.
#include "rig.h"
#include "support/catch.h"

namespace weft::test::http2 {
namespace {

const Fields kOk = {{":status", "200"}, {"content-type", "text/plain"}};

TEST_CASE("a body goes out in frames, with END_STREAM on the last") {
  Rig rig;
  rig.Start();
  User& user = rig.Prepare();
  user.body = std::string(40000, 'b');
  rig.Open(user, "/up", true);
  const auto frames = rig.CollectFrames();
  REQUIRE(frames.size() == 4);
  CHECK(frames[0].type == kHeaders);
  CHECK(frames[0].flags == kEndHeaders);
  CHECK(frames[1].payload.size() == 16384);
  CHECK(frames[3].payload.size() == 40000 - 2 * 16384);
  CHECK(frames[3].flags == kEndStream);
  CHECK_FALSE(rig.session->wants_to_send());
  CHECK(rig.Feed(Head(1, kOk, true)).ok());
  CHECK(user.Log() == "head 200 content-type=text/plain; end OK peer may have been processed");
  CHECK(rig.Collect().empty());
}

TEST_CASE("small pieces of a body share a frame") {
  Rig rig;
  rig.Start();
  User& user = rig.Prepare();
  user.body = std::string(1000, 'b');
  user.piece = 10;
  rig.Open(user, "/up", true);
  const auto frames = rig.CollectFrames();
  REQUIRE(frames.size() == 2);
  CHECK(frames[1].payload.size() == 1000);
  rig.session->EndAll(absl::CancelledError(), 0);
}

TEST_CASE("trailers follow the body") {
  Rig rig;
  rig.Start();
  const size_t size = GENERATE(size_t{0}, size_t{5});
  User& user = rig.Prepare();
  user.body = std::string(size, 'b');
  user.trailers = Headers{{"sum", "42"}};
  rig.Open(user, "/up", true);
  const auto frames = rig.CollectFrames();
  REQUIRE(frames.size() == (size == 0 ? 2u : 3u));
  rig.Decode(frames[0]);
  CHECK(frames.back().type == kHeaders);
  CHECK(frames.back().flags == (kEndStream | kEndHeaders));
  CHECK(rig.Decode(frames.back()) == Fields{{"sum", "42"}});
  CHECK(rig.Feed(Head(1, kOk, true)).ok());
  CHECK(user.end.status.ok());
  CHECK(rig.Collect().empty());  // both sides had ended: nothing to reset
}

TEST_CASE("a body that waits goes on when it is resumed") {
  Rig rig;
  rig.Start();
  User& user = rig.Prepare();
  user.body_open = true;
  rig.Open(user, "/up", true);
  CHECK(CountFrames(rig.CollectFrames(), kData) == 0);
  CHECK_FALSE(rig.session->wants_to_send());
  user.body = "one";
  rig.session->ResumeBody(user.stream);
  CHECK(rig.session->wants_to_send());
  auto frames = rig.CollectFrames();
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].payload == "one");
  user.body += "two";
  user.body_open = false;
  rig.session->ResumeBody(user.stream);
  frames = rig.CollectFrames();
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].payload == "two");
  CHECK(frames[0].flags == kEndStream);
  rig.session->EndAll(absl::CancelledError(), 0);
}

TEST_CASE("a body that is resumed while it is read is asked again") {
  Rig rig;
  rig.Start();
  User& user = rig.Prepare();
  user.body_open = true;
  int reads = 0;
  user.on = [&](std::string_view event) {
    if (event == "read" && ++reads == 1) rig.session->ResumeBody(user.stream);
  };
  rig.Open(user, "/up", true);
  rig.Collect();
  CHECK(reads == 2);
  rig.session->EndAll(absl::CancelledError(), 0);
}

TEST_CASE("a body that says more and gives nothing neither hangs nor starves") {
  class Idle : public User {
   public:
    http::BodyPiece ReadBody(char*, size_t) override {
      return {0, ++reads > 40 ? http::BodyPiece::Next::kEnd : http::BodyPiece::Next::kMore};
    }
    int reads = 0;
  };
  Rig rig;
  rig.Start();
  Idle user;
  user.session = rig.session.get();
  rig.Open(user, "/", true);
  int turns = 0;
  while (rig.session->wants_to_send() && turns < 100) {
    rig.Collect();
    ++turns;
  }
  CHECK(turns > 1);
  CHECK(turns < 10);
  CHECK(user.reads == 41);
  rig.session->EndAll(absl::CancelledError(), 0);
}

TEST_CASE("bodies wait for the limit of a Collect, control frames and heads do not") {
  Rig rig;
  rig.Start({{kInitialWindow, 1 << 20}});
  User& user = rig.Prepare();
  user.body = std::string(60000, 'b');
  rig.Open(user, "/up", true);
  std::vector<Sent> frames = rig.CollectFrames(1);
  CHECK(CountFrames(frames, kHeaders) == 1);
  CHECK(CountFrames(frames, kData) == 0);
  CHECK(rig.session->wants_to_send());
  rig.session->Ping(3);
  rig.Open("/second");
  frames = rig.CollectFrames(0);
  CHECK(frames.size() == 2);
  CHECK(CountFrames(frames, kData) == 0);
  frames = rig.CollectFrames(20000);
  CHECK(CountFrames(frames, kData) == 2);
  CHECK(rig.session->wants_to_send());
  frames = rig.CollectFrames();
  CHECK(CountFrames(frames, kData) == 2);
  CHECK(frames.back().flags == kEndStream);
  CHECK_FALSE(rig.session->wants_to_send());
  rig.session->EndAll(absl::CancelledError(), 0);
}

TEST_CASE("uploads share the connection in turns") {
  Rig rig;
  rig.Start({{kInitialWindow, 1 << 20}});
  for (int i = 0; i < 2; ++i) {
    User& user = rig.Prepare();
    user.body = std::string(1 << 20, 'b');
    rig.Open(user, "/up", true);
  }
  std::vector<Sent> frames = rig.CollectFrames();  // 65,535 bytes: the connection's window
  size_t sent[2] = {0, 0};
  for (const Sent& frame : frames) {
    if (frame.type == kData) sent[frame.id / 2] += frame.payload.size();
  }
  CHECK(sent[0] + sent[1] == 65535);
  CHECK(sent[0] >= 16384);
  CHECK(sent[1] >= 16384);
  rig.session->EndAll(absl::CancelledError(), 0);
}

TEST_CASE("the answer ends the call although the request is unfinished, which is cancelled") {
  Rig rig;
  rig.Start();
  User& user = rig.Prepare();
  user.body = std::string(100000, 'b');
  rig.Open(user, "/up", true);
  rig.Collect();
  CHECK(rig.Feed(Head(1, kOk) + Data(1, "no", true)).ok());
  CHECK(user.Log() ==
        "head 200 content-type=text/plain; data no; end OK peer may have been processed");
  const auto frames = rig.CollectFrames();
  const Sent* rst = FindFrame(frames, kRstStream, 1);
  REQUIRE(rst != nullptr);
  CHECK(rst->code() == kCancel);
  CHECK(CountFrames(frames, kData) == 0);
  CHECK(rig.Feed(WindowUpdate(1, 1000) + Rst(1, kNoError) + WindowUpdate(0, 1000)).ok());
  CHECK(rig.Collect().empty());
  CHECK(user.ends == 1);
}

}  // namespace
}  // namespace weft::test::http2
