// Beginning and end of the real loop.
#include "event/epoll_loop.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "event/epoll_loop_rig.h"
#include "event/on_loop.h"
#include "support/catch.h"

namespace weft::event {
namespace {

using testing::Get;
using testing::On;

TEST_CASE(
    "destroying a loop ends the turn that runs, drops the rest and deletes what was deferred") {
  auto loop = NewLoop();
  auto token = std::make_shared<int>(0);
  bool ran_queued = false, ended = false, deleted = false;
  std::promise<void> entered;
  std::future<void> in_task = entered.get_future();
  std::promise<void> release;
  FnTask end([&] { ended = true; });
  FnTask queued([&] { ran_queued = true; });
  FnTimer timer([&] { ran_queued = true; });
  loop->PostFunction([&, raw = loop.get(), released = release.get_future()]() mutable {
    entered.set_value();
    released.wait();
    raw->AtTurnEnd(&end);
    raw->Arm(&timer, raw->now() + std::chrono::hours(1));
    raw->DeleteLater(std::make_unique<FnDeferred>([&deleted] { deleted = true; }));
  });
  Get(std::move(in_task));
  loop->PostFunction([token] {});
  loop->Post(&queued);
  // The turn is ended whether the task goes on before or after the loop was told to stop; only
  // whether there is another turn, with what is queued, depends on it.
  std::thread destroyer([&] { loop.reset(); });
  release.set_value();
  destroyer.join();
  CHECK(ended);
  CHECK(deleted);
  CHECK(token.use_count() == 1);
  CHECK(ran_queued != queued.dropped);
  CHECK_FALSE(timer.armed());
}

TEST_CASE(
    "a loop destroyed on its own thread runs nothing more, and lives to the end of the turn") {
  auto loop = NewLoop();
  auto token = std::make_shared<int>(0);
  Pair pair;
  FnWatcher watcher([](bool, bool) {});
  std::atomic<bool> ran{false};
  FnTask queued([&] { ran = true; });
  FnTask local([&] { ran = true; });
  FnTask end([&] { ran = true; });
  FnTask late([&] { ran = true; });
  FnTimer timer([&] { ran = true; });
  FnTimer late_timer([&] { ran = true; });
  std::promise<bool> promise;
  std::future<bool> gone = promise.get_future();
  std::promise<void> release;
  loop->PostFunction([released = release.get_future().share()] { released.wait(); });
  loop->PostFunction([&, token] {
    Loop* const raw = loop.get();
    (void)raw->Watch(pair.fd[0], &watcher);
    raw->Post(&local);
    raw->PostFunction([token] {});
    raw->AtTurnEnd(&end);
    raw->Arm(&timer, raw->now());
    raw->DeleteLater(std::make_unique<FnDeferred>([&, raw] {
      raw->Unwatch(pair.fd[0], &watcher);
      raw->Disarm(&late_timer);
      raw->DeleteLater(
          std::make_unique<FnDeferred>([&, raw] { promise.set_value(raw->IsCurrent()); }));
    }));
    loop.reset();
    raw->Post(&late);
    raw->PostFunction([token] {});
    raw->Arm(&late_timer, raw->now());
  });
  loop->Post(&queued);
  release.set_value();
  CHECK(Get(std::move(gone)));
  CHECK_FALSE(ran);
  CHECK(queued.dropped);
  CHECK(local.dropped);
  CHECK(end.dropped);
  CHECK(late.dropped);
  CHECK_FALSE(timer.armed());
  CHECK_FALSE(late_timer.armed());
  CHECK(token.use_count() == 1);
}

TEST_CASE("a loop destroyed in a watcher or a timer on its own thread") {
  for (const bool in_watcher : {true, false}) {
    auto loop = NewLoop();
    Pair pairs[2];
    std::promise<void> promise;
    std::future<void> gone = promise.get_future();
    int calls = 0;
    const auto end = [&] {
      ++calls;
      loop->DeleteLater(std::make_unique<FnDeferred>([&] { promise.set_value(); }));
      loop.reset();
    };
    FnWatcher watcher([&](bool, bool) { end(); });
    FnTimer a(end), b(end);
    On(*loop, [&] {
      if (in_watcher) {
        for (Pair& pair : pairs) (void)loop->Watch(pair.fd[0], &watcher);
      } else {
        loop->Arm(&a, loop->now());
        loop->Arm(&b, loop->now());
      }
    });
    Get(std::move(gone));
    CHECK(calls == 1);
  }
}

// The poster has not returned from Post yet, or not been seen to, when the loop goes.
TEST_CASE("what was posted may end the loop") {
  for (int i = 0; i < 300; ++i) {
    std::promise<void> promise;
    std::future<void> ran = promise.get_future();
    auto own = NewLoop();
    Pair pair;
    FnWatcher watcher([](bool, bool) {});
    On(*own, [&] { (void)own->Watch(pair.fd[0], &watcher); });
    std::thread waker([fd = pair.fd[1]] {
      SendByte(fd);
    });  // so that the loop wakes up without the poster's help
    own->PostFunction([&] {
      own->DeleteLater(std::make_unique<FnDeferred>([&] { promise.set_value(); }));
      own.reset();
    });
    Get(std::move(ran));
    waker.join();

    auto other = NewLoop();
    std::promise<void> entered;
    std::thread poster(
        [raw = other.get(), &entered] { raw->PostFunction([&] { entered.set_value(); }); });
    Get(entered.get_future());
    other.reset();
    poster.join();
  }
}

TEST_CASE("without descriptors there is no loop, but an error") {
  rlimit before;
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const int lowest = dup(0);
  REQUIRE(lowest >= 0);
  close(lowest);
  for (int room : {0, 1}) {
    rlimit limit = before;
    limit.rlim_cur = static_cast<rlim_t>(lowest + room);
    REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    const absl::Status status = EpollLoop::Start("none", nullptr).status();
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(status.code() == absl::StatusCode::kResourceExhausted);
    CHECK_THAT(std::string(status.message()),
               Catch::Matchers::ContainsSubstring("file descriptor"));
  }
  const int again = dup(0);
  CHECK(again == lowest);
  close(again);
}

TEST_CASE("without a thread there is no loop, but an error") {
  pthread_attr_t before;
  REQUIRE(pthread_getattr_default_np(&before) == 0);
  pthread_attr_t huge = before;
  REQUIRE(pthread_attr_setstacksize(&huge, size_t{1} << 50) == 0);
  REQUIRE(pthread_setattr_default_np(&huge) == 0);
  const absl::Status status = EpollLoop::Start("none", nullptr).status();
  REQUIRE(pthread_setattr_default_np(&before) == 0);
  CHECK(status.code() == absl::StatusCode::kResourceExhausted);
  CHECK_THAT(std::string(status.message()), Catch::Matchers::ContainsSubstring("no thread"));
}

}  // namespace
}  // namespace weft::event
