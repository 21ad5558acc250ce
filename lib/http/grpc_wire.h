// The little that a call has to know of gRPC's wire format (PROTOCOL-HTTP2.md of the gRPC project);
// the rest is the component weft::grpc's.
#ifndef WEFT_LIB_HTTP_GRPC_WIRE_H_
#define WEFT_LIB_HTTP_GRPC_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/time/time.h"
#include "base/time.h"

namespace weft::inline v0::http {

// Before each message: a flag, and the length in four bytes.
inline constexpr size_t kGrpcPrefixBytes = 5;

// The length that a prefix announces; `bytes` has at least kGrpcPrefixBytes.
inline uint32_t GrpcMessageBytes(std::string_view bytes) {
  uint32_t size = 0;
  for (size_t i = 1; i < kGrpcPrefixBytes; ++i) size = size << 8 | static_cast<uint8_t>(bytes[i]);
  return size;
}

inline constexpr size_t kGrpcTimeoutBytes = 9;  // eight digits and a unit

// Writes `remaining` as a value of `grpc-timeout`, in the finest unit that holds it: rounded down,
// but never to nothing. Returns its size.
size_t WriteGrpcTimeout(base::MonoDuration remaining, char (&to)[kGrpcTimeoutBytes]);

// The other way round; nothing where it is none.
std::optional<absl::Duration> ParseGrpcTimeout(std::string_view text);

}  // namespace weft::inline v0::http

#endif  // WEFT_LIB_HTTP_GRPC_WIRE_H_
