// A loop whose thread is stuck in user code goes on with another thread.
#include "event/standby.h"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "event/epoll_loop.h"
#include "event/epoll_loop_rig.h"
#include "event/on_loop.h"
#include "support/catch.h"

namespace weft::event {
namespace {

using testing::Get;
using testing::On;

struct Rig {
  Rig() : loop(*EpollLoop::Start("test-loop", &slow, *Standby::Start())) {}

  // Runs `function` as user code on the loop's thread, then lets that thread be stuck there until
  // Release.
  template <class F>
  void Stick(F function) {
    loop->PostFunction([this, raw = loop.get(), function = std::move(function)] {
      {
        UserCode user;
        function();
        stuck.set_value();
        release.get_future().wait();
        within = raw->IsCurrent();
        on_a_loop = OnAnyLoop();
      }
      after = raw->IsCurrent();
      left.set_value();
    });
    Get(stuck.get_future());
  }
  void Release() {
    release.set_value();
    Get(left.get_future());
  }

  std::atomic<uint64_t> slow{0};
  std::promise<void> stuck;
  std::promise<void> release;
  std::promise<void> left;
  bool within = true;
  bool on_a_loop = false;
  bool after = true;
  std::unique_ptr<EpollLoop> loop;
};

TEST_CASE("a loop goes on while its thread is stuck in user code") {
  Rig rig;
  const auto first = On(*rig.loop, [] { return std::this_thread::get_id(); });
  rig.Stick([] {});
  const auto second = On(*rig.loop, [&] {
    CHECK(rig.loop->IsCurrent());
    return std::this_thread::get_id();
  });
  CHECK(second != first);
  CHECK(rig.slow == 1);
  // Its turns are whole ones: timers and descriptors are looked after too.
  std::promise<void> due;
  FnTimer timer([&] { due.set_value(); });
  On(*rig.loop, [&] { rig.loop->Arm(&timer, rig.loop->now() + std::chrono::milliseconds(1)); });
  Get(due.get_future());
  Pair pair;
  Edges edges;
  FnWatcher watcher([&](bool readable, bool writable) { edges.Add(readable, writable); });
  REQUIRE(On(*rig.loop, [&] { return rig.loop->Watch(pair.fd[0], &watcher); }).ok());
  CHECK_FALSE(edges.Next().first);
  SendByte(pair.fd[1]);
  CHECK(edges.Next().first);
  On(*rig.loop, [&] { rig.loop->Unwatch(pair.fd[0], &watcher); });

  rig.Release();
  rig.loop->AwaitRelieved();
  CHECK_FALSE(rig.within);
  CHECK(rig.on_a_loop);  // where blocking stays refused
  CHECK_FALSE(rig.after);
  CHECK(On(*rig.loop, [] { return std::this_thread::get_id(); }) == second);
}

TEST_CASE("what was begun in the turn of a stuck thread is finished by the next one") {
  Rig rig;
  std::vector<int> order;
  FnTask posted([&] { order.push_back(1); });
  FnTask at_end([&] { order.push_back(2); });
  std::promise<void> deleted;
  rig.Stick([&] {
    rig.loop->Post(&posted);
    rig.loop->AtTurnEnd(&at_end);
    rig.loop->DeleteLater(std::make_unique<FnDeferred>([&] {
      order.push_back(3);
      deleted.set_value();
    }));
    WeftCode weft;  // the calls before count as one of Weft's
  });
  Get(deleted.get_future());
  On(*rig.loop, [] {});
  CHECK(order == std::vector<int>{2, 3, 1});
  rig.Release();
}

TEST_CASE("a relieved thread posts like any other, and what it posts is run") {
  Rig rig;
  std::promise<std::thread::id> ran;
  std::thread::id stuck_on;
  rig.loop->PostFunction([&] {
    stuck_on = std::this_thread::get_id();
    UserCode user;
    rig.stuck.set_value();
    rig.release.get_future().wait();
    rig.loop->PostFunction([&] { ran.set_value(std::this_thread::get_id()); });
  });
  Get(rig.stuck.get_future());
  On(*rig.loop, [] {});
  rig.release.set_value();
  CHECK(Get(ran.get_future()) != stuck_on);
}

TEST_CASE("user code that returns in time keeps the loop on its thread") {
  Rig rig;
  const auto thread = On(*rig.loop, [] { return std::this_thread::get_id(); });
  for (int i = 0; i < 1000; ++i) {
    const bool same = On(*rig.loop, [&] {
      {
        UserCode user;
        if (!rig.loop->IsCurrent()) return false;
        WeftCode weft;
      }
      return rig.loop->IsCurrent() && std::this_thread::get_id() == thread;
    });
    REQUIRE(same);
  }
}

TEST_CASE("a loop that is destroyed waits for the threads that were relieved of it") {
  Rig rig;
  rig.Stick([] {});
  On(*rig.loop, [] {});
  std::atomic<bool> gone{false};
  std::thread destroyer([&] {
    rig.loop.reset();
    gone = true;
  });
  CHECK_FALSE(gone);
  rig.release.set_value();
  destroyer.join();
  CHECK(rig.left.get_future().wait_for(std::chrono::seconds(0)) == std::future_status::ready);
}

TEST_CASE("without a thread there is no standby, but an error") {
  pthread_attr_t before;
  REQUIRE(pthread_getattr_default_np(&before) == 0);
  pthread_attr_t huge = before;
  REQUIRE(pthread_attr_setstacksize(&huge, size_t{1} << 50) == 0);
  REQUIRE(pthread_setattr_default_np(&huge) == 0);
  const absl::Status status = Standby::Start().status();
  REQUIRE(pthread_setattr_default_np(&before) == 0);
  CHECK(status.code() == absl::StatusCode::kResourceExhausted);
}

TEST_CASE("several threads can be stuck, one after the other") {
  std::atomic<uint64_t> slow{0};
  auto loop = *EpollLoop::Start("test-loop", &slow, *Standby::Start());
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::atomic<int> stuck{0};
  for (int i = 0; i < 16; ++i) {
    loop->PostFunction([&stuck, released] {
      UserCode user;
      ++stuck;
      released.wait();
    });
  }
  On(*loop, [] {});
  CHECK(stuck == 16);
  CHECK(slow == 16);
  release.set_value();
  loop->AwaitRelieved();
  On(*loop, [] {});
}

}  // namespace
}  // namespace weft::event
