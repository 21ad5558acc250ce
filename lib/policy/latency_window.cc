#include "policy/latency_window.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace weft::inline v0::policy {

size_t LatencyWindow::BucketOf(int64_t ns) {
  constexpr int64_t kLow = int64_t{1} << kLowest;
  constexpr int64_t kHigh = (int64_t{1} << kHighest) - 1;
  const auto value = static_cast<uint64_t>(std::clamp(ns, kLow, kHigh));
  const auto power = static_cast<unsigned>(std::bit_width(value)) - 1;
  const uint64_t part = (value >> (power - kBits)) & ((1u << kBits) - 1);
  return (size_t{power - kLowest} << kBits) + part;
}

double LatencyWindow::LowerEdge(size_t bucket) {
  const auto part = static_cast<double>(bucket & ((1u << kBits) - 1));
  return std::ldexp(1 + part / (1u << kBits), static_cast<int>(kLowest + (bucket >> kBits)));
}

int64_t LatencyWindow::StepOf(base::MonoTime now) { return now.time_since_epoch() / kStep; }

LatencyWindow::Histogram& LatencyWindow::Present(base::MonoTime now) {
  const int64_t step = StepOf(now);
  int64_t present = step_.load(std::memory_order_acquire);
  if (step > present && !moving_.exchange(true, std::memory_order_acquire)) {
    present = step_.load(std::memory_order_relaxed);
    constexpr auto kAll = static_cast<int64_t>(kSteps);
    for (int64_t gone = std::max(present, step - kAll) + 1; gone <= step; ++gone) {
      for (std::atomic<uint32_t>& count : steps_[static_cast<size_t>(gone) % kSteps])
        count.store(0, std::memory_order_relaxed);
    }
    present = std::max(present, step);
    step_.store(present, std::memory_order_release);
    moving_.store(false, std::memory_order_release);
  }
  return steps_[static_cast<size_t>(present) % kSteps];
}

void LatencyWindow::Add(base::MonoDuration took, base::MonoTime now) {
  Present(now)[BucketOf(took.count())].fetch_add(1, std::memory_order_relaxed);
}

LatencyWindow::Percentile LatencyWindow::At(double p, base::MonoTime now) {
  Present(now);
  std::array<uint64_t, kBuckets> sums{};
  uint64_t samples = 0;
  for (const Histogram& step : steps_) {
    for (size_t i = 0; i < kBuckets; ++i) {
      const uint32_t count = step[i].load(std::memory_order_relaxed);
      sums[i] += count;
      samples += count;
    }
  }
  if (samples == 0) return {};
  const double wanted = std::max(p * static_cast<double>(samples), 0.0);
  double seen = 0;
  size_t bucket = 0;
  for (; bucket + 1 < kBuckets; ++bucket) {
    const auto count = static_cast<double>(sums[bucket]);
    if (count > 0 && seen + count >= wanted) break;
    seen += count;
  }
  const double low = LowerEdge(bucket);
  const double width = LowerEdge(bucket + 1) - low;
  const double part =
      sums[bucket] == 0 ? 0 : std::min((wanted - seen) / static_cast<double>(sums[bucket]), 1.0);
  return {samples, base::MonoDuration(static_cast<int64_t>(low + part * width))};
}

}  // namespace weft::inline v0::policy
