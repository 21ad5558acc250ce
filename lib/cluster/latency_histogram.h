// LatencyHistogram: how long the answers of an interval took, to be asked for a quantile. Attempts
// that were given up took at least as long as they ran: what they say is not lost (a slow host
// whose attempts are all overtaken by hedges has hardly an answer that was slow), nor taken for an
// answer.
//
// Buckets are a quarter of a power of two wide, from 66 µs to 69 s; what is beyond counts as that.
#ifndef WEFT_LIB_CLUSTER_LATENCY_HISTOGRAM_H_
#define WEFT_LIB_CLUSTER_LATENCY_HISTOGRAM_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace weft::inline v0::cluster {

// What was counted. A value.
struct LatencyCounts {
  static constexpr unsigned kBits = 2;
  static constexpr unsigned kLowest = 16;   // powers of two, of nanoseconds
  static constexpr unsigned kHighest = 36;  // left out
  static constexpr size_t kBuckets = size_t{kHighest - kLowest} << kBits;
  static size_t BucketOf(base::MonoDuration took);
  static double LowerEdge(size_t bucket);  // ns

  std::array<uint32_t, kBuckets> exact{};
  std::array<uint32_t, kBuckets> at_least{};

  uint64_t Samples() const;
  // What the part `p`, 0 … 1, did not take longer than, by the estimator of Kaplan and Meier
  // ("Nonparametric Estimation from Incomplete Observations", 1958); where too much was given up
  // for that to be known, what is known: the longest that anything ran. Zero: no samples.
  base::MonoDuration Quantile(double p) const;
};

// Thread-safe and lock-free.
class LatencyHistogram {
 public:
  void Add(base::MonoDuration took) {
    exact_[LatencyCounts::BucketOf(took)].fetch_add(1, std::memory_order_relaxed);
  }
  void AddAtLeast(base::MonoDuration took) {
    at_least_[LatencyCounts::BucketOf(took)].fetch_add(1, std::memory_order_relaxed);
  }
  // What was counted since the last time. One thread at a time.
  LatencyCounts Take();

 private:
  std::array<std::atomic<uint32_t>, LatencyCounts::kBuckets> exact_{};
  std::array<std::atomic<uint32_t>, LatencyCounts::kBuckets> at_least_{};
};

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_LATENCY_HISTOGRAM_H_
