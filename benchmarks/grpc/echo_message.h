// The typed request that the arguments `req` and `resp` ask for, and the reply that is due to it.
#ifndef WEFT_BENCHMARKS_GRPC_ECHO_MESSAGE_H_
#define WEFT_BENCHMARKS_GRPC_ECHO_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "arguments.h"
#include "echo.pb.h"

namespace weft::bench {

inline ::bench::EchoRequest MakeEchoRequest(const Arguments& args) {
  ::bench::EchoRequest request;
  request.set_resp_size(static_cast<uint32_t>(args.Int("resp")));
  request.set_payload(std::string(static_cast<size_t>(args.Int("req")), 'x'));
  return request;
}

inline bool IsReplyTo(const ::bench::EchoRequest& request, const ::bench::EchoResponse& reply) {
  return reply.payload().size() == request.resp_size();
}

}  // namespace weft::bench

#endif  // WEFT_BENCHMARKS_GRPC_ECHO_MESSAGE_H_
