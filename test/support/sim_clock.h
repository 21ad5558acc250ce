// Virtual time, and what is scheduled in it.
#ifndef WEFT_TEST_SUPPORT_SIM_CLOCK_H_
#define WEFT_TEST_SUPPORT_SIM_CLOCK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "absl/time/time.h"
#include "base/time.h"
#include "event/clock.h"

namespace weft::inline v0::testing {

// Moves only when its SimEnv moves it. Neither clock begins at zero, so that a forgotten origin
// shows.
class SimClock final : public event::Clock {
 public:
  base::MonoTime Now() const override { return now_; }
  absl::Time WallNow() const override { return wall_start_ + absl::FromChrono(now_ - kStart); }

  void AdvanceTo(base::MonoTime time) { now_ = time > now_ ? time : now_; }
  // The wall clock jumps; monotonic time does not notice.
  void StepWall(absl::Duration step) { wall_start_ += step; }

 private:
  static constexpr base::MonoTime kStart{std::chrono::hours(1000)};
  base::MonoTime now_ = kStart;
  absl::Time wall_start_ = absl::FromUnixSeconds(1'750'000'000);
};

// Functions to be called at a time; those of one instant in the order in which they were added.
class SimEvents {
 public:
  using Function = std::function<void()>;

  explicit SimEvents(const SimClock& clock) : clock_(clock) {}
  // A time in the past means now.
  void At(base::MonoTime time, Function function) {
    if (time < clock_.Now()) time = clock_.Now();
    queue_.emplace(std::pair(time, ++sequence_), std::move(function));
  }
  void After(base::MonoDuration delay, Function function) {
    At(base::After(clock_.Now(), delay), std::move(function));
  }
  base::MonoTime next() const {
    return queue_.empty() ? base::kNever : queue_.begin()->first.first;
  }
  bool empty() const { return queue_.empty(); }
  // Runs the first one; there must be one.
  void RunOne() {
    Function function = std::move(queue_.begin()->second);
    queue_.erase(queue_.begin());
    function();
  }
  void Clear() {
    while (!queue_.empty()) queue_.erase(queue_.begin());
  }
  const SimClock& clock() const { return clock_; }

 private:
  const SimClock& clock_;
  uint64_t sequence_ = 0;
  std::map<std::pair<base::MonoTime, uint64_t>, Function> queue_;
};

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_SUPPORT_SIM_CLOCK_H_
