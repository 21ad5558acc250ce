// The real loop, its thread and clock are what is tested here.
#include "event/epoll_loop.h"

#include <pthread.h>
#include <time.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "event/epoll_loop_rig.h"
#include "event/on_loop.h"
#include "support/catch.h"

namespace weft::event {
namespace {

using std::chrono::milliseconds;
using testing::Get;
using testing::On;

TEST_CASE("a task queue is first in, first out") {
  std::vector<int> ran;
  FnTask a([&] { ran.push_back(1); }), b([&] { ran.push_back(2); }), c([&] { ran.push_back(3); });
  TaskQueue queue;
  CHECK(queue.empty());
  CHECK(queue.Pop() == nullptr);

  TaskQueue::SetNext(&a, nullptr);
  TaskQueue::SetNext(&b, &a);
  TaskQueue turned = TaskQueue::FromLifo(&b);
  queue.Push(&c);
  turned.Append(queue);
  CHECK(queue.empty());
  queue.Append(turned);
  while (Task* task = queue.Pop()) task->Run();
  CHECK(ran == std::vector<int>{1, 2, 3});
  CHECK(TaskQueue::FromLifo(nullptr).empty());

  queue.Push(&a);
  queue.DropAll();
  CHECK(a.dropped);
  CHECK(queue.empty());
}

TEST_CASE("tasks run on the loop's thread") {
  auto loop = NewLoop();
  CHECK_FALSE(loop->IsCurrent());
  CHECK_FALSE(OnAnyLoop());
  CHECK(On(*loop, [&] { return loop->IsCurrent() && OnAnyLoop(); }));
  const std::string name = On(*loop, [] {
    char text[32] = {};
    pthread_getname_np(pthread_self(), text, sizeof text);
    return std::string(text);
  });
  CHECK(name == "test-loop");
  auto other = NewLoop();
  CHECK_FALSE(On(*other, [&] { return loop->IsCurrent(); }));
}

TEST_CASE("CurrentLoop nests") {
  auto a = NewLoop();
  auto b = NewLoop();
  {
    CurrentLoop outer(a.get());
    CHECK(a->IsCurrent());
    {
      CurrentLoop inner(b.get());
      CHECK(CurrentLoop::Get() == b.get());
      CHECK_FALSE(a->IsCurrent());
    }
    CHECK(CurrentLoop::Get() == a.get());
  }
  CHECK(CurrentLoop::Get() == nullptr);
}

TEST_CASE("signals are left to other threads, faults and profilers' excepted") {
  auto loop = NewLoop();
  const sigset_t set = On(*loop, [] {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    return blocked;
  });
  CHECK(sigismember(&set, SIGTERM) == 1);
  CHECK(sigismember(&set, SIGCHLD) == 1);
  CHECK(sigismember(&set, SIGPIPE) == 1);
  CHECK(sigismember(&set, SIGSEGV) == 0);
  CHECK(sigismember(&set, SIGPROF) == 0);
}

TEST_CASE("an interrupted wait goes on") {
  struct sigaction action {};
  struct sigaction before;
  action.sa_handler = [](int) {};
  sigaction(SIGPROF, &action, &before);
  auto loop = NewLoop();
  const pthread_t thread = On(*loop, [] { return pthread_self(); });
  for (int i = 0; i < 200; ++i) {
    pthread_kill(thread, SIGPROF);
    if (i % 10 == 0) On(*loop, [] {});
  }
  CHECK(On(*loop, [] { return 5; }) == 5);
  loop.reset();
  sigaction(SIGPROF, &before, nullptr);
}

TEST_CASE("a poster never finds the loop asleep for good") {
  auto loop = NewLoop();
  int ran = 0;
  for (int i = 0; i < 5000; ++i) On(*loop, [&] { ++ran; });
  CHECK(ran == 5000);
}

TEST_CASE("each thread's tasks run in the order of posting") {
  constexpr int kThreads = 4;
  constexpr int kTasks = 5000;
  auto loop = NewLoop();
  std::array<int, kThreads> next{};
  int left = kThreads * kTasks;
  bool wrong = false;
  std::promise<void> all;
  std::future<void> done = all.get_future();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kTasks; ++i) {
        loop->PostFunction([&, t, i] {
          wrong = wrong || next[t] != i;
          next[t] = i + 1;
          if (--left == 0) all.set_value();
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Get(std::move(done));
  CHECK_FALSE(wrong);
}

TEST_CASE("the phases of a turn come in order") {
  auto loop = NewLoop();
  std::vector<std::string> trace;
  std::promise<void> promise;
  std::future<void> done = promise.get_future();
  FnTask next([&] {
    trace.push_back("next turn");
    promise.set_value();
  });
  FnTask end2([&] { trace.push_back("end 2"); });
  FnTask end([&] {
    trace.push_back("end");
    loop->AtTurnEnd(&end2);
  });
  FnTask task([&] {
    trace.push_back("task");
    loop->Post(&next);
  });
  FnTimer timer([&] {
    trace.push_back("timer");
    loop->Post(&task);
    loop->AtTurnEnd(&end);
    loop->DeleteLater(std::make_unique<FnDeferred>([&] {
      trace.push_back("delete");
      loop->DeleteLater(std::make_unique<FnDeferred>([&] { trace.push_back("delete 2"); }));
    }));
  });
  On(*loop, [&] { loop->Arm(&timer, loop->now()); });
  Get(std::move(done));
  CHECK(trace == std::vector<std::string>{"timer", "task", "end", "end 2", "delete", "delete 2",
                                          "next turn"});
}

TEST_CASE("time stands still within a turn and goes on in the next") {
  auto loop = NewLoop();
  const auto [first, again, clock] = On(*loop, [&] {
    const base::MonoTime now = loop->now();
    while (loop->clock().Now() < now + milliseconds(2)) {
    }
    return std::array{now, loop->now(), loop->clock().Now()};
  });
  CHECK(first == again);
  CHECK(clock >= first + milliseconds(2));
  const base::MonoTime later = On(*loop, [&] { return loop->now(); });
  CHECK(later >= clock);
}

TEST_CASE("a timer is not early, and nobody spins for it") {
  auto loop = NewLoop();
  const auto cpu = [] {
    timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
  };
  std::promise<base::MonoTime> promise;
  std::future<base::MonoTime> fired = promise.get_future();
  base::MonoDuration spent{};
  FnTimer timer([&] {
    spent = cpu() - spent;
    promise.set_value(loop->clock().Now());
  });
  const base::MonoTime at = On(*loop, [&] {
    // Not a whole number of milliseconds.
    const base::MonoTime when = loop->now() + milliseconds(50) + std::chrono::microseconds(300);
    loop->Arm(&timer, when);
    spent = cpu();
    return when;
  });
  CHECK(Get(std::move(fired)) >= at);
  CHECK(spent < milliseconds(20));
}

TEST_CASE("a timer that was disarmed before it was due holds up no later one, nor an earlier one") {
  auto loop = NewLoop();
  std::promise<base::MonoTime> early_promise, late_promise;
  std::future<base::MonoTime> early = early_promise.get_future();
  std::future<base::MonoTime> late = late_promise.get_future();
  FnTimer gone([] { FAIL("it was disarmed"); });
  FnTimer first([&] { early_promise.set_value(loop->clock().Now()); });
  FnTimer second([&] { late_promise.set_value(loop->clock().Now()); });
  const base::MonoTime start = On(*loop, [&] {
    loop->Arm(&gone, loop->now() + milliseconds(20));
    loop->Arm(&second, loop->now() + milliseconds(40));
    return loop->now();
  });
  On(*loop, [&] {
    loop->Disarm(&gone);
    loop->Arm(&first, loop->now() + milliseconds(3));
  });
  const base::MonoTime early_at = Get(std::move(early));
  const base::MonoTime late_at = Get(std::move(late));
  CHECK(early_at >= start + milliseconds(3));
  CHECK(late_at >= start + milliseconds(40));
  CHECK(early_at < late_at);
}

TEST_CASE("timers fire in order, moved and disarmed ones accordingly") {
  auto loop = NewLoop();
  std::vector<int> ran;
  std::promise<void> promise;
  std::future<void> done = promise.get_future();
  FnTimer a([&] { ran.push_back(1); });
  FnTimer b([&] { ran.push_back(2); });
  FnTimer c([&] { ran.push_back(3); });
  FnTimer last([&] { promise.set_value(); });
  On(*loop, [&] {
    const base::MonoTime now = loop->now();
    loop->Arm(&last, now + milliseconds(8));
    loop->Arm(&a, now + milliseconds(2));
    loop->Arm(&b, now + milliseconds(1));
    loop->Arm(&c, now + milliseconds(3));
    loop->Arm(&a, now + milliseconds(5));
    loop->Disarm(&c);
  });
  Get(std::move(done));
  CHECK(ran == std::vector<int>{2, 1});
}

TEST_CASE("slow turns are counted") {
  std::atomic<uint64_t> slow{0};
  auto loop = NewLoop(&slow);
  On(*loop, [] {});
  On(*loop, [&] {
    while (loop->clock().Now() - loop->now() <= milliseconds(101)) {
    }
  });
  On(*loop, [] {});
  CHECK(slow == 1);
}

}  // namespace
}  // namespace weft::event
