#include "channel/host_query.h"

#include <utility>

namespace weft::inline v0::channel {
namespace {

std::string AuthorityOf(const pool::HostPool& host, std::string_view authority) {
  if (!authority.empty()) return std::string(authority);
  return host.net_address().is_unix() ? "localhost" : host.address();
}

}  // namespace

HostQuery::HostQuery(base::Ref<pool::HostPool> host, std::string_view authority,
                     std::string_view path)
    : Exchange(Role::kBackground),
      host_(std::move(host)),
      authority_(AuthorityOf(*host_, authority)),
      path_(path) {}

void HostQuery::Post(Headers headers, std::string body) {
  method_ = "POST";
  request_headers_ = std::move(headers);
  request_body_ = std::move(body);
}

void HostQuery::Run(base::MonoTime now, base::MonoTime deadline) {
  Retain();  // until OnExchangeEnd
  Bind(*host_, now, deadline, base::MonoDuration::zero());
  Start();
}

http::RequestHead HostQuery::RequestHeadFor(bool tls) {
  return {.method = method_,
          .scheme = tls ? "https" : "http",
          .authority = authority_,
          .path = path_,
          .headers = &request_headers_,
          .has_body = !request_body_.empty()};
}

http::BodyPiece HostQuery::ReadBody(char* to, size_t size) {
  const size_t bytes = request_body_.copy(to, size, body_sent_);
  body_sent_ += bytes;
  using Next = http::BodyPiece::Next;
  return {bytes, body_sent_ < request_body_.size() ? Next::kMore : Next::kEnd};
}

void HostQuery::OnHead(int status, Headers headers) {
  status_ = status;
  headers_ = std::move(headers);
}

void HostQuery::OnData(std::string_view bytes) {
  ConsumeNow(bytes.size());
  OnBody(bytes);
}

void HostQuery::OnExchangeEnd(http::StreamEnd end) {
  OnQueryEnd(end);
  Release();
}

}  // namespace weft::inline v0::channel
