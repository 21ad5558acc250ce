// GrpcWatch: keeps a HealthStream open at a host, on whichever connection it has
// (cluster/watched_health says when).
#ifndef WEFT_LIB_CHANNEL_GRPC_WATCH_H_
#define WEFT_LIB_CHANNEL_GRPC_WATCH_H_

#include <memory>

#include "base/random.h"
#include "base/ref.h"
#include "base/time.h"
#include "channel/health_stream.h"
#include "channel/host_check.h"
#include "cluster/watched_health.h"

namespace weft::inline v0::channel {

class GrpcWatch final : public HostCheck, private cluster::HostListener {
 public:
  GrpcWatch(std::shared_ptr<const Common> common, base::Ref<pool::HostPool> host,
            base::Random random, base::MonoTime now)
      : HostCheck(std::move(common), std::move(host)), health_(std::move(random), now) {}

 private:
  void OnBegin() override;
  void OnEnd() override;
  void OnTimer() override;
  void OnHostState() override;
  void OnConnected();
  void OnNews(const HealthStream* stream, const HealthStream::News& news);
  // After whatever changed it.
  void Follow();

  cluster::WatchedHealth health_;
  base::Ref<HealthStream> stream_;  // null: none runs
};

}  // namespace weft::inline v0::channel

#endif  // WEFT_LIB_CHANNEL_GRPC_WATCH_H_
