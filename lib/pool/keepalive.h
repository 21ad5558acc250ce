// Keepalive: when to ask a silent peer whether it is still there, and when to give it up.
//
// With streams open: a PING after `interval` of reading nothing; no answer of any kind within
// `timeout` of it: dead. Without streams: a PING each five minutes, so that what sits between
// remembers the connection. A peer that complains (GOAWAY ENHANCE_YOUR_CALM, "too_many_pings")
// doubles the interval. (RFC 9113 section 6.7; gRPC A8, A9.) Decides only: no timer, no socket.
#ifndef WEFT_LIB_POOL_KEEPALIVE_H_
#define WEFT_LIB_POOL_KEEPALIVE_H_

#include <algorithm>

#include "base/time.h"

namespace weft::inline v0::pool {

class Keepalive {
 public:
  enum class Action { kNothing, kPing, kDead };
  static constexpr base::MonoDuration kIdleInterval = std::chrono::minutes(5);

  Keepalive(base::MonoDuration interval, base::MonoDuration timeout, base::MonoTime now)
      : interval_(interval), timeout_(timeout), last_read_(now) {}

  // Anything that arrived is a sign of life.
  void OnRead(base::MonoTime now) {
    last_read_ = now;
    asked_ = false;
  }
  // The first stream after a time without: silence counts from here.
  void OnFirstStream(base::MonoTime now) {
    if (!asked_) last_read_ = std::max(last_read_, now);
  }
  void set_interval(base::MonoDuration interval) { interval_ = interval; }

  // What to do now; kPing counts as done.
  Action Check(base::MonoTime now, bool streams_open) {
    if (asked_) return now >= asked_at_ + timeout_ ? Action::kDead : Action::kNothing;
    if (now < last_read_ + Interval(streams_open)) return Action::kNothing;
    asked_ = true;
    asked_at_ = now;
    return Action::kPing;
  }
  // When to check again.
  base::MonoTime next(bool streams_open) const {
    return asked_ ? asked_at_ + timeout_ : last_read_ + Interval(streams_open);
  }

 private:
  base::MonoDuration Interval(bool streams_open) const {
    return streams_open ? interval_ : std::max(interval_, kIdleInterval);
  }
  base::MonoDuration interval_;
  const base::MonoDuration timeout_;
  base::MonoTime last_read_;
  base::MonoTime asked_at_{};
  bool asked_ = false;
};

}  // namespace weft::inline v0::pool

#endif  // WEFT_LIB_POOL_KEEPALIVE_H_
