// TimerHeap: the timers of one owner, earliest first: a 4-ary heap whose positions are kept in the
// timers, so that one can be moved or removed in O(log n) and nothing is allocated per timer.
// Deadlines mostly come in rising order, where adding is O(1). Not thread-safe: it belongs to a
// loop or to a strand.
#ifndef WEFT_LIB_EVENT_TIMER_HEAP_H_
#define WEFT_LIB_EVENT_TIMER_HEAP_H_

#include <cstddef>
#include <vector>

#include "base/check.h"
#include "base/time.h"

namespace weft::inline v0::event {

// Embedded in its owner; removes nothing by itself: it must not be armed when it dies.
class Timer {
 public:
  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  bool armed() const { return index_ != kNotArmed; }
  base::MonoTime at() const { return at_; }

  virtual void OnTimer() = 0;

 protected:
  ~Timer() { WEFT_DCHECK(!armed()); }

 private:
  friend class TimerHeap;
  static constexpr size_t kNotArmed = ~size_t{0};
  base::MonoTime at_ = base::kNever;
  size_t index_ = kNotArmed;
};

class TimerHeap {
 public:
  TimerHeap() = default;
  TimerHeap(const TimerHeap&) = delete;
  TimerHeap& operator=(const TimerHeap&) = delete;
  ~TimerHeap() { Clear(); }

  // Arms, or moves a timer that is armed. kNever disarms.
  void Arm(Timer* timer, base::MonoTime at);
  void Disarm(Timer* timer);  // nothing happens where it is not armed
  void Clear();               // disarms all
  // kNever where there is none.
  base::MonoTime next() const { return heap_.empty() ? base::kNever : heap_.front()->at_; }
  size_t size() const { return heap_.size(); }
  // Disarms and runs every timer that is due, in order of time. Timers armed meanwhile for `now` or
  // before run too.
  void RunDue(base::MonoTime now);

 private:
  void Place(size_t index, Timer* timer);
  void SiftUp(size_t index);
  void SiftDown(size_t index);
  std::vector<Timer*> heap_;
};

}  // namespace weft::inline v0::event

#endif  // WEFT_LIB_EVENT_TIMER_HEAP_H_
