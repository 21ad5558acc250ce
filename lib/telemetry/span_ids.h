// SpanIds: an id for each attempt of a traced call: a seed, counted on and mixed (SplitMix64,
// Steele et al. 2014), so that threads need nothing of each other but one addition. Thread-safe.
#ifndef WEFT_LIB_TELEMETRY_SPAN_IDS_H_
#define WEFT_LIB_TELEMETRY_SPAN_IDS_H_

#include <array>
#include <atomic>
#include <cstdint>

namespace weft::inline v0::telemetry {

class SpanIds {
 public:
  void Seed(uint64_t seed) { next_.store(seed, std::memory_order_relaxed); }
  // Never all zeros, which would be no id.
  std::array<uint8_t, 8> Next() {
    uint64_t x = next_.fetch_add(0x9e3779b97f4a7c15u, std::memory_order_relaxed);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    if (x == 0) x = 1;
    std::array<uint8_t, 8> id{};
    for (uint8_t& byte : id) {
      byte = static_cast<uint8_t>(x);
      x >>= 8;
    }
    return id;
  }

 private:
  std::atomic<uint64_t> next_{0};
};

}  // namespace weft::inline v0::telemetry

#endif  // WEFT_LIB_TELEMETRY_SPAN_IDS_H_
