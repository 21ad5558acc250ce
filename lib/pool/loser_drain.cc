#include "pool/loser_drain.h"

namespace weft::inline v0::pool {

void LoserDrain::Begin(http::Session& session, http::OpenStream* stream, cluster::Host& host,
                       event::TimerHeap& timers, base::MonoTime until) {
  auto* const drain = new LoserDrain(session, stream, host, timers);
  timers.Arm(drain, until);
  session.HandOver(stream, *drain);
}

void LoserDrain::OnTimer() {
  session_.Reset(stream_, http::ResetReason::kCancelled);
  Gone();
}

void LoserDrain::Gone() {
  timers_.Disarm(this);
  host_.Exit();
  delete this;
}

}  // namespace weft::inline v0::pool
