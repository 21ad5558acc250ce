// Random numbers from a seed: the same seed gives the same run. Not thread-safe; each owner forks
// one of its own.
#ifndef WEFT_LIB_BASE_RANDOM_H_
#define WEFT_LIB_BASE_RANDOM_H_

#include <cstdint>
#include <random>

namespace weft::inline v0::base {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t Next() { return engine_(); }
  // 0 … bound − 1; bound > 0.
  uint64_t Below(uint64_t bound) {
    return std::uniform_int_distribution<uint64_t>(0, bound - 1)(engine_);
  }
  // low … high.
  double Uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  Random Fork() { return Random(Next()); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace weft::inline v0::base

#endif  // WEFT_LIB_BASE_RANDOM_H_
