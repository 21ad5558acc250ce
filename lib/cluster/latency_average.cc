#include "cluster/latency_average.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numbers>

namespace weft::inline v0::cluster {
namespace {

constexpr int kTickBits = 20;  // 2^20 ns

uint32_t TickOf(base::MonoTime time) {
  return static_cast<uint32_t>(static_cast<uint64_t>(time.time_since_epoch().count()) >> kTickBits);
}

float AverageOf(uint64_t state) { return std::bit_cast<float>(static_cast<uint32_t>(state >> 32)); }

uint64_t Packed(float average, uint32_t tick) {
  return uint64_t{std::bit_cast<uint32_t>(average)} << 32 | tick;
}

// Ticks wrap after 52 days; a clock that another thread read a little earlier is no step back.
uint32_t TicksSince(uint64_t state, uint32_t now) {
  const uint32_t ticks = now - static_cast<uint32_t>(state);
  return ticks > UINT32_MAX / 2 ? 0 : ticks;
}

// e^-x as 2^-y: a power of two for the whole part of y, for the rest a polynomial that is off by
// less than 2e-5. Each pick of some balancers needs two, so it is inline and without a table.
float WeightAfter(uint32_t ticks) {
  constexpr float kByTick = std::numbers::log2e_v<float> * (1 << kTickBits) /
                            static_cast<float>(LatencyAverage::kTimeConstant.count());
  constexpr uint32_t kAllGone = 800'000;  // 2^-121: all that comes then are normal floats
  const float y = static_cast<float>(static_cast<int32_t>(std::min(ticks, kAllGone))) * kByTick;
  const auto whole = static_cast<int32_t>(y);
  const float rest = y - static_cast<float>(whole);
  const float part =
      1 + rest * (-0.6931389F + rest * (0.2399597F + rest * (-0.0541432F + rest * 0.0073298F)));
  return part * std::bit_cast<float>((127 - whole) << 23);
}

// Above zero, which means that there is none.
float Sample(base::MonoDuration took) { return std::max(static_cast<float>(took.count()), 1.0F); }

}  // namespace

void LatencyAverage::Add(base::MonoDuration took, base::MonoTime now) {
  const float sample = Sample(took);
  const uint32_t tick = TickOf(now);
  uint64_t state = state_.load(std::memory_order_relaxed);
  uint64_t next;
  do {
    const uint32_t ticks = TicksSince(state, tick);
    const float average = AverageOf(state);
    const float weight = WeightAfter(ticks);
    if (average == 0 || sample > average * weight) {
      next = Packed(sample, tick);
    } else if (ticks == 0) {
      return;
    } else {
      next = Packed(average * weight + sample * (1 - weight), tick);
    }
  } while (!state_.compare_exchange_weak(state, next, std::memory_order_relaxed));
}

void LatencyAverage::AddAtLeast(base::MonoDuration took, base::MonoTime now) {
  if (took > Get(now)) Add(took, now);
}

void LatencyAverage::AddFailure(base::MonoDuration took, bool again, base::MonoTime now) {
  const base::MonoDuration average = Get(now);
  base::MonoDuration least = took;
  if (average == base::MonoDuration::zero()) {
    least = std::max(took, kOnlyFailed);
  } else if (again) {
    least = std::max(took, std::min(2 * average, kMaxFailure));
  }
  AddAtLeast(least, now);
}

base::MonoDuration LatencyAverage::Get(base::MonoTime now) const {
  const uint64_t state = state_.load(std::memory_order_relaxed);
  const float average = AverageOf(state);
  if (average == 0) return base::MonoDuration::zero();
  const float decayed = average * WeightAfter(TicksSince(state, TickOf(now)));
  return std::max(base::MonoDuration(static_cast<int64_t>(decayed)), base::MonoDuration(1));
}

}  // namespace weft::inline v0::cluster
