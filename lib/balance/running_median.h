// RunningMedian: about the median of the last samples. Each moves it a step up or down, however far
// off it is, so that what a single host says or does cannot move it far: 3 % a step, but for the
// first 16, twice or half as much, as the first of all may be far off.
#ifndef WEFT_LIB_BALANCE_RUNNING_MEDIAN_H_
#define WEFT_LIB_BALANCE_RUNNING_MEDIAN_H_

#include <atomic>
#include <cstdint>

namespace weft::inline v0::balance {

// Thread-safe without locks; of two samples at the same time one may be lost.
class RunningMedian {
 public:
  // Those that are not above zero are passed over.
  void Add(float sample) {
    if (!(sample > 0)) return;
    const float was = get();
    const uint32_t count = count_.load(std::memory_order_relaxed);
    if (count < kFirst) count_.store(count + 1, std::memory_order_relaxed);
    const float step = count < kFirst ? 2 : kStep;
    const float next = was == 0 ? sample : sample > was ? was * step : was / step;
    value_.store(next, std::memory_order_relaxed);
  }
  // 0: there was no sample.
  float get() const { return value_.load(std::memory_order_relaxed); }

 private:
  static constexpr float kStep = 1.03F;
  static constexpr uint32_t kFirst = 16;
  std::atomic<float> value_{0};
  std::atomic<uint32_t> count_{0};  // up to kFirst
};

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_RUNNING_MEDIAN_H_
