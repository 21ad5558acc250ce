// Floods (faults 12 and 13 of the catalogue), and busy peers that are none.
#include "rig.h"
#include "support/catch.h"

namespace weft::test::http2 {
namespace {

using Catch::Matchers::ContainsSubstring;

const Fields kOk = {{":status", "200"}};

// Feeds a frame again and again, as fast as it can be sent; how many were taken.
int Flood(const std::string& frame, int most, bool collect, absl::Status& status,
          const std::string& before = "") {
  Rig rig;
  rig.Start();
  User& user = rig.Open();
  rig.Collect();
  status = rig.Feed(before);
  int frames = 0;
  for (; status.ok() && frames < most; ++frames) {
    status = rig.Feed(frame);
    if (collect && status.ok()) rig.Collect();
  }
  if (!status.ok()) {
    const auto last = rig.CollectFrames();
    const Sent* goaway = FindFrame(last, kGoaway);
    REQUIRE(goaway != nullptr);
    CHECK(goaway->code() == kEnhanceYourCalm);
    rig.session->EndAll(status, 1 << 20);
    CHECK(user.ends == 1);
  }
  return frames;
}

TEST_CASE("faults 12, 13: floods of frames that carry nothing end the connection") {
  const auto [frame, before, words] = GENERATE(table<std::string, std::string, std::string>({
      {Ping(1), "", "PING"},
      {Settings(), "", "SETTINGS"},
      {Settings({{kInitialWindow, 0}}) + Settings({{kInitialWindow, 1 << 20}}), "", "SETTINGS"},
      {Frame(kPriority, 0, 1, "12345"), "", "PRIORITY"},
      {WindowUpdate(0, 1), "", "WINDOW_UPDATE"},
      {WindowUpdate(1, 1), "", "WINDOW_UPDATE"},
      {Frame(0x55, 0, 0, ""), "", "unknown"},
      {Data(1, ""), Head(1, kOk), "empty or tiny DATA"},
      {Data(1, "x"), Head(1, kOk), "empty or tiny DATA"},
      {PaddedData(1, "", 255), Head(1, kOk), "empty or tiny DATA"},
      {Rst(1, kCancel), "", "RST_STREAM"},
      {Data(1, "", true), Head(1, kOk, true), "empty or tiny DATA"},
      {Head(1, {}), Head(1, kOk, true), "HEADERS"},
      {Goaway(1, 0), "", "GOAWAY"},
  }));
  CAPTURE(words);
  absl::Status status;
  const int taken = Flood(frame, 200000, true, status, before);
  CHECK(taken > 100);
  CHECK(taken < 150000);
  CHECK(status.code() == absl::StatusCode::kResourceExhausted);
  CHECK_THAT(std::string(status.message()), ContainsSubstring(words));
}

TEST_CASE("fault 13: acknowledgements do not pile up while nothing is sent") {
  absl::Status status;
  CHECK(Flood(Ping(1), 5000, false, status) <= 1001);
  CHECK(status.code() == absl::StatusCode::kResourceExhausted);
}

TEST_CASE("a stream of thousands of small messages a second is no flood") {
  Rig rig;
  rig.Start();
  User& user = rig.Open();
  rig.Collect();
  REQUIRE(rig.Feed(Head(1, kOk)).ok());
  for (int i = 0; i < 100000; ++i) {
    rig.now += std::chrono::microseconds(125);  // 8,000 a second
    REQUIRE(rig.Feed(Data(1, "x")).ok());
    rig.Collect();
  }
  for (int i = 0; i < 200000; ++i) {  // gRPC messages without content, and no time passes
    REQUIRE(rig.Feed(Data(1, std::string(5, '\0'))).ok());
    rig.Collect();
  }
  CHECK(user.ends == 0);
}

TEST_CASE("a busy connection of calls, each refused, is no flood") {
  Rig rig;
  rig.Start();
  for (uint32_t id = 1; id < 100000; id += 2) {
    User& user = rig.Open();
    rig.Collect();
    REQUIRE(rig.Feed(Rst(id, kRefusedStream)).ok());
    REQUIRE(user.ends == 1);
    rig.users.clear();
  }
}

TEST_CASE("what came before the frame that is one too many still counts") {
  Rig rig;
  rig.Start();
  User& user = rig.Open();
  rig.Collect();
  std::string script = Head(1, kOk) + Data(1, "all", true);
  for (int i = 0; i < 500; ++i) script += Settings();
  script += Settings() + Settings() + Settings();
  absl::Status status = rig.Feed(script);
  CHECK(status.code() == absl::StatusCode::kResourceExhausted);
  CHECK(user.Log() == "head 200; data all; end OK peer may have been processed");
}

}  // namespace
}  // namespace weft::test::http2
