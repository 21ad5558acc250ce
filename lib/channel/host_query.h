// HostQuery: a request to one host over the connection that its calls use: whether it is healthy,
// or how much it has to do. No call: nothing picks a host for it, repeats it, counts it as in
// flight or takes its end for the host's failure (pool::Exchange::Role::kBackground).
#ifndef WEFT_LIB_CHANNEL_HOST_QUERY_H_
#define WEFT_LIB_CHANNEL_HOST_QUERY_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "base/ref.h"
#include "base/time.h"
#include "http/session.h"
#include "pool/exchange.h"
#include "pool/host_pool.h"
#include "weft/headers.h"

namespace weft::inline v0::channel {

class HostQuery : public base::RefCounted, public pool::Exchange {
 public:
  pool::HostPool& host() const { return *host_; }

 protected:
  // `authority` empty: the host's. `path` lives as long as the query.
  HostQuery(base::Ref<pool::HostPool> host, std::string_view authority, std::string_view path);

  // Makes it one of gRPC's. Before Run.
  void Post(Headers headers, std::string body);
  // Once, in place of Exchange::Start. kNever: as long as it takes.
  void Run(base::MonoTime now, base::MonoTime deadline);

  // With the host's strand held, as all events. `headers` and `trailers` are there at the end.
  virtual void OnBody(std::string_view) {}
  virtual void OnQueryEnd(const http::StreamEnd& end) = 0;

  // The strand's.
  int status() const { return status_; }
  const Headers& headers() const { return headers_; }
  const Headers& trailers() const { return trailers_; }

 private:
  http::BodyPiece ReadBody(char* to, size_t size) final;
  void OnHead(int status, Headers headers) final;
  void OnData(std::string_view bytes) final;
  void OnTrailers(Headers trailers) final { trailers_ = std::move(trailers); }
  http::RequestHead RequestHeadFor(bool tls) final;
  void OnExchangeEnd(http::StreamEnd end) final;
  void Keep() final { Retain(); }
  void Drop() final { Release(); }

  const base::Ref<pool::HostPool> host_;
  const std::string authority_;
  const std::string_view path_;
  std::string_view method_ = "GET";
  Headers request_headers_;
  std::string request_body_;
  size_t body_sent_ = 0;

  // The strand's.
  int status_ = 0;
  Headers headers_;
  Headers trailers_;
};

}  // namespace weft::inline v0::channel

#endif  // WEFT_LIB_CHANNEL_HOST_QUERY_H_
