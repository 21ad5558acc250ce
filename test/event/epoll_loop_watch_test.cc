// Descriptors of the real loop.
#include "event/epoll_loop.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <utility>

#include "event/epoll_loop_rig.h"
#include "event/on_loop.h"
#include "support/catch.h"

namespace weft::event {
namespace {

using testing::Get;
using testing::On;

TEST_CASE("a watcher is told of edges, and of the end") {
  auto loop = NewLoop();
  Pair pair;
  Edges edges;
  FnWatcher watcher([&](bool readable, bool writable) { edges.Add(readable, writable); });

  REQUIRE(On(*loop, [&] { return loop->Watch(pair.fd[0], &watcher); }).ok());
  CHECK(edges.Next() == std::pair(false, true));

  SendByte(pair.fd[1]);
  CHECK(edges.Next().first);
  On(*loop, [] {});
  CHECK(edges.none());  // not read, and yet there is no other one
  CHECK_FALSE(On(*loop, [&] { return watcher.hangup; }));

  shutdown(pair.fd[1], SHUT_WR);
  CHECK(edges.Next().first);
  CHECK(On(*loop, [&] { return watcher.hangup; }));

  On(*loop, [&] { loop->Unwatch(pair.fd[0], &watcher); });
  shutdown(pair.fd[1], SHUT_RDWR);
  On(*loop, [] {});
  CHECK(edges.none());
}

TEST_CASE(
    "an unwatched descriptor's event is not delivered, though it was fetched, nor to its "
    "successor") {
  auto loop = NewLoop();
  Pair pairs[2];
  Pair other;
  int calls = 0;
  int successor_calls = 0;
  base::MonoTime turn{};
  std::promise<bool> promise;
  std::future<bool> told = promise.get_future();
  FnWatcher successor([&](bool readable, bool) {
    if (++successor_calls == 1) promise.set_value(readable || loop->now() == turn);
  });
  std::unique_ptr<FnWatcher> watchers[2];
  int survivor = -1;
  for (int i = 0; i < 2; ++i) {
    watchers[i] = std::make_unique<FnWatcher>([&, i](bool readable, bool) {
      if (!readable) return;  // the first edges
      ++calls;
      survivor = i;
      turn = loop->now();
      // The other one, whose event has been fetched too, goes, and its number is taken by another
      // socket.
      const int number = pairs[1 - i].fd[0];
      loop->Unwatch(number, watchers[1 - i].get());
      if (dup2(other.fd[0], number) != number) return;
      watchers[1 - i].reset();
      (void)loop->Watch(number, &successor);
    });
  }
  On(*loop, [&] {
    for (int i = 0; i < 2; ++i) (void)loop->Watch(pairs[i].fd[0], watchers[i].get());
  });
  On(*loop, [] {});
  On(*loop, [&] {
    for (Pair& pair : pairs) SendByte(pair.fd[1]);  // both are found by the next wait
  });
  CHECK_FALSE(Get(std::move(told)));
  On(*loop, [&] {
    loop->Unwatch(pairs[survivor].fd[0], watchers[survivor].get());
    loop->Unwatch(pairs[1 - survivor].fd[0], &successor);
  });
  CHECK(calls == 1);
  CHECK(successor_calls == 1);
}

TEST_CASE("watching what cannot be watched is an error") {
  auto loop = NewLoop();
  FnWatcher watcher([](bool, bool) {});
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  REQUIRE(file >= 0);
  const absl::Status status = On(*loop, [&] { return loop->Watch(file, &watcher); });
  CHECK(status.code() == absl::StatusCode::kResourceExhausted);
  close(file);
}

}  // namespace
}  // namespace weft::event
