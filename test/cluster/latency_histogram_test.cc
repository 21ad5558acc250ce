#include "cluster/latency_histogram.h"

#include <thread>
#include <vector>

#include "support/catch.h"

namespace weft::cluster {
namespace {

using namespace std::chrono_literals;

double Ms(base::MonoDuration duration) { return static_cast<double>(duration.count()) / 1e6; }

TEST_CASE("a bucket holds what is between its edges") {
  for (size_t bucket = 0; bucket < LatencyCounts::kBuckets; ++bucket) {
    const auto low = base::MonoDuration(static_cast<int64_t>(LatencyCounts::LowerEdge(bucket)));
    const auto next =
        base::MonoDuration(static_cast<int64_t>(LatencyCounts::LowerEdge(bucket + 1)));
    CHECK(LatencyCounts::BucketOf(low) == bucket);
    CHECK(LatencyCounts::BucketOf(next - 1ns) == bucket);
  }
  CHECK(LatencyCounts::BucketOf(-1s) == 0);
  CHECK(LatencyCounts::BucketOf(0ns) == 0);
  CHECK(LatencyCounts::BucketOf(24h) == LatencyCounts::kBuckets - 1);
}

TEST_CASE("quantiles of answers are off by less than a bucket") {
  LatencyHistogram histogram;
  CHECK(histogram.Take().Quantile(0.5) == 0ns);
  for (int ms = 1; ms <= 1000; ++ms) histogram.Add(std::chrono::milliseconds(ms));
  const LatencyCounts counts = histogram.Take();
  CHECK(counts.Samples() == 1000);
  CHECK(Ms(counts.Quantile(0.5)) == Approx(500).epsilon(0.03));
  CHECK(Ms(counts.Quantile(0.25)) == Approx(250).epsilon(0.03));
  CHECK(histogram.Take().Samples() == 0);  // taken
}

TEST_CASE("what was given up counts as longer, by hand") {
  // 10 answers after 10 ms; 60 given up after 100 ms; 30 answers after 1 s. S falls to 0.9 at 10 ms
  // and to 0 at 1 s, where half is reached at the part (0.9 - 0.5) / 0.9 of the bucket.
  LatencyHistogram histogram;
  for (int i = 0; i < 10; ++i) histogram.Add(10ms);
  for (int i = 0; i < 60; ++i) histogram.AddAtLeast(100ms);
  for (int i = 0; i < 30; ++i) histogram.Add(1s);
  const LatencyCounts counts = histogram.Take();
  const size_t bucket = LatencyCounts::BucketOf(1s);
  const double low = LatencyCounts::LowerEdge(bucket);
  const double width = LatencyCounts::LowerEdge(bucket + 1) - low;
  CHECK(static_cast<double>(counts.Quantile(0.5).count()) == Approx(low + width * 4 / 9));
  CHECK(counts.Samples() == 100);
}

TEST_CASE("what is given up early says nothing of the rest") {
  LatencyHistogram histogram;
  for (int i = 0; i < 1000; ++i) histogram.AddAtLeast(1ms);
  for (int i = 0; i < 100; ++i) histogram.Add(100ms);
  CHECK(Ms(histogram.Take().Quantile(0.5)) == Approx(100).epsilon(0.2));
}

TEST_CASE("where nothing was answered, it took at least as long as the longest ran") {
  LatencyHistogram histogram;
  for (int i = 0; i < 5; ++i) histogram.Add(1ms);
  for (int i = 0; i < 20; ++i) histogram.AddAtLeast(200ms);
  const double edge = LatencyCounts::LowerEdge(LatencyCounts::BucketOf(200ms));
  CHECK(static_cast<double>(histogram.Take().Quantile(0.5).count()) == Approx(edge));
}

TEST_CASE("nothing is lost between threads that add and one that takes") {
  LatencyHistogram histogram;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&histogram, t] {
      for (int i = 0; i < 10'000; ++i) {
        if (t == 0)
          histogram.AddAtLeast(std::chrono::milliseconds(i % 50));
        else
          histogram.Add(std::chrono::milliseconds(i % 50));
      }
    });
  }
  uint64_t taken = 0;
  for (int i = 0; i < 100; ++i) taken += histogram.Take().Samples();
  for (std::thread& thread : threads) thread.join();
  taken += histogram.Take().Samples();
  CHECK(taken == 30'000);
}

}  // namespace
}  // namespace weft::cluster
