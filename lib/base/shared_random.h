// SharedRandom: random numbers for several threads at once: a seed, counted on and mixed (see
// mix.h), so that they need nothing of each other but one addition. The same seed gives
// the same numbers, in the order of asking. Thread-safe.
#ifndef WEFT_LIB_BASE_SHARED_RANDOM_H_
#define WEFT_LIB_BASE_SHARED_RANDOM_H_

#include <atomic>
#include <cstdint>

#include "base/mix.h"

namespace weft::inline v0::base {

class SharedRandom {
 public:
  void Seed(uint64_t seed) { next_.store(seed, std::memory_order_relaxed); }
  uint64_t Next() { return Mix(next_.fetch_add(kMixStep, std::memory_order_relaxed)); }
  // From 0 to 1, without 1.
  double Chance() { return base::Chance(Next()); }

 private:
  std::atomic<uint64_t> next_{0};
};

}  // namespace weft::inline v0::base

#endif  // WEFT_LIB_BASE_SHARED_RANDOM_H_
