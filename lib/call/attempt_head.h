// AttemptHead: the fields that are an attempt's own: what time remains, which span it is.
#ifndef WEFT_LIB_CALL_ATTEMPT_HEAD_H_
#define WEFT_LIB_CALL_ATTEMPT_HEAD_H_

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>

#include "base/time.h"
#include "http/grpc_wire.h"
#include "weft/headers.h"
#include "weft/trace_context.h"

namespace weft::inline v0::call {

// Views point into it: it stays where it is. No allocation but for a trace.
class AttemptHead {
 public:
  AttemptHead() = default;
  AttemptHead(const AttemptHead&) = delete;
  AttemptHead& operator=(const AttemptHead&) = delete;

  // Each at most once.
  void SetGrpcTimeout(base::MonoDuration remaining) {
    const size_t size = http::WriteGrpcTimeout(remaining, timeout_);
    fields_[count_++] = {"grpc-timeout", {timeout_, size}};
  }
  // `random`: the span's id is made of it.
  void SetTrace(TraceContext trace, uint64_t random) {
    if (random == 0) random = 1;  // which would be no id
    for (uint8_t& byte : trace.span_id) {
      byte = static_cast<uint8_t>(random);
      random >>= 8;
    }
    traceparent_ = trace.ToString();
    fields_[count_++] = {"traceparent", traceparent_};
  }
  // So many attempts before this one.
  void SetPreviousAttempts(size_t count) {
    previous_ = static_cast<char>('0' + std::min<size_t>(count, 9));
    fields_[count_++] = {"grpc-previous-rpc-attempts", {&previous_, 1}};
  }
  // The host may refuse it if it has more than that in flight.
  void SetBounceAbove(uint32_t in_flight) {
    const char* const end = std::to_chars(bounce_above_, std::end(bounce_above_), in_flight).ptr;
    fields_[count_++] = {"weft-bounce-above",
                         {bounce_above_, static_cast<size_t>(end - bounce_above_)}};
  }
  std::span<const Headers::Field> fields() const { return {fields_.data(), count_}; }

 private:
  char timeout_[http::kGrpcTimeoutBytes];
  std::string traceparent_;
  char previous_ = '0';
  char bounce_above_[10];
  std::array<Headers::Field, 4> fields_;
  size_t count_ = 0;
};

}  // namespace weft::inline v0::call

#endif  // WEFT_LIB_CALL_ATTEMPT_HEAD_H_
