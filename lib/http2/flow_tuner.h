// FlowTuner: how large the receive windows are to be. A window below bandwidth × round trip
// throttles the peer; a large one lets it fill this side's memory. So windows start moderate and
// double while they are what limits.
//
// Measured as gRPC does ("BDP estimation"): while data flows, a PING is sent; what arrives until
// its acknowledgement is what the path holds. Where that is more than 2/3 of a window, the window
// was the limit. A stream's window counts what its reader took, not what arrived: a reader that
// pauses does not make windows grow.
//
// Probes are rare: only after half a stream window has arrived since the last one, and at most one
// per `kMinPause`, a pause that doubles up to `kMaxPause` while probes show no need.
#ifndef WEFT_LIB_HTTP2_FLOW_TUNER_H_
#define WEFT_LIB_HTTP2_FLOW_TUNER_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace weft::inline v0::http2 {

class FlowTuner {
 public:
  static constexpr base::MonoDuration kMinPause = std::chrono::milliseconds(100);
  static constexpr base::MonoDuration kMaxPause = std::chrono::seconds(10);

  struct Windows {
    size_t stream = 0;
    size_t connection = 0;
  };
  // Of one stream: what its reader took during a probe.
  struct Sample {
    uint64_t bytes = 0;
    uint32_t probe = 0;
  };

  FlowTuner(Windows initial, Windows max)
      : windows_(initial),
        max_{std::max(initial.stream, max.stream), std::max(initial.connection, max.connection)} {}

  // That much DATA arrived; true: send a probe now.
  bool OnReceived(size_t bytes, base::MonoTime now);
  void OnConsumed(Sample& sample, size_t bytes);
  // The probe was acknowledged; true: windows() grew.
  bool OnProbeAcknowledged(base::MonoTime now);

  const Windows& windows() const { return windows_; }

 private:
  static bool Grow(size_t& window, size_t max, uint64_t used);

  Windows windows_;
  const Windows max_;
  bool probing_ = false;
  uint32_t probe_ = 0;        // number of the last probe
  uint64_t since_ = 0;        // bytes since the last probe ended
  uint64_t received_ = 0;     // bytes during this probe
  uint64_t best_stream_ = 0;  // the most that one stream's reader took during this probe
  base::MonoDuration pause_ = kMinPause;
  base::MonoTime next_ = base::MonoTime::min();  // no probe before
};

}  // namespace weft::inline v0::http2

#endif  // WEFT_LIB_HTTP2_FLOW_TUNER_H_
