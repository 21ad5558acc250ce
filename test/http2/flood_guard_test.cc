#include "http2/flood_guard.h"

#include <string>

#include "support/catch.h"

namespace weft::http2 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr base::MonoTime kStart{seconds(100)};

// How many such frames are taken at one moment.
int Burst(FloodGuard& guard, const FrameHead& head, base::MonoTime now = kStart) {
  int frames = 0;
  while (frames < 1000000 && guard.Admit(head, now)) ++frames;
  return frames;
}

TEST_CASE("each kind of frame has its price") {
  const auto [type, length, flags, most] = GENERATE(table<int, int, int, int>({
      {0, 0, 0, 5000},       // empty DATA
      {0, 0, 1, 5000},       // with END_STREAM: what is not earned costs the same
      {0, 1, 0, 100000},     // tiny
      {0, 4, 0, 100000},     // tiny
      {0, 260, 8, 100000},   // nearly all of it may be padding
      {1, 10, 4, 5000},      // HEADERS
      {2, 5, 0, 5000},       // PRIORITY
      {3, 4, 0, 5000},       // RST_STREAM
      {4, 6, 0, 500},        // SETTINGS
      {4, 0, 1, 5000},       // its acknowledgement
      {6, 8, 0, 5000},       // PING
      {7, 8, 0, 500},        // GOAWAY
      {8, 4, 0, 5000},       // WINDOW_UPDATE
      {99, 0, 0, 5000},      // unknown
      {9, 100, 0, 8},        // CONTINUATION
      {0, 5, 0, 1000000},    // DATA: free
      {0, 261, 8, 1000000},  // DATA: free
      {6, 8, 1, 1000000},    // an acknowledgement of a PING: judged by the session
  }));
  CAPTURE(type, length, flags);
  FloodGuard guard;
  const FrameHead head{static_cast<uint32_t>(length), static_cast<uint8_t>(type),
                       static_cast<uint8_t>(flags), 1};
  const int taken = Burst(guard, head);
  CHECK(taken >= most - 1);  // the tokens of tiny DATA are no whole numbers
  CHECK(taken <= most);
}

TEST_CASE("tokens come back with time, up to the burst") {
  FloodGuard guard;
  const FrameHead ping{8, 6, 0, 0};
  CHECK(Burst(guard, ping) == 5000);
  CHECK(Burst(guard, ping, kStart + milliseconds(100)) == 50);
  CHECK(Burst(guard, ping, kStart + seconds(1000)) == 5000);
  CHECK(Burst(guard, ping, kStart) == 0);  // a clock that goes back gives nothing
}

TEST_CASE("what this side does earns tokens") {
  FloodGuard guard;
  const FrameHead rst{4, 3, 0, 1};
  Burst(guard, rst);
  guard.OnStreamOpened();
  CHECK(Burst(guard, rst) == 6);
  guard.OnDataSent(512 * 10);
  CHECK(Burst(guard, rst) == 12);
  for (int i = 0; i < 10000000 / 6; ++i) guard.OnStreamOpened();
  CHECK(guard.tokens() == FloodGuard::kMaxEarned);
  CHECK(guard.Admit(rst, kStart + seconds(10)));
  CHECK(guard.tokens() == FloodGuard::kMaxEarned - 1);
}

TEST_CASE("continuations are counted in a row") {
  FloodGuard guard;
  const FrameHead continuation{0, 9, 0, 1};
  const FrameHead data{100, 0, 0, 1};
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 8; ++i) CHECK(guard.Admit(continuation, kStart));
    CHECK(guard.Admit(data, kStart));
  }
  CHECK(Burst(guard, continuation) == 8);
  CHECK(std::string(guard.excess()) == "CONTINUATION frames");
}

TEST_CASE("acknowledgements that nobody asked for are dear") {
  FloodGuard guard;
  int taken = 0;
  while (guard.AdmitStrayPingAck()) ++taken;
  CHECK(taken == 500);
}

}  // namespace
}  // namespace weft::http2
