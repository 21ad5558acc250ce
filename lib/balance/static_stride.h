// StaticStride: turns dealt in proportion to weights, evenly over time, without a lock: the static
// stride scheduler of gRFC A58. Weights are scaled so that the largest is kWhole. In round r host i
// has its turn if its sum of weights passed a multiple of kWhole:
//
//   (weight_i * r + i * kWhole / 2) mod kWhole >= kWhole - weight_i
//
// else the next host is looked at. No weight counts as less than a tenth of the mean, nor as more
// than ten times: so a tenth of the looks at least are turns.
#ifndef WEFT_LIB_BALANCE_STATIC_STRIDE_H_
#define WEFT_LIB_BALANCE_STATIC_STRIDE_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "balance/turn.h"
#include "base/mix.h"

namespace weft::inline v0::balance {

// Thread-safe; one Set at a time. Turns that are dealt while weights are set go partly by the old
// ones, which were right until then.
class StaticStride {
 public:
  explicit StaticStride(size_t size) : weights_(size) {}

  // > 0, relative to each other.
  void Set(std::span<const double> weights) {
    double sum = 0;
    double largest = 0;
    for (const double weight : weights) sum += weight;
    const double mean = sum / static_cast<double>(weights.size());
    const auto bounded = [&](double weight) { return std::clamp(weight, mean / 10, mean * 10); };
    for (const double weight : weights) largest = std::max(largest, bounded(weight));
    for (size_t i = 0; i < weights.size(); ++i) {
      const auto scaled = static_cast<uint16_t>(bounded(weights[i]) / largest * kWhole + 0.5);
      weights_[i].store(scaled, std::memory_order_relaxed);
    }
  }

  // The host whose turn is next. Not of an empty set.
  size_t Next(Turn& turn) const {
    for (int left = kLooks;; --left) {
      const uint64_t now = turn.Take();
      const uint64_t round = now / weights_.size();
      const size_t index = now % weights_.size();
      const uint64_t weight = weights_[index].load(std::memory_order_relaxed);
      const uint64_t place = (weight * round + index * (kWhole / 2)) % kWhole;
      if (place >= kWhole - weight || left == 0) return index;
    }
  }

  // One drawn by weight, without a turn.
  size_t Draw(uint64_t random) const {
    for (int left = kLooks;; --left, random = base::NextRandom(random)) {
      const size_t index = base::Below(random, weights_.size());
      const auto look = static_cast<uint16_t>(random);
      if (look < weights_[index].load(std::memory_order_relaxed) || left == 0) return index;
    }
  }

 private:
  static constexpr uint64_t kWhole = 65535;
  // While weights are being set, there may be none that is kWhole.
  static constexpr int kLooks = 128;

  std::vector<std::atomic<uint16_t>> weights_;
};

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_STATIC_STRIDE_H_
