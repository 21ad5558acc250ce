// WatchedHealth: what a host says of its health on the streams of grpc.health.v1.Health/Watch, and
// when the next one is to be opened (gRPC's doc/health-checking.md, gRFC A17). It opens none, and
// has no clock of its own.
//
//   SERVING                      kHealthy    at once: the host says it of itself, nothing is
//   guessed any other status             kUnhealthy  likewise UNIMPLEMENTED                kHealthy
//   and not asked again on this connection the stream ended otherwise   kUnhealthy  until the next
//   one says something; that is opened at
//                                            once if this one had, else after a back-off
//   the connection was lost      kUnknown    until one on the next connection says something
//
// The back-off is gRPC's: 1 s, times 1.6 each time, at most 2 min, give or take a fifth. But two
// streams on one connection are a second apart at least: a host that says something and ends the
// stream, again and again, is not asked as fast as it answers.
#ifndef WEFT_LIB_CLUSTER_WATCHED_HEALTH_H_
#define WEFT_LIB_CLUSTER_WATCHED_HEALTH_H_

#include <cstdint>
#include <utility>

#include "base/random.h"
#include "base/time.h"
#include "cluster/health_checker.h"
#include "http/grpc_health.h"

namespace weft::inline v0::cluster {

// Not thread-safe.
class WatchedHealth {
 public:
  static constexpr base::MonoDuration kFirstBackoff = std::chrono::seconds(1);
  static constexpr base::MonoDuration kMaxBackoff = std::chrono::minutes(2);

  // How a stream ended.
  enum class End : uint8_t {
    kUnimplemented,
    kFailed,
    kLost,  // with its connection, or it was never on one
  };

  // The first stream is due at once.
  WatchedHealth(base::Random random, base::MonoTime now)
      : random_(std::move(random)), next_(now), earliest_(now) {}

  HealthState state() const { return state_; }
  // When the next stream is due; kNever: not before OnConnected, or one runs.
  base::MonoTime next() const { return next_; }

  // One is opened.
  void OnStart(base::MonoTime now);
  // It is due, but there is no connection.
  void OnNotConnected() { next_ = base::kNever; }
  // There is a new connection, and no stream runs.
  void OnConnected(base::MonoTime now);
  void OnStatus(http::ServingStatus status);
  void OnEnd(End end, base::MonoTime now);

 private:
  base::MonoDuration Jittered(base::MonoDuration mean) {
    return base::MonoDuration(
        static_cast<int64_t>(static_cast<double>(mean.count()) * random_.Uniform(0.8, 1.2)));
  }

  base::Random random_;
  HealthState state_ = HealthState::kUnknown;
  base::MonoDuration backoff_ = kFirstBackoff;
  base::MonoTime next_;
  base::MonoTime earliest_;  // for the next stream on this connection
};

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_WATCHED_HEALTH_H_
