#include "event/alarm.h"

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "event/epoll_loop.h"
#include "support/catch.h"

namespace weft::event {
namespace {

using base::MonoTime;
using std::chrono::milliseconds;

MonoTime At(int64_t ms) { return MonoTime(milliseconds(ms)); }

// A loop of which the test is the thread, and which counts what is asked of it.
class HandLoop final : public Loop {
 public:
  ~HandLoop() override { tasks_.DropAll(); }
  void Turn(MonoTime now) {
    CurrentLoop current(this);
    now_ = now;
    timers_.RunDue(now);
    TaskQueue tasks = std::exchange(tasks_, {});
    while (Task* task = tasks.Pop()) task->Run();
  }
  template <class F>
  void Within(F function) {
    CurrentLoop current(this);
    function();
  }
  MonoTime next_timer() const { return timers_.next(); }
  int posted = 0;

  const Clock& clock() const override { return clock_; }
  bool IsCurrent() const override { return CurrentLoop::Get() == this; }
  void Post(Task* task) override {
    ++posted;
    tasks_.Push(task);
  }
  MonoTime now() const override { return now_; }
  void AtTurnEnd(Task*) override {}
  void DeleteLater(std::unique_ptr<Deferred>) override {}
  void Arm(Timer* timer, MonoTime at) override { timers_.Arm(timer, at); }
  void Disarm(Timer* timer) override { timers_.Disarm(timer); }
  absl::Status Watch(int, FdWatcher*) override {
    return absl::UnimplementedError("no descriptors");
  }
  void Unwatch(int, FdWatcher*) override {}

 private:
  SystemClock clock_;
  MonoTime now_{};
  TimerHeap timers_;
  TaskQueue tasks_;
};

class TestAlarm final : public Alarm {
 public:
  explicit TestAlarm(
      Loop& loop, std::function<void()> fn = [] {})
      : Alarm(loop), fn_(std::move(fn)) {}
  void OnAlarm() override {
    ++fired;
    fn_();
  }
  int fired = 0;

 private:
  std::function<void()> fn_;
};

TEST_CASE("on the loop's thread an alarm is armed at once") {
  HandLoop loop;
  TestAlarm alarm(loop);
  loop.Within([&] { alarm.EnsureBy(At(10)); });
  CHECK(loop.posted == 0);
  CHECK(loop.next_timer() == At(10));
  loop.Turn(At(9));
  CHECK(alarm.fired == 0);
  loop.Turn(At(10));
  CHECK(alarm.fired == 1);
  loop.Turn(At(1000));
  CHECK(alarm.fired == 1);
  loop.Within([&] { alarm.Stop(); });
}

TEST_CASE("an alarm is only moved to an earlier time, and posts only for that") {
  HandLoop loop;
  TestAlarm alarm(loop);
  alarm.EnsureBy(base::kNever);
  CHECK(loop.posted == 0);
  alarm.EnsureBy(At(100));
  CHECK(loop.posted == 1);
  alarm.EnsureBy(At(100));
  alarm.EnsureBy(At(200));
  alarm.EnsureBy(At(50));  // on its way already
  CHECK(loop.posted == 1);
  loop.Turn(At(0));
  CHECK(loop.next_timer() == At(50));
  alarm.EnsureBy(At(60));
  CHECK(loop.posted == 1);
  alarm.EnsureBy(At(40));
  CHECK(loop.posted == 2);
  loop.Turn(At(1));
  CHECK(loop.next_timer() == At(40));
  loop.Turn(At(45));
  CHECK(alarm.fired == 1);
  alarm.EnsureBy(At(200));  // asked for again after it fired
  CHECK(loop.posted == 3);
  loop.Turn(At(46));
  loop.Turn(At(200));
  CHECK(alarm.fired == 2);
  loop.Within([&] { alarm.Stop(); });
}

TEST_CASE("OnAlarm asks for the rest") {
  HandLoop loop;
  TestAlarm* self = nullptr;
  TestAlarm alarm(loop, [&] {
    if (self->fired == 1) self->EnsureBy(At(20));
  });
  self = &alarm;
  loop.Within([&] { alarm.EnsureBy(At(10)); });
  loop.Turn(At(10));
  CHECK(loop.next_timer() == At(20));
  loop.Turn(At(20));
  CHECK(alarm.fired == 2);
  CHECK(loop.next_timer() == base::kNever);
  loop.Within([&] { alarm.Stop(); });
}

TEST_CASE("an alarm that fires while a request is on its way is not armed in vain") {
  HandLoop loop;
  TestAlarm alarm(loop);
  loop.Within([&] { alarm.EnsureBy(At(10)); });
  alarm.EnsureBy(At(5));
  loop.Turn(At(10));  // the timer, then the task
  CHECK(alarm.fired == 1);
  CHECK(loop.next_timer() == base::kNever);
  loop.Within([&] { alarm.Stop(); });
}

TEST_CASE("an alarm may be stopped and destroyed while its request is on its way") {
  HandLoop loop;
  auto alarm = std::make_unique<TestAlarm>(loop);
  alarm->EnsureBy(At(10));
  loop.Within([&] { alarm->Stop(); });
  alarm->EnsureBy(At(10));  // as good as new
  loop.Turn(At(0));
  CHECK(loop.next_timer() == At(10));
  alarm->EnsureBy(At(5));
  loop.Within([&] { alarm->Stop(); });
  alarm.reset();
  loop.Turn(At(10));
  CHECK(loop.next_timer() == base::kNever);

  auto last = std::make_unique<TestAlarm>(loop);
  last->EnsureBy(At(10));
  loop.Within([&] { last->Stop(); });
  last.reset();  // the loop's end frees what is queued
}

// The real loop and clock: what is tested is that no thread's request is lost between them.
TEST_CASE("deadlines of many threads are all looked at") {
  auto loop = EpollLoop::Start("alarm", nullptr);
  REQUIRE(loop.ok());
  constexpr int kThreads = 4;
  constexpr int kEach = 2000;
  std::mutex mutex;
  std::vector<MonoTime> due;  // under `mutex`
  bool feeding = true;
  int met = 0;
  std::promise<void> promise;
  std::future<void> all = promise.get_future();
  TestAlarm* self = nullptr;
  TestAlarm alarm(**loop, [&] {
    std::lock_guard<std::mutex> lock(mutex);
    MonoTime next = base::kNever;
    std::erase_if(due, [&](MonoTime at) {
      if (at <= (*loop)->now()) return ++met, true;
      next = std::min(next, at);
      return false;
    });
    self->EnsureBy(next);
    if (met == kThreads * kEach && feeding) {
      feeding = false;
      promise.set_value();
    }
  });
  self = &alarm;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      base::Random random(static_cast<uint64_t>(t));
      for (int i = 0; i < kEach; ++i) {
        std::lock_guard<std::mutex> lock(mutex);
        const MonoTime at = (*loop)->clock().Now() + std::chrono::microseconds(random.Below(3000));
        due.push_back(at);
        alarm.EnsureBy(at);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  REQUIRE(all.wait_for(std::chrono::seconds(30)) == std::future_status::ready);
  std::promise<void> stopped;
  (*loop)->PostFunction([&] {
    alarm.Stop();
    stopped.set_value();
  });
  stopped.get_future().wait();
}

}  // namespace
}  // namespace weft::event
