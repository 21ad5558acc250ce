// The two messages of grpc.health.v1, in protobuf's encoding, written and read by hand: the core
// does not link protobuf.
//
//   message HealthCheckRequest { string service = 1; }
//   message HealthCheckResponse { ServingStatus status = 1; }
//
// As bodies of calls: each has gRPC's prefix before it, and is not compressed.
#ifndef WEFT_LIB_HTTP_GRPC_HEALTH_H_
#define WEFT_LIB_HTTP_GRPC_HEALTH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::inline v0::http {

inline constexpr std::string_view kGrpcHealthCheckPath = "/grpc.health.v1.Health/Check";

enum class ServingStatus : uint8_t { kUnknown, kServing, kNotServing, kServiceUnknown };

// The body of a Check of `service`, which is valid UTF-8.
std::string GrpcHealthRequest(std::string_view service);

// What a body says that is exactly one message; nothing where it is not that, or is malformed. As
// in protobuf the last `status` counts, none is kUnknown, fields that are not known are skipped; a
// status that is not known is kUnknown.
std::optional<ServingStatus> ParseGrpcHealthResponse(std::string_view body);

}  // namespace weft::inline v0::http

#endif  // WEFT_LIB_HTTP_GRPC_HEALTH_H_
