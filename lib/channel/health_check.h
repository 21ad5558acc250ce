// HealthCheck: one question to one host, whether it is healthy (weft/health_check_options.h), over
// the connection that its calls use. An exchange of its own and no call: nothing picks a host for
// it, repeats it, or takes it for one of the service's.
#ifndef WEFT_LIB_CHANNEL_HEALTH_CHECK_H_
#define WEFT_LIB_CHANNEL_HEALTH_CHECK_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "base/ref.h"
#include "base/time.h"
#include "cluster/health_checker.h"
#include "http/grpc_wire.h"
#include "http/session.h"
#include "pool/exchange.h"
#include "pool/host_pool.h"
#include "weft/headers.h"
#include "weft/health_check_options.h"

namespace weft::inline v0::channel {

class HealthCheck final : public base::RefCounted, public pool::Exchange {
 public:
  // On whichever thread holds the host's strand, with it held: must not block.
  using Done = absl::AnyInvocable<void(cluster::CheckResult) &&>;

  // `authority` empty: the host's.
  HealthCheck(std::shared_ptr<const HealthCheckOptions> options, base::Ref<pool::HostPool> host,
              std::string_view authority);

  // Once, in place of Exchange::Start. `done` is called once, maybe before it returns.
  void Run(base::MonoTime now, Done done);

 private:
  // What is more is no answer to a health check.
  static constexpr size_t kMaxBody = 4096;

  http::BodyPiece ReadBody(char* to, size_t size) override;
  void OnHead(int status, Headers headers) override;
  void OnData(std::string_view bytes) override;
  void OnTrailers(Headers trailers) override { trailers_ = std::move(trailers); }
  http::RequestHead RequestHeadFor(bool tls) override;
  void OnExchangeEnd(http::StreamEnd end) override;
  void Keep() override { Retain(); }
  void Drop() override { Release(); }

  bool is_grpc() const { return options_->kind == HealthCheckOptions::Kind::kGrpc; }
  cluster::CheckResult Judge(const http::StreamEnd& end) const;

  const std::shared_ptr<const HealthCheckOptions> options_;
  const base::Ref<pool::HostPool> host_;
  const std::string authority_;
  base::MonoTime deadline_{};
  Headers request_headers_;
  std::string request_body_;
  size_t body_sent_ = 0;
  Done done_;

  // The strand's.
  int status_ = 0;
  Headers headers_;
  std::string body_;
  Headers trailers_;
};

}  // namespace weft::inline v0::channel

#endif  // WEFT_LIB_CHANNEL_HEALTH_CHECK_H_
