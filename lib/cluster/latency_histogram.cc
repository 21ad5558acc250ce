#include "cluster/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace weft::inline v0::cluster {

size_t LatencyCounts::BucketOf(base::MonoDuration took) {
  constexpr int64_t kLow = int64_t{1} << kLowest;
  constexpr int64_t kHigh = (int64_t{1} << kHighest) - 1;
  const auto ns = static_cast<uint64_t>(std::clamp<int64_t>(took.count(), kLow, kHigh));
  const auto power = static_cast<unsigned>(std::bit_width(ns)) - 1;
  const uint64_t part = (ns >> (power - kBits)) & ((1u << kBits) - 1);
  return (size_t{power - kLowest} << kBits) + part;
}

double LatencyCounts::LowerEdge(size_t bucket) {
  const auto part = static_cast<double>(bucket & ((1u << kBits) - 1));
  return std::ldexp(1 + part / (1u << kBits), static_cast<int>(kLowest + (bucket >> kBits)));
}

uint64_t LatencyCounts::Samples() const {
  uint64_t samples = 0;
  for (size_t i = 0; i < kBuckets; ++i) samples += uint64_t{exact[i]} + at_least[i];
  return samples;
}

base::MonoDuration LatencyCounts::Quantile(double p) const {
  auto at_risk = static_cast<double>(Samples());  // took as long as this bucket, or longer
  if (at_risk == 0) return base::MonoDuration::zero();
  double surviving = 1;
  double known = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    const double ended = exact[i];
    const double given_up = at_least[i];
    if (ended > 0) {
      const double low = LowerEdge(i);
      const double width = LowerEdge(i + 1) - low;
      const double after = surviving * (1 - ended / at_risk);
      if (after <= 1 - p) {
        const double part = std::clamp((surviving - (1 - p)) / (surviving - after), 0.0, 1.0);
        return base::MonoDuration(std::llround(low + part * width));
      }
      surviving = after;
      known = low + width;
    }
    if (given_up > 0) known = std::max(known, LowerEdge(i));
    at_risk -= ended + given_up;
  }
  return base::MonoDuration(std::llround(known));
}

LatencyCounts LatencyHistogram::Take() {
  // Most buckets are empty, and to look costs a tenth of an exchange.
  const auto take = [](std::atomic<uint32_t>& count) {
    if (count.load(std::memory_order_relaxed) == 0) return uint32_t{0};
    return count.exchange(0, std::memory_order_relaxed);
  };
  LatencyCounts counts;
  for (size_t i = 0; i < LatencyCounts::kBuckets; ++i) {
    counts.exact[i] = take(exact_[i]);
    counts.at_least[i] = take(at_least_[i]);
  }
  return counts;
}

}  // namespace weft::inline v0::cluster
