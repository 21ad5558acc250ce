#include "http2/flow_tuner.h"

namespace weft::inline v0::http2 {

bool FlowTuner::OnReceived(size_t bytes, base::MonoTime now) {
  if (probing_) {
    received_ += bytes;
    return false;
  }
  since_ += bytes;
  if (since_ < windows_.stream / 2 || now < next_) return false;
  if (windows_.stream >= max_.stream && windows_.connection >= max_.connection) return false;
  probing_ = true;
  ++probe_;
  received_ = 0;
  best_stream_ = 0;
  return true;
}

void FlowTuner::OnConsumed(Sample& sample, size_t bytes) {
  if (!probing_) return;
  if (sample.probe != probe_) sample = {0, probe_};
  sample.bytes += bytes;
  best_stream_ = std::max(best_stream_, sample.bytes);
}

bool FlowTuner::OnProbeAcknowledged(base::MonoTime now) {
  if (!probing_) return false;
  probing_ = false;
  since_ = 0;
  const bool stream_grew = Grow(windows_.stream, max_.stream, best_stream_);
  const bool connection_grew = Grow(windows_.connection, max_.connection, received_);
  const bool grew = stream_grew || connection_grew;
  pause_ = grew ? kMinPause : std::min(kMaxPause, 2 * pause_);
  next_ = base::After(now, pause_);
  return grew;
}

bool FlowTuner::Grow(size_t& window, size_t max, uint64_t used) {
  if (window >= max || used <= window / 3 * 2) return false;
  window = std::min(max, 2 * window);
  return true;
}

}  // namespace weft::inline v0::http2
