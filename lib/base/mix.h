// Random numbers made of others (the finalizer of SplitMix64; Steele, Lea and Flood 2014), and what
// one number decides.
#ifndef WEFT_LIB_BASE_MIX_H_
#define WEFT_LIB_BASE_MIX_H_

#include <cstddef>
#include <cstdint>

namespace weft::inline v0::base {

inline constexpr uint64_t kMixStep = 0x9e3779b97f4a7c15u;

// Numbers that are near each other give numbers that are not; 0 gives 0.
constexpr uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// The number after `x` in its sequence; whatever `x` is, 0 too.
constexpr uint64_t NextRandom(uint64_t x) { return Mix(x + kMixStep); }

// 0 … bound - 1, of the upper half of `random`; 0 < bound <= 2^32.
constexpr size_t Below(uint64_t random, size_t bound) {
  return static_cast<size_t>(((random >> 32) * bound) >> 32);
}

// From 0 to 1, without 1.
constexpr double Chance(uint64_t random) { return static_cast<double>(random >> 11) * 0x1.0p-53; }

}  // namespace weft::inline v0::base

#endif  // WEFT_LIB_BASE_MIX_H_
