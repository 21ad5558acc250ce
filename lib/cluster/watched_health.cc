#include "cluster/watched_health.h"

#include <algorithm>

namespace weft::inline v0::cluster {

void WatchedHealth::OnStart(base::MonoTime now) {
  next_ = base::kNever;
  earliest_ = now + Jittered(kFirstBackoff);
}

void WatchedHealth::OnConnected(base::MonoTime now) {
  state_ = HealthState::kUnknown;
  backoff_ = kFirstBackoff;
  next_ = now;
}

void WatchedHealth::OnStatus(http::ServingStatus status) {
  state_ =
      status == http::ServingStatus::kServing ? HealthState::kHealthy : HealthState::kUnhealthy;
  backoff_ = base::MonoDuration::zero();
}

void WatchedHealth::OnEnd(End end, base::MonoTime now) {
  switch (end) {
    case End::kUnimplemented:
      state_ = HealthState::kHealthy;
      next_ = base::kNever;
      return;
    case End::kLost:
      state_ = HealthState::kUnknown;
      backoff_ = kFirstBackoff;
      next_ = std::max(now, earliest_);
      return;
    case End::kFailed:
      state_ = HealthState::kUnhealthy;
      next_ = std::max(now + Jittered(backoff_), earliest_);
      backoff_ = backoff_ == base::MonoDuration::zero() ? kFirstBackoff
                                                        : std::min(kMaxBackoff, backoff_ * 8 / 5);
      return;
  }
}

}  // namespace weft::inline v0::cluster
