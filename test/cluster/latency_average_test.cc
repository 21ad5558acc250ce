#include "cluster/latency_average.h"

#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

#include "support/catch.h"

namespace weft::cluster {
namespace {

using namespace std::chrono_literals;

constexpr base::MonoTime kStart{1000s};

double Ms(base::MonoDuration duration) { return static_cast<double>(duration.count()) / 1e6; }

TEST_CASE("what was never measured is zero") {
  const LatencyAverage average;
  CHECK(average.Get(kStart) == 0ns);
}

TEST_CASE("the average of what attempts take, by hand") {
  LatencyAverage average;
  average.Add(10ms, kStart);
  CHECK(Ms(average.Get(kStart)) == Approx(10));
  // Time alone lets it fall: e^-0.5, e^-1.
  CHECK(Ms(average.Get(kStart + 5s)) == Approx(10 * std::exp(-0.5)).epsilon(1e-4));
  CHECK(Ms(average.Get(kStart + 10s)) == Approx(10 * std::exp(-1.0)).epsilon(1e-4));
  // Faster: 10 w + 2 (1 - w), w = e^-0.5.
  average.Add(2ms, kStart + 5s);
  const double after = 10 * std::exp(-0.5) + 2 * (1 - std::exp(-0.5));
  CHECK(Ms(average.Get(kStart + 5s)) == Approx(after).epsilon(1e-4));
  // Slower: takes its place at once.
  average.Add(50ms, kStart + 6s);
  CHECK(Ms(average.Get(kStart + 6s)) == Approx(50));
  // Slower than the decayed average, though not than the average was.
  average.Add(40ms, kStart + 10s);
  CHECK(Ms(average.Get(kStart + 10s)) == Approx(40));
}

TEST_CASE("the decay is exponential to four digits and more, and never rises") {
  LatencyAverage average;
  average.Add(100s, kStart);
  double last = Ms(average.Get(kStart));
  for (base::MonoDuration after = 0s; after < 100s; after += 7ms) {
    const double now = Ms(average.Get(kStart + after));
    // A tick is about a millisecond.
    const double seconds = static_cast<double>(after.count()) / 1e9;
    REQUIRE(now == Approx(1e5 * std::exp(-seconds / 10)).epsilon(2e-4));
    REQUIRE(now <= last);
    last = now;
  }
  CHECK(average.Get(kStart + 24h * 20) == 1ns);
}

TEST_CASE("of samples of one moment the slowest counts") {
  LatencyAverage average;
  for (const auto took : {10ms, 3ms, 12ms, 4ms}) average.Add(took, kStart);
  CHECK(Ms(average.Get(kStart)) == Approx(12));
}

TEST_CASE("a sample of nothing is still one") {
  LatencyAverage average;
  average.Add(0ns, kStart);
  CHECK(average.Get(kStart) > 0ns);
  CHECK(average.Get(kStart + 1h) > 0ns);
}

TEST_CASE("what was given up only raises the average") {
  LatencyAverage average;
  average.AddAtLeast(5ms, kStart);
  CHECK(Ms(average.Get(kStart)) == Approx(5));
  average.AddAtLeast(2ms, kStart + 1s);
  CHECK(Ms(average.Get(kStart + 1s)) == Approx(5 * std::exp(-0.1)).epsilon(1e-4));
  average.AddAtLeast(7ms, kStart + 1s);
  CHECK(Ms(average.Get(kStart + 1s)) == Approx(7));
}

TEST_CASE("a failure counts as slow, however fast it came") {
  LatencyAverage average;
  average.Add(10ms, kStart);
  average.AddFailure(1ms, false, kStart);
  CHECK(Ms(average.Get(kStart)) == Approx(10));
  average.AddFailure(1ms, true, kStart);
  CHECK(Ms(average.Get(kStart)) == Approx(20));
  average.AddFailure(300ms, false, kStart);
  CHECK(Ms(average.Get(kStart)) == Approx(300));
  for (int i = 0; i < 20; ++i) average.AddFailure(1ms, true, kStart);
  CHECK(Ms(average.Get(kStart)) == Approx(30'000));
}

TEST_CASE("a host that was never known to do anything but fail counts as very slow") {
  LatencyAverage average;
  average.AddFailure(200us, false, kStart);
  CHECK(Ms(average.Get(kStart)) == Approx(15'000));
  average.AddFailure(200us, true, kStart);
  CHECK(Ms(average.Get(kStart)) == Approx(30'000));
  LatencyAverage slow;
  slow.AddFailure(20s, false, kStart);
  CHECK(Ms(slow.Get(kStart)) == Approx(20'000));
}

TEST_CASE("clocks that are read out of order, and time that wraps") {
  LatencyAverage average;
  average.Add(10ms, kStart);
  average.Add(2ms, kStart - 1s);
  CHECK(Ms(average.Get(kStart - 1s)) == Approx(10));
  const base::MonoTime late = kStart + 24h * 50;
  average.Add(10ms, late);
  average.Add(5ms, late + 24h * 3);
  CHECK(Ms(average.Get(late + 24h * 3)) == Approx(5));
}

TEST_CASE("many threads at once leave one of their samples") {
  LatencyAverage average;
  std::vector<std::thread> threads;
  for (int t = 1; t <= 4; ++t) {
    threads.emplace_back([&average, t] {
      for (int i = 0; i < 10'000; ++i)
        average.Add(std::chrono::milliseconds(t), kStart + std::chrono::milliseconds(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double ms = Ms(average.Get(kStart + 10s));
  CHECK(ms > 0.9);
  CHECK(ms <= 4.001);
}

}  // namespace
}  // namespace weft::cluster
