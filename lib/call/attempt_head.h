// AttemptHead: the fields that are an attempt's own: what time remains, which span it is.
#ifndef WEFT_LIB_CALL_ATTEMPT_HEAD_H_
#define WEFT_LIB_CALL_ATTEMPT_HEAD_H_

#include <array>
#include <cstddef>
#include <cstdint>
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
  void SetTrace(TraceContext trace, const std::array<uint8_t, 8>& span_id) {
    trace.span_id = span_id;
    traceparent_ = trace.ToString();
    fields_[count_++] = {"traceparent", traceparent_};
  }
  std::span<const Headers::Field> fields() const { return {fields_.data(), count_}; }

 private:
  char timeout_[http::kGrpcTimeoutBytes];
  std::string traceparent_;
  std::array<Headers::Field, 2> fields_;
  size_t count_ = 0;
};

}  // namespace weft::inline v0::call

#endif  // WEFT_LIB_CALL_ATTEMPT_HEAD_H_
