// Streams that this side resets, and that it is told of; streams that change their user.
#include <string>
#include <vector>

#include "http2/rig.h"
#include "support/catch.h"

namespace weft::test::http2 {
namespace {

using http::ResetReason;

size_t CountResets(Rig& rig) { return CountFrames(rig.CollectFrames(), kRstStream); }

TEST_CASE("the owner is told of every RST_STREAM, once, and of none that is not sent") {
  Rig rig;
  rig.Start();
  SECTION("a stream of which nothing was sent") {
    User& user = rig.Open();
    rig.session->Reset(user.stream, ResetReason::kCancelled);
    CHECK(CountResets(rig) == 0);
    CHECK(rig.resets == 0);
  }
  SECTION("the user's") {
    User& user = rig.Open();
    rig.Collect();
    rig.session->Reset(user.stream, ResetReason::kInternal);
    CHECK(rig.resets == 1);  // at once
    CHECK(CountResets(rig) == 1);
    CHECK(rig.resets == 1);
  }
  SECTION("an answer that comes before the request is complete") {
    User& user = rig.Prepare();
    user.body_open = true;
    rig.Open(user, "/", true);
    rig.Collect();
    REQUIRE(rig.Feed(Head(1, {{":status", "200"}}, true)).ok());
    CHECK(user.end.status.ok());
    CHECK(CountResets(rig) == 1);
    CHECK(rig.resets == 1);
  }
  SECTION("nghttp2's own") {
    User& user = rig.Open();
    rig.Collect();
    REQUIRE(rig.Feed(Head(1, {{":status", "200"}, {"Upper", "case"}}, true)).ok());
    CHECK(CountResets(rig) == 1);
    CHECK(user.ends == 1);
    CHECK(rig.resets == 1);
  }
  SECTION("the peer's") {
    rig.Open();
    rig.Collect();
    REQUIRE(rig.Feed(Rst(1, kCancel)).ok());
    CHECK(CountResets(rig) == 0);
    CHECK(rig.resets == 0);
  }
}

TEST_CASE("what of a request was sent") {
  Rig rig;
  rig.Start();
  User& get = rig.Open();
  User& upload = rig.Prepare();
  upload.body = "abc";
  upload.body_open = true;
  rig.Open(upload, "/", true);
  CHECK(rig.session->RequestSent(get.stream) == http::Sent::kNothing);
  CHECK(rig.session->RequestSent(upload.stream) == http::Sent::kNothing);
  rig.Collect();
  CHECK(rig.session->RequestSent(get.stream) == http::Sent::kAll);
  CHECK(rig.session->RequestSent(upload.stream) == http::Sent::kPart);
  upload.body_open = false;
  upload.trailers = {{"t", "1"}};
  rig.session->ResumeBody(upload.stream);
  rig.Collect();
  CHECK(rig.session->RequestSent(upload.stream) == http::Sent::kAll);
}

TEST_CASE("a stream that is handed over tells its new user, and returns what the old one kept") {
  Rig rig({.stream_window = 100, .connection_window = 65535, .max_stream_window = 100});
  rig.Start();
  User& before = rig.Prepare();
  before.consume = false;
  rig.Open(before, "/", false);
  rig.Collect();
  REQUIRE(rig.Feed(Head(1, {{":status", "200"}}) + Data(1, std::string(100, 'x'))).ok());
  CHECK(FindFrame(rig.CollectFrames(), kWindowUpdate, 1) == nullptr);
  User& after = rig.Prepare();
  after.session = rig.session.get();
  after.stream = before.stream;
  rig.session->HandOver(before.stream, after);
  const std::vector<Sent> frames = rig.CollectFrames();
  const Sent* const returned = FindFrame(frames, kWindowUpdate, 1);
  REQUIRE(returned != nullptr);
  CHECK(returned->number() == 100);
  REQUIRE(rig.Feed(Data(1, "rest") + Head(1, {{"t", "1"}}, true)).ok());
  CHECK(before.ends == 0);
  CHECK(before.received == 100);
  CHECK(after.Log() == "data rest; trailers t=1; end OK peer may have been processed");
  CHECK(rig.session->open_streams() == 0);
  CHECK(rig.resets == 0);
}

TEST_CASE("a stream that was handed over can be reset, or ends with the session") {
  Rig rig;
  rig.Start();
  User& before = rig.Open();
  User& after = rig.Prepare();
  rig.Collect();
  rig.session->HandOver(before.stream, after);
  SECTION("reset") {
    rig.session->Reset(before.stream, ResetReason::kCancelled);
    CHECK(CountResets(rig) == 1);
    CHECK(after.ends == 0);
  }
  SECTION("end of the session") {
    rig.session->EndAll(absl::UnavailableError("gone"), SIZE_MAX);
    CHECK(after.ends == 1);
  }
  CHECK(before.ends == 0);
  CHECK(rig.session->open_streams() == 0);
}

}  // namespace
}  // namespace weft::test::http2
