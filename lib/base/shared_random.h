// SharedRandom: random numbers for several threads at once: a seed, counted on and mixed (SplitMix64,
// Steele et al. 2014), so that they need nothing of each other but one addition. The same seed gives
// the same numbers, in the order of asking. Thread-safe.
#ifndef WEFT_LIB_BASE_SHARED_RANDOM_H_
#define WEFT_LIB_BASE_SHARED_RANDOM_H_

#include <atomic>
#include <cstdint>

namespace weft::inline v0::base {

class SharedRandom {
 public:
  void Seed(uint64_t seed) { next_.store(seed, std::memory_order_relaxed); }
  uint64_t Next() {
    uint64_t x = next_.fetch_add(0x9e3779b97f4a7c15u, std::memory_order_relaxed);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  // From 0 to 1, without 1.
  double Chance() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

 private:
  std::atomic<uint64_t> next_{0};
};

}  // namespace weft::inline v0::base

#endif  // WEFT_LIB_BASE_SHARED_RANDOM_H_
