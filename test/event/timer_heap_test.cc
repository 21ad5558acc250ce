#include "event/timer_heap.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "support/catch.h"

namespace weft::event {
namespace {

using base::kNever;
using base::MonoTime;

MonoTime At(int64_t ms) { return MonoTime(std::chrono::milliseconds(ms)); }

class FnTimer final : public Timer {
 public:
  explicit FnTimer(std::function<void()> fn = [] {}) : fn_(std::move(fn)) {}
  void OnTimer() override { fn_(); }

 private:
  std::function<void()> fn_;
};

TEST_CASE("timers run in order of time, once, when due") {
  TimerHeap heap;
  std::vector<int> ran;
  FnTimer a([&] { ran.push_back(1); });
  FnTimer b([&] { ran.push_back(2); });
  FnTimer c([&] { ran.push_back(3); });
  CHECK(heap.next() == kNever);
  heap.Arm(&c, At(30));
  heap.Arm(&a, At(10));
  heap.Arm(&b, At(20));
  CHECK(heap.size() == 3);
  CHECK(heap.next() == At(10));
  heap.RunDue(At(9));
  CHECK(ran.empty());
  heap.RunDue(At(20));
  CHECK(ran == std::vector<int>{1, 2});
  CHECK_FALSE(a.armed());
  CHECK(c.armed());
  CHECK(heap.next() == At(30));
  heap.RunDue(At(1000));
  CHECK(ran == std::vector<int>{1, 2, 3});
  CHECK(heap.size() == 0);
}

TEST_CASE("arming an armed timer moves it, kNever disarms it") {
  TimerHeap heap;
  FnTimer a, b;
  heap.Arm(&a, At(10));
  heap.Arm(&b, At(20));
  heap.Arm(&a, At(30));
  CHECK(heap.next() == At(20));
  CHECK(a.at() == At(30));
  heap.Arm(&a, At(5));
  CHECK(heap.next() == At(5));
  heap.Arm(&a, kNever);
  CHECK_FALSE(a.armed());
  CHECK(heap.size() == 1);
  heap.Arm(&a, kNever);
  heap.Disarm(&a);
  CHECK(heap.size() == 1);
  heap.Clear();
  CHECK_FALSE(b.armed());
  CHECK(heap.size() == 0);
}

TEST_CASE("a heap that dies disarms its timers") {
  FnTimer a;
  {
    TimerHeap heap;
    heap.Arm(&a, At(1));
  }
  CHECK_FALSE(a.armed());
}

TEST_CASE("a timer may arm, disarm and destroy timers, itself among them") {
  TimerHeap heap;
  std::vector<int> ran;
  FnTimer late([&] { ran.push_back(9); });
  FnTimer victim([&] { ran.push_back(-1); });
  FnTimer soon([&] { ran.push_back(2); });
  int left = 3;
  FnTimer again([&] {
    ran.push_back(1);
    if (--left > 0) heap.Arm(&again, At(10));
  });
  std::unique_ptr<FnTimer> gone;
  gone = std::make_unique<FnTimer>([&] {
    heap.Disarm(&victim);
    heap.Arm(&soon, At(5));
    heap.Arm(&late, At(11));
    auto dies_here = std::move(gone);
  });
  heap.Arm(gone.get(), At(1));
  heap.Arm(&victim, At(2));
  heap.Arm(&again, At(3));
  heap.RunDue(At(10));
  CHECK(ran == std::vector<int>{1, 2, 1, 1});
  CHECK(gone == nullptr);
  CHECK(heap.next() == At(11));
  heap.RunDue(At(11));
  CHECK(ran.back() == 9);
}

// Against a model that looks at every timer.
TEST_CASE("random arming, moving, disarming and running agrees with the model") {
  base::Random random(7);
  constexpr size_t kTimers = 200;
  TimerHeap heap;
  std::vector<MonoTime> model(kTimers, kNever);
  std::vector<std::unique_ptr<FnTimer>> timers;
  MonoTime now = At(0);
  MonoTime last = At(0);
  bool wrong = false;
  for (size_t i = 0; i < kTimers; ++i) {
    timers.push_back(std::make_unique<FnTimer>([&, i] {
      wrong = wrong || model[i] > now || model[i] < last;
      last = model[i];
      model[i] = kNever;
    }));
  }
  for (int step = 0; step < 20000; ++step) {
    const size_t i = random.Below(kTimers);
    switch (random.Below(4)) {
      case 0:
      case 1:
        model[i] = now + std::chrono::milliseconds(1 + random.Below(1000));
        heap.Arm(timers[i].get(), model[i]);
        break;
      case 2:
        model[i] = kNever;
        heap.Disarm(timers[i].get());
        break;
      case 3:
        now += std::chrono::milliseconds(random.Below(20));
        last = At(0);
        heap.RunDue(now);
        break;
    }
    size_t armed = 0;
    MonoTime least = kNever;
    for (size_t t = 0; t < kTimers; ++t) {
      armed += model[t] != kNever;
      least = std::min(least, model[t]);
      wrong = wrong || timers[t]->armed() != (model[t] != kNever);
    }
    REQUIRE(heap.next() == least);
    REQUIRE(heap.size() == armed);
    REQUIRE_FALSE(wrong);
  }
  heap.Clear();
}

}  // namespace
}  // namespace weft::event
