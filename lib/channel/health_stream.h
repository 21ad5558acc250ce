// HealthStream: one call of grpc.health.v1.Health/Watch at one host, open for as long as the host
// and its connection last. Whatever a host sends, at most one task waits to tell of it, and of the
// statuses that came meanwhile only the last one counts.
#ifndef WEFT_LIB_CHANNEL_HEALTH_STREAM_H_
#define WEFT_LIB_CHANNEL_HEALTH_STREAM_H_

#include <functional>
#include <mutex>
#include <optional>
#include <string_view>

#include "base/ref.h"
#include "channel/host_query.h"
#include "cluster/watched_health.h"
#include "event/loop.h"
#include "http/grpc_health.h"

namespace weft::inline v0::channel {

class HealthStream final : public HostQuery {
 public:
  struct News {
    std::optional<http::ServingStatus> status = {};
    std::optional<cluster::WatchedHealth::End> end = {};
  };

  HealthStream(base::Ref<pool::HostPool> host, std::string_view authority,
               std::string_view service);

  // Once, on `loop`, where `on_news` is called from then on, up to the end. It is let go there too:
  // not with the host's strand held.
  void Open(event::Loop& loop, std::function<void(const News&)> on_news);

 private:
  void OnBody(std::string_view bytes) override;
  void OnQueryEnd(const http::StreamEnd& end) override;
  cluster::WatchedHealth::End Judge(const http::StreamEnd& end) const;
  void Tell(News news);
  void OnTold();

  event::Loop* loop_ = nullptr;
  std::function<void(const News&)> on_news_;  // the loop's

  // The strand's.
  http::GrpcHealthReader reader_;
  bool has_body_ = false;
  bool malformed_ = false;

  std::mutex mutex_;
  News news_;
  bool told_ = false;
};

}  // namespace weft::inline v0::channel

#endif  // WEFT_LIB_CHANNEL_HEALTH_STREAM_H_
