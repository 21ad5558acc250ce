// Attempt: one try of a call on one host, and what of an answer it has received.
#ifndef WEFT_LIB_CALL_ATTEMPT_H_
#define WEFT_LIB_CALL_ATTEMPT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "base/ref.h"
#include "base/time.h"
#include "call/attempt_head.h"
#include "cluster/member.h"
#include "pool/exchange.h"
#include "pool/host_pool.h"
#include "weft/attempt_log.h"
#include "weft/response.h"

namespace weft::inline v0::call {

class Call;

class Attempt final : public pool::Exchange {
 public:
  Attempt(Call& call, base::Ref<cluster::Member> on, AttemptInfo::Why started_for)
      : member(std::move(on)),
        // Every host of a factory is a HostPool (channel/host_table).
        host(static_cast<pool::HostPool*>(member->host.get())),
        why(started_for),
        call_(call) {}

  // Set before it starts.
  const base::Ref<cluster::Member> member;  // kept until the call is gone, and with it the host
  pool::HostPool* const host;
  const AttemptInfo::Why why;
  int number = 1;  // from 1, without those that were repeated by themselves
  base::MonoTime started{};
  base::MonoTime deadline{};
  uint32_t bounce_above = 0;  // as in PickResult

  // The strand's.
  AttemptHead head;
  Response answer;
  size_t body_sent = 0;       // of the request's
  bool committed = false;     // the call has no other any more
  base::MonoTime answered{};  // a stream's first answer

  // With the call's mutex; they stay as they are once the call has ended.
  bool running = true;
  bool lost = false;       // another one was answered first
  bool timed_out = false;  // by itself, not with the call
  bool bounced = false;    // refused by its host because of its load, as it was allowed to
  base::MonoTime ended{};  // or lost
  http::StreamEnd end;
  absl::StatusCode code = absl::StatusCode::kOk;  // of the end, or of a whole answer

  // http::StreamUser
  http::BodyPiece ReadBody(char* to, size_t size) override;
  const Headers* RequestTrailers() override;
  void OnHead(int status, Headers headers) override;
  void OnData(std::string_view bytes) override;
  void OnTrailers(Headers trailers) override;

 private:
  // pool::Exchange
  http::RequestHead RequestHeadFor(bool tls) override;
  base::MonoTime OnLook() override;
  void OnExchangeEnd(http::StreamEnd how) override;
  void Keep() override;
  void Drop() override;

  Call& call_;
};

}  // namespace weft::inline v0::call

#endif  // WEFT_LIB_CALL_ATTEMPT_H_
