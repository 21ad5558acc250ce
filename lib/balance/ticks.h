// Ticks: a point of time in 32 bits, so that it fits into one word with what was known then. About
// a millisecond each; they wrap after 52 days.
#ifndef WEFT_LIB_BALANCE_TICKS_H_
#define WEFT_LIB_BALANCE_TICKS_H_

#include <chrono>
#include <cstdint>

#include "weft/balancer.h"

namespace weft::inline v0::balance {

inline constexpr int kTickBits = 20;  // 2^20 ns

inline uint32_t TickOf(MonoTime time) {
  return static_cast<uint32_t>(static_cast<uint64_t>(time.time_since_epoch().count()) >> kTickBits);
}

// A clock that another thread read a little earlier is no step back.
inline uint32_t TicksSince(uint32_t then, uint32_t now) {
  const uint32_t ticks = now - then;
  return ticks > UINT32_MAX / 2 ? 0 : ticks;
}

constexpr float InTicks(std::chrono::nanoseconds time) {
  return static_cast<float>(time.count()) / (1 << kTickBits);
}

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_TICKS_H_
