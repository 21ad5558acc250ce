#include "channel/health_stream.h"

#include <utility>

#include "absl/status/status.h"
#include "http/answer_code.h"

namespace weft::inline v0::channel {

using End = cluster::WatchedHealth::End;

HealthStream::HealthStream(base::Ref<pool::HostPool> host, std::string_view authority,
                           std::string_view service)
    : HostQuery(std::move(host), authority, http::kGrpcHealthWatchPath) {
  Post(Headers{{"content-type", "application/grpc"}, {"te", "trailers"}},
       http::GrpcHealthRequest(service));
}

void HealthStream::Open(event::Loop& loop, std::function<void(const News&)> on_news) {
  loop_ = &loop;
  on_news_ = std::move(on_news);
  Run(loop.now(), base::kNever);
}

void HealthStream::OnBody(std::string_view bytes) {
  has_body_ = true;
  if (status() != 200) return;  // of something between that speaks no gRPC
  const std::optional<http::ServingStatus> before = reader_.last();
  if (!reader_.Read(bytes)) {
    malformed_ = true;
    Fail(absl::InternalError("sent what is no message of grpc.health.v1"));
    return;
  }
  if (reader_.last() != before) Tell({.status = reader_.last()});
}

void HealthStream::OnQueryEnd(const http::StreamEnd& end) { Tell({.end = Judge(end)}); }

End HealthStream::Judge(const http::StreamEnd& end) const {
  if (end.status.ok()) {
    const http::Answer answer{status(), headers(), trailers(), has_body_};
    const absl::StatusCode code = http::CodeOf(answer, Protocol::kGrpc);
    return code == absl::StatusCode::kUnimplemented ? End::kUnimplemented : End::kFailed;
  }
  if (malformed_) return End::kFailed;
  // INTERNAL: the host broke the rules, which does say something of it.
  const bool lost = end.origin == Origin::kConnection && !absl::IsInternal(end.status);
  return lost || end.processed == Processed::kNotSent ? End::kLost : End::kFailed;
}

void HealthStream::Tell(News news) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (news.status.has_value()) news_.status = news.status;
    if (news.end.has_value()) news_.end = news.end;
    if (std::exchange(told_, true)) return;
  }
  loop_->PostFunction([self = base::Ref<HealthStream>::Share(this)] { self->OnTold(); });
}

void HealthStream::OnTold() {
  News news;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    told_ = false;
    news = std::exchange(news_, {});
  }
  on_news_(news);
  if (news.end.has_value()) on_news_ = nullptr;
}

}  // namespace weft::inline v0::channel
