// A plain HTTP call of the echo service (POST /bench.Echo/Call), whose gRPC messages are taken for
// bytes. Every answer is checked: status 200, grpc-status 0 and a body of the length asked for.
#ifndef WEFT_BENCHMARKS_ECHO_CALL_H_
#define WEFT_BENCHMARKS_ECHO_CALL_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "bench_client.h"
#include "weft/weft.h"

namespace weft::bench {

// The message {int32 resp_size = 1; bytes payload = 2} in protobuf's wire format, behind gRPC's
// five-byte prefix.
inline std::string EchoMessage(uint32_t resp_size, size_t payload) {
  std::string message;
  const auto varint = [&message](uint64_t value) {
    for (; value >= 0x80; value >>= 7) message.push_back(static_cast<char>(value | 0x80));
    message.push_back(static_cast<char>(value));
  };
  if (resp_size > 0) {
    message.push_back(0x08);
    varint(resp_size);
  }
  if (payload > 0) {
    message.push_back(0x12);
    varint(payload);
    message.append(payload, 'x');
  }
  std::string framed(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8)
    framed.push_back(static_cast<char>(message.size() >> shift));
  return framed + message;
}

// A Caller of ClosedLoop.
struct EchoCaller {
  Channel* channel;
  const std::string* request_body;
  size_t response_bytes;
  bool idempotent = false;

  Request MakeRequest() const {
    return Request::Post(
        "/bench.Echo/Call", *request_body,
        {{"te", "trailers"}, {"content-type", "application/grpc"}, {"grpc-timeout", "5S"}});
  }
  CallOptions Options() const { return {.timeout = absl::Seconds(5), .idempotent = idempotent}; }
  bool IsGood(const absl::StatusOr<Response>& response) const {
    return bench::IsGood(response, [this](const Response& answer) {
      return answer.status == 200 && answer.trailers["grpc-status"] == "0" &&
             answer.body.size() == response_bytes;
    });
  }

  bool Call() { return IsGood(channel->Call(MakeRequest(), Options())); }
  template <class Done>
  void Start(Done done) {
    channel
        ->Start(MakeRequest(), Options(),
                [this, done](absl::StatusOr<Response> response) { done(IsGood(response)); })
        .Detach();
  }
};

}  // namespace weft::bench

#endif  // WEFT_BENCHMARKS_ECHO_CALL_H_
