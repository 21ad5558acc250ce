#include "channel/grpc_watch.h"

#include <utility>

namespace weft::inline v0::channel {

void GrpcWatch::OnBegin() {
  // Before the first look at the host's state, so that no connection is missed.
  host()->AddListener(this);
  Follow();
}

void GrpcWatch::OnEnd() {
  host()->RemoveListener(this);
  if (const base::Ref<HealthStream> stream = std::exchange(stream_, nullptr)) stream->Cancel();
}

// On the host's loop, its strand held.
void GrpcWatch::OnHostState() {
  if (host()->state() != HostState::kReady) return;
  loop().PostFunction([self = base::Ref<GrpcWatch>::Share(this)] { self->OnConnected(); });
}

void GrpcWatch::OnConnected() {
  if (ended() || stream_) return;  // that one waited for the connection, or will end with its own
  health_.OnConnected(loop().now());
  Follow();
}

void GrpcWatch::OnTimer() {
  if (host()->state() != HostState::kReady) {
    health_.OnNotConnected();
    return;
  }
  health_.OnStart(loop().now());
  stream_ = base::MakeRef<HealthStream>(host(), common().authority, common().options.service);
  stream_->Open(loop(), [self = base::Ref<GrpcWatch>::Share(this), stream = stream_.get()](
                            const HealthStream::News& news) { self->OnNews(stream, news); });
}

void GrpcWatch::OnNews(const HealthStream* stream, const HealthStream::News& news) {
  if (stream_.get() != stream) return;  // it has come to its end here
  if (news.status.has_value()) health_.OnStatus(*news.status);
  if (news.end.has_value()) {
    stream_ = nullptr;
    health_.OnEnd(*news.end, loop().now());
  }
  Follow();
}

void GrpcWatch::Follow() {
  loop().Arm(this, health_.next());
  SetState(health_.state());
}

}  // namespace weft::inline v0::channel
