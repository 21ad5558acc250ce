// LatencyHistogram: durations in buckets whose width grows with them: 64 to each power of two, less
// than 1.6 % of error. One thread writes.
#ifndef WEFT_BENCHMARKS_LATENCY_HISTOGRAM_H_
#define WEFT_BENCHMARKS_LATENCY_HISTOGRAM_H_

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace weft::bench {

class LatencyHistogram {
 public:
  void Add(std::chrono::nanoseconds latency) {
    ++counts_[BucketOf(static_cast<uint64_t>(latency.count()))];
    ++count_;
  }
  void Merge(const LatencyHistogram& other) {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
  }
  uint64_t count() const { return count_; }
  // The lower edge of the bucket in which the q-th part (0 … 1) of all lies; 0 where there is none.
  double QuantileMicros(double q) const {
    if (count_ == 0) return 0;
    const uint64_t wanted = static_cast<uint64_t>(q * static_cast<double>(count_ - 1)) + 1;
    uint64_t seen = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen >= wanted) return static_cast<double>(LowerEdge(i)) / 1000.0;
    }
    return 0;
  }

 private:
  static constexpr unsigned kBits = 6;
  static constexpr size_t kBuckets = size_t{40} << kBits;
  static size_t BucketOf(uint64_t value) {
    if (value < (1u << kBits)) return value;
    const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - 1 - kBits;
    const size_t bucket = (size_t{shift + 1} << kBits) + ((value >> shift) & ((1u << kBits) - 1));
    return bucket < kBuckets ? bucket : kBuckets - 1;
  }
  static uint64_t LowerEdge(size_t bucket) {
    if (bucket < (1u << kBits)) return bucket;
    const unsigned shift = static_cast<unsigned>(bucket >> kBits) - 1;
    return ((1ull << kBits) + (bucket & ((1u << kBits) - 1))) << shift;
  }
  std::array<uint64_t, kBuckets> counts_{};
  uint64_t count_ = 0;
};

}  // namespace weft::bench

#endif  // WEFT_BENCHMARKS_LATENCY_HISTOGRAM_H_
