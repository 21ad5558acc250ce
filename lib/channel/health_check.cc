#include "channel/health_check.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "cluster/outcome.h"
#include "http/answer_code.h"
#include "http/grpc_health.h"

namespace weft::inline v0::channel {
namespace {

std::string AuthorityOf(const pool::HostPool& host, std::string_view authority) {
  if (!authority.empty()) return std::string(authority);
  return host.net_address().is_unix() ? "localhost" : host.address();
}

}  // namespace

HealthCheck::HealthCheck(std::shared_ptr<const HealthCheckOptions> options,
                         base::Ref<pool::HostPool> host, std::string_view authority)
    : options_(std::move(options)),
      host_(std::move(host)),
      authority_(AuthorityOf(*host_, authority)) {}

void HealthCheck::Run(base::MonoTime now, Done done) {
  done_ = std::move(done);
  deadline_ = base::After(now, options_->timeout);
  if (is_grpc()) {
    char timeout[http::kGrpcTimeoutBytes];
    const size_t size = http::WriteGrpcTimeout(deadline_ - now, timeout);
    request_headers_ = Headers{{"content-type", "application/grpc"},
                               {"te", "trailers"},
                               {"grpc-timeout", std::string_view(timeout, size)}};
    request_body_ = http::GrpcHealthRequest(options_->service);
  }
  Retain();  // until OnExchangeEnd
  Bind(*host_, now, deadline_, base::MonoDuration::zero());
  Start();
}

http::RequestHead HealthCheck::RequestHeadFor(bool tls) {
  return {.method = is_grpc() ? "POST" : "GET",
          .scheme = tls ? "https" : "http",
          .authority = authority_,
          .path = is_grpc() ? http::kGrpcHealthCheckPath : std::string_view(options_->path),
          .headers = &request_headers_,
          .has_body = is_grpc()};
}

http::BodyPiece HealthCheck::ReadBody(char* to, size_t size) {
  const size_t bytes = request_body_.copy(to, size, body_sent_);
  body_sent_ += bytes;
  using Next = http::BodyPiece::Next;
  return {bytes, body_sent_ < request_body_.size() ? Next::kMore : Next::kEnd};
}

void HealthCheck::OnHead(int status, Headers headers) {
  status_ = status;
  headers_ = std::move(headers);
}

void HealthCheck::OnData(std::string_view bytes) {
  ConsumeNow(bytes.size());
  // Of HTTP the status says it all.
  if (is_grpc()) body_.append(bytes.substr(0, kMaxBody + 1 - std::min(body_.size(), kMaxBody)));
}

void HealthCheck::OnExchangeEnd(http::StreamEnd end) {
  std::move(done_)(Judge(end));
  Release();
}

cluster::CheckResult HealthCheck::Judge(const http::StreamEnd& end) const {
  if (end.status.ok()) {
    if (!is_grpc()) return cluster::JudgeHttp(*options_, status_);
    const http::Answer answer{status_, headers_, trailers_, !body_.empty()};
    return cluster::JudgeGrpc(http::CodeOf(answer, Protocol::kGrpc), body_);
  }
  const bool late = cluster::NoticedLate(deadline_, host_->strand().loop().clock().Now());
  if (end.processed != Processed::kMaybeProcessed || absl::IsCancelled(end.status) || late)
    return cluster::CheckResult::kVoid;
  return cluster::CheckResult::kFailed;
}

}  // namespace weft::inline v0::channel
