#include "policy/latency_window.h"

#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#include "support/catch.h"

namespace weft::policy {
namespace {

using namespace std::chrono_literals;

constexpr base::MonoTime kStart{std::chrono::hours(1000)};

TEST_CASE("a window without samples has no percentile") {
  LatencyWindow window;
  CHECK(window.At(0.95, kStart).samples == 0);
  CHECK(window.At(0.95, kStart).value == 0ns);
}

TEST_CASE("percentiles of 1 ms to 1 s are off by less than 3 percent") {
  LatencyWindow window;
  for (int ms = 1; ms <= 1000; ++ms) window.Add(std::chrono::milliseconds(ms), kStart);
  CHECK(window.At(0.5, kStart).samples == 1000);
  for (const double p : {0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0}) {
    CAPTURE(p);
    const std::chrono::duration<double, std::milli> value = window.At(p, kStart).value;
    CHECK(value.count() == Approx(p * 1000).epsilon(0.03));
  }
  CHECK(window.At(0, kStart).value < 1.03ms);
}

TEST_CASE("equal samples: every percentile is that, whatever its size") {
  for (const base::MonoDuration took :
       std::vector<base::MonoDuration>{200us, 1ms, 1024ms, 59999ms}) {
    LatencyWindow window;
    for (int i = 0; i < 1000; ++i) window.Add(took, kStart);
    for (const double p : {0.001, 0.5, 0.999}) {
      const auto value = static_cast<double>(window.At(p, kStart).value.count());
      CAPTURE(took.count(), p);
      CHECK(value == Approx(static_cast<double>(took.count())).epsilon(0.033));
    }
  }
}

TEST_CASE("a percentile is read between the edges of its bucket") {
  LatencyWindow window;
  // All in the bucket from 8,389 to 8,651 µs, as evenly.
  for (int us = 8389; us < 8651; ++us) window.Add(std::chrono::microseconds(us), kStart);
  for (const double p : {0.1, 0.5, 0.9}) {
    const std::chrono::duration<double, std::micro> value = window.At(p, kStart).value;
    CHECK(value.count() == Approx(8389 + p * 262).margin(3));
  }
}

TEST_CASE("what is out of range counts as the nearest in it") {
  for (const base::MonoDuration took : std::vector<base::MonoDuration>{-1ns, 0ns, 1ns, 130us}) {
    LatencyWindow window;
    window.Add(took, kStart);
    CHECK(window.At(0.5, kStart).value < 140us);
    CHECK(window.At(0.5, kStart).value > 0us);
  }
  LatencyWindow window;
  window.Add(base::MonoDuration::max(), kStart);
  CHECK(window.At(1, kStart).value > 67s);
  CHECK(window.At(1, kStart).value < 70s);
}

TEST_CASE("a sample counts for 25 to 30 seconds") {
  for (const base::MonoDuration at : {0ms, 1ms, 2500ms, 4999ms}) {
    LatencyWindow window;
    window.Add(10ms, kStart + at);
    CAPTURE(at.count());
    CHECK(window.At(0.5, kStart + at + 25s).samples == 1);
    CHECK(window.At(0.5, kStart + at + 30s).samples == 0);
  }
}

TEST_CASE("new samples take the place of old ones") {
  LatencyWindow window;
  for (int second = 0; second < 120; ++second) {
    const auto now = kStart + std::chrono::seconds(second);
    for (int i = 0; i < 100; ++i) window.Add(std::chrono::seconds(1 + second / 30), now);
    const LatencyWindow::Percentile oldest = window.At(0.01, now);
    CAPTURE(second);
    REQUIRE(oldest.samples <= 3000);
    if (second % 30 == 29) CHECK(oldest.value > std::chrono::milliseconds(970) * (1 + second / 30));
  }
}

TEST_CASE("a long silence, late times and times before the clock's origin are harmless") {
  LatencyWindow window;
  window.Add(10ms, base::MonoTime(-std::chrono::hours(5)));
  window.Add(10ms, base::MonoTime(1s));
  CHECK(window.At(0.5, base::MonoTime(2s)).samples == 2);
  window.Add(10ms, kStart);
  CHECK(window.At(0.5, kStart).samples == 1);
  window.Add(10ms, kStart - std::chrono::hours(1));
  CHECK(window.At(0.5, kStart - std::chrono::hours(1)).samples == 2);
  CHECK(window.At(0.5, base::MonoTime::max()).samples == 0);
}

TEST_CASE("threads add, read and move the window at once") {
  constexpr int kThreads = 4;
  constexpr int kCalls = 20'000;
  LatencyWindow window;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&window] {
      for (int call = 0; call < kCalls; ++call) {
        const base::MonoTime now = kStart + std::chrono::milliseconds(call);  // 20 s
        window.Add(10ms, now);
        if (call % 500 == 0) window.At(0.95, now);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  // What was added while a histogram was emptied may have been lost with it.
  const LatencyWindow::Percentile all = window.At(0.5, kStart + 20s);
  CHECK(all.samples <= kThreads * kCalls);
  CHECK(all.samples >= kThreads * kCalls * 9 / 10);
}

}  // namespace
}  // namespace weft::policy
