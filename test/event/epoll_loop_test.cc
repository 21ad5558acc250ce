// The real loop, its thread and clock are what is tested here.
#include "event/epoll_loop.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/catch.h"

namespace weft::event {
namespace {

using std::chrono::milliseconds;

template <class T>
T Get(std::future<T> future) {
  if (future.wait_for(std::chrono::seconds(30)) != std::future_status::ready) {
    FAIL("nothing happened for 30 s");
  }
  return future.get();
}

std::unique_ptr<EpollLoop> NewLoop(std::atomic<uint64_t>* slow_turns = nullptr) {
  absl::StatusOr<std::unique_ptr<EpollLoop>> loop = EpollLoop::Start("test-loop", slow_turns);
  REQUIRE(loop.ok());
  return *std::move(loop);
}

// Runs `function` as a task and gives its result.
template <class F>
auto On(Loop& loop, F function) {
  using T = std::invoke_result_t<F>;
  std::promise<T> promise;
  std::future<T> future = promise.get_future();
  loop.PostFunction([promise = std::move(promise), function = std::move(function)]() mutable {
    if constexpr (std::is_void_v<T>) {
      function();
      promise.set_value();
    } else {
      promise.set_value(function());
    }
  });
  return Get(std::move(future));
}

class FnTask final : public Task {
 public:
  explicit FnTask(std::function<void()> fn) : fn_(std::move(fn)) {}
  void Run() override { fn_(); }
  void Drop() override { dropped = true; }
  bool dropped = false;

 private:
  std::function<void()> fn_;
};

class FnTimer final : public Timer {
 public:
  explicit FnTimer(std::function<void()> fn) : fn_(std::move(fn)) {}
  void OnTimer() override { fn_(); }

 private:
  std::function<void()> fn_;
};

class FnDeferred final : public Deferred {
 public:
  explicit FnDeferred(std::function<void()> fn) : fn_(std::move(fn)) {}
  ~FnDeferred() override { fn_(); }

 private:
  std::function<void()> fn_;
};

class FnWatcher final : public FdWatcher {
 public:
  explicit FnWatcher(std::function<void(bool, bool)> fn) : fn_(std::move(fn)) {}
  void OnReady(bool readable, bool writable) override { fn_(readable, writable); }
  void OnHangup() override { hangup = true; }
  bool hangup = false;

 private:
  std::function<void(bool, bool)> fn_;
};

struct Pair {
  Pair() { REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fd) == 0); }
  ~Pair() {
    for (int end : fd) {
      if (end >= 0) close(end);
    }
  }
  int fd[2];
};

void SendByte(int fd) { REQUIRE(send(fd, "x", 1, MSG_NOSIGNAL) == 1); }

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
  CHECK(trace ==
        std::vector<std::string>{"timer", "task", "end", "end 2", "delete", "delete 2", "next turn"});
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

TEST_CASE("a watcher is told of edges, and of the end") {
  auto loop = NewLoop();
  Pair pair;
  std::promise<std::pair<bool, bool>> promise;
  const auto expect = [&] {
    promise = {};
    return promise.get_future();
  };
  FnWatcher watcher([&](bool readable, bool writable) { promise.set_value({readable, writable}); });

  auto first = expect();
  REQUIRE(On(*loop, [&] { return loop->Watch(pair.fd[0], &watcher); }).ok());
  CHECK(Get(std::move(first)) == std::pair(false, true));

  auto second = expect();
  SendByte(pair.fd[1]);
  CHECK(Get(std::move(second)).first);
  On(*loop, [] {});  // not read, and yet there is no other edge: promise would throw
  CHECK_FALSE(watcher.hangup);

  auto third = expect();
  shutdown(pair.fd[1], SHUT_WR);
  CHECK(Get(std::move(third)).first);
  CHECK(On(*loop, [&] { return watcher.hangup; }));

  On(*loop, [&] { loop->Unwatch(pair.fd[0], &watcher); });
  shutdown(pair.fd[1], SHUT_RDWR);
  On(*loop, [] {});
}

TEST_CASE("an unwatched descriptor's event is not delivered, though it was fetched, nor to its successor") {
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
      // The other one, whose event has been fetched too, goes, and its number is taken by another socket.
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

TEST_CASE("destroying a loop ends the turn that runs, drops the rest and deletes what was deferred") {
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
  // The turn is ended whether the task goes on before or after the loop was told to stop; only whether there is another
  // turn, with what is queued, depends on it.
  std::thread destroyer([&] { loop.reset(); });
  release.set_value();
  destroyer.join();
  CHECK(ended);
  CHECK(deleted);
  CHECK(token.use_count() == 1);
  CHECK(ran_queued != queued.dropped);
  CHECK_FALSE(timer.armed());
}

TEST_CASE("a loop destroyed on its own thread runs nothing more, and lives to the end of the turn") {
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
      raw->DeleteLater(std::make_unique<FnDeferred>([&, raw] { promise.set_value(raw->IsCurrent()); }));
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
    CHECK_THAT(std::string(status.message()), Catch::Matchers::ContainsSubstring("file descriptor"));
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
