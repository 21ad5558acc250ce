// Real sockets of this machine, and a real loop.
#include "net/posix_stream.h"

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "event/on_loop.h"
#include "net/posix_rig.h"
#include "support/catch.h"

namespace weft::net {
namespace {

using testing::Get;
using testing::On;

TEST_CASE("connects, reads, writes and sees the end, over TCP and Unix sockets") {
  const Listener::Kind kind = GENERATE(Listener::kTcp, Listener::kUnix);
  Fixture f;
  Listener listener(kind);
  Fd peer = f.ConnectTo(listener);
  CHECK(f.stream->alpn().empty());
  std::string text;
  CHECK(f.Read(&text).kind == IoResult::Kind::kBlocked);

  IoResult written = f.stream->Write("hello");
  CHECK(written.kind == IoResult::Kind::kOk);
  CHECK(written.bytes == 5);
  char buffer[16];
  REQUIRE(recv(peer.get(), buffer, sizeof buffer, 0) == 5);
  CHECK(std::string(buffer, 5) == "hello");

  REQUIRE(send(peer.get(), "world!", 6, MSG_NOSIGNAL) == 6);
  WaitReadable(f.fd());
  IoResult part = f.Read(&text, 4);
  CHECK(part.kind == IoResult::Kind::kOk);
  CHECK(text == "worl");
  CHECK_FALSE(part.drained);
  IoResult rest = f.Read(&text);
  CHECK(text == "d!");
  CHECK(rest.drained);
  CHECK(f.Read(&text).kind == IoResult::Kind::kBlocked);

  peer.Close();
  WaitReadable(f.fd());
  CHECK(f.Read(&text).kind == IoResult::Kind::kEnd);
}

TEST_CASE("a watcher is told at once, then of edges, and another takes over") {
  Fixture f;
  Listener listener;
  Fd peer = f.ConnectTo(listener);
  std::vector<std::pair<bool, bool>> told;
  std::promise<void> promise;
  FnWatcher watcher([&](bool readable, bool writable) {
    told.emplace_back(readable, writable);
    if (told.size() == 2) promise.set_value();
  });
  On(*f.loop, [&] { f.stream->SetWatcher(&watcher); });
  CHECK(On(*f.loop, [&] { return told; }) == std::vector{std::pair(true, true)});
  REQUIRE(send(peer.get(), "x", 1, MSG_NOSIGNAL) == 1);
  Get(promise.get_future());
  CHECK(told.back().first);

  On(*f.loop, [&] { f.stream->SetWatcher(nullptr); });
  REQUIRE(send(peer.get(), "y", 1, MSG_NOSIGNAL) == 1);
  WaitReadable(f.fd());
  On(*f.loop, [] {});
  std::promise<void> second;
  FnWatcher other([&](bool readable, bool writable) {
    if (readable && writable) second.set_value();
  });
  On(*f.loop, [&] { f.stream->SetWatcher(&other); });
  Get(second.get_future());
  CHECK(told.size() == 2);
  On(*f.loop, [&] { f.stream->SetWatcher(nullptr); });
}

TEST_CASE("the end behind a short read is not missed") {
  Fixture f;
  Listener listener;
  Fd peer = f.ConnectTo(listener);
  std::promise<std::string> promise;
  std::future<std::string> all = promise.get_future();
  std::string got;
  bool missed = false;
  // Reads as a session does: no more once it was told that the socket is empty.
  FnWatcher watcher([&](bool, bool) {
    for (;;) {
      char buffer[64];
      const IoResult result = f.stream->Read(buffer, sizeof buffer);
      if (result.kind == IoResult::Kind::kEnd) return promise.set_value(got);
      if (result.kind != IoResult::Kind::kOk) return;
      got.append(buffer, result.bytes);
      if (result.drained) {
        missed = got == "bye";
        return;
      }
    }
  });
  On(*f.loop, [&] {
    f.stream->SetWatcher(&watcher);
    // While the loop is busy here, so that bytes and end come with one edge.
    if (send(peer.get(), "bye", 3, MSG_NOSIGNAL) != 3) promise.set_value("not sent");
    peer.Close();
    WaitReadable(f.fd());
    pollfd end{f.fd(), POLLRDHUP, 0};
    if (poll(&end, 1, 30000) != 1) promise.set_value("no end");
  });
  CHECK(Get(std::move(all)) == "bye");
  CHECK_FALSE(missed);
  On(*f.loop, [&] { f.stream->SetWatcher(nullptr); });
}

TEST_CASE("a reset is a failure, and SIGPIPE is not raised") {
  Fixture f;
  Listener listener;
  Fd peer = f.ConnectTo(listener);
  peer.Reset();
  WaitReadable(f.fd());
  std::string text;
  const IoResult read = f.Read(&text);
  CHECK(read.kind == IoResult::Kind::kFailed);
  CHECK(read.status.code() == absl::StatusCode::kUnavailable);
  CHECK(read.status.message() == "reset the connection");
  const IoResult written = f.stream->Write("x");
  CHECK(written.kind == IoResult::Kind::kFailed);
  CHECK(written.status.message() == "closed the connection");
}

TEST_CASE("eight megabytes there and back, driven by edges alone") {
  constexpr size_t kBytes = size_t{8} << 20;
  const Listener::Kind kind = GENERATE(Listener::kTcp, Listener::kUnix);
  Fixture f;
  Listener listener(kind);
  Fd peer = f.ConnectTo(listener);
  std::thread echo([&] {
    std::vector<char> buffer(100000);
    for (;;) {
      const ssize_t got = recv(peer.get(), buffer.data(), buffer.size(), 0);
      if (got <= 0) return;
      for (ssize_t sent = 0; sent < got;) {
        const ssize_t n =
            send(peer.get(), buffer.data() + sent, static_cast<size_t>(got - sent), MSG_NOSIGNAL);
        if (n <= 0) return;
        sent += n;
      }
    }
  });
  const int small = 65536;
  REQUIRE(setsockopt(f.fd(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small) == 0);
  std::string out(kBytes, 0);
  for (size_t i = 0; i < kBytes; ++i) out[i] = static_cast<char>(i * 31 + (i >> 12));
  std::string in;
  size_t written = 0;
  int blocked = 0;
  bool finished = false;
  std::promise<void> promise;
  std::future<void> done = promise.get_future();
  std::vector<char> buffer(65536);
  FnWatcher watcher([&](bool readable, bool writable) {
    while (writable && written < kBytes) {
      const IoResult result = f.stream->Write(std::string_view(out).substr(written));
      if (result.kind == IoResult::Kind::kBlocked) ++blocked;
      if (result.kind != IoResult::Kind::kOk) break;
      written += result.bytes;
    }
    while (readable) {
      const IoResult result = f.stream->Read(buffer.data(), buffer.size());
      if (result.kind != IoResult::Kind::kOk) break;
      in.append(buffer.data(), result.bytes);
      if (result.drained) break;
    }
    if (in.size() == kBytes && !std::exchange(finished, true)) promise.set_value();
  });
  On(*f.loop, [&] { f.stream->SetWatcher(&watcher); });
  Get(std::move(done));
  CHECK(in == out);
  CHECK(blocked > 0);
  On(*f.loop, [&] { f.stream.reset(); });
  echo.join();
}

TEST_CASE("reading and writing from another thread while the loop tells of edges") {
  Fixture f;
  Listener listener;
  Fd peer = f.ConnectTo(listener);
  std::atomic<int> edges{0};
  FnWatcher watcher([&](bool, bool) { ++edges; });
  On(*f.loop, [&] { f.stream->SetWatcher(&watcher); });
  std::thread echo([&] {
    char buffer[64];
    ssize_t n;
    while ((n = recv(peer.get(), buffer, sizeof buffer, 0)) > 0) {
      if (send(peer.get(), buffer, static_cast<size_t>(n), MSG_NOSIGNAL) != n) return;
    }
    peer.Close();
  });
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    const std::string word = std::to_string(i);
    REQUIRE(f.stream->Write(word).bytes == word.size());
    WaitReadable(f.fd());
    REQUIRE(f.Read(&text).kind == IoResult::Kind::kOk);
    REQUIRE(text == word);
  }
  shutdown(f.fd(), SHUT_WR);
  WaitReadable(f.fd());
  CHECK(f.Read(&text).kind == IoResult::Kind::kEnd);
  echo.join();
  CHECK(edges > 0);
  On(*f.loop, [&] { f.stream->SetWatcher(nullptr); });
}

}  // namespace
}  // namespace weft::net
