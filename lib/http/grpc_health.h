// The two messages of grpc.health.v1, in protobuf's encoding, written and read by hand: the core
// does not link protobuf.
//
//   message HealthCheckRequest { string service = 1; }
//   message HealthCheckResponse { ServingStatus status = 1; }
//
// In bodies each has gRPC's prefix before it, and is not compressed.
#ifndef WEFT_LIB_HTTP_GRPC_HEALTH_H_
#define WEFT_LIB_HTTP_GRPC_HEALTH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::inline v0::http {

inline constexpr std::string_view kGrpcHealthWatchPath = "/grpc.health.v1.Health/Watch";

enum class ServingStatus : uint8_t { kUnknown, kServing, kNotServing, kServiceUnknown };

// The body of a request for the health of `service`, which is valid UTF-8.
std::string GrpcHealthRequest(std::string_view service);

// What a message says; nothing where it is malformed. As in protobuf the last `status` counts, none
// is kUnknown, fields that are not known are skipped; a status that is not known is kUnknown.
std::optional<ServingStatus> ParseGrpcHealthResponse(std::string_view message);

// Reads the messages of a body, in whatever pieces that comes. Keeps one message at most.
class GrpcHealthReader {
 public:
  static constexpr size_t kMaxMessage = 4096;  // what is longer is no answer to a health check

  // False: a message is malformed, compressed or too long. Nothing is read after it.
  bool Read(std::string_view bytes);
  // The last message's that was there whole; nothing: there was none.
  std::optional<ServingStatus> last() const { return last_; }

 private:
  std::string partial_;  // a message of which not all is there, with its prefix
  std::optional<ServingStatus> last_;
};

}  // namespace weft::inline v0::http

#endif  // WEFT_LIB_HTTP_GRPC_HEALTH_H_
