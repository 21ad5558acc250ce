// Alarm: lets any thread ask a loop to look at something by a certain time.
//
// Armed lazily: it is only ever moved to an earlier time, and fires once for whatever was asked; so
// a stream of calls with the same timeout wakes the loop once per timeout, not once per call, and
// cancelling costs nothing.
#ifndef WEFT_LIB_EVENT_ALARM_H_
#define WEFT_LIB_EVENT_ALARM_H_

#include <atomic>

#include "base/check.h"
#include "base/time.h"
#include "event/loop.h"

namespace weft::inline v0::event {

class Alarm : private Timer {
 public:
  explicit Alarm(Loop& loop) : loop_(loop) {}
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  // OnAlarm runs on the loop at `at` or before. One thread at a time (the holder of a strand or
  // lock); what is to be looked at must be in place before.
  void EnsureBy(base::MonoTime at);
  // On the loop, when nobody calls EnsureBy any more; needed before destruction.
  void Stop();

 protected:
  ~Alarm() { WEFT_DCHECK(kick_ == nullptr); }
  // May be early: look at what is due, then EnsureBy for the rest.
  virtual void OnAlarm() = 0;

 private:
  class Kick;
  void OnTimer() override;
  void OnKick();

  Loop& loop_;
  std::atomic<base::MonoTime> by_{base::kNever};
  // What other threads post, made when one first does. Not a part of the alarm, which may be
  // stopped while it is posted.
  Kick* kick_ = nullptr;
  std::atomic<bool> posted_{false};
};

}  // namespace weft::inline v0::event

#endif  // WEFT_LIB_EVENT_ALARM_H_
