// Compression of messages (gRPC over HTTP/2, "Message-Encoding"; gRPC's compression.md): gzip
// (RFC 1952) and deflate, which is the zlib format (RFC 1950), each message by itself.
#ifndef WEFT_LIB_GRPC_CODEC_H_
#define WEFT_LIB_GRPC_CODEC_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace weft::inline v0::grpc {

enum class Encoding { kIdentity, kDeflate, kGzip };

// The value of grpc-accept-encoding: what Decompress can read.
inline constexpr char kAcceptEncoding[] = "identity,deflate,gzip";

// As in the header grpc-encoding: "identity", "deflate", "gzip".
std::string_view EncodingName(Encoding encoding);
std::optional<Encoding> EncodingByName(std::string_view name);

// How to read a message whose prefix has that flag, in a body whose headers have that grpc-encoding
// (if any). INTERNAL: the flag is set, and the header is missing, is identity, or is no encoding
// that this side offered.
absl::StatusOr<Encoding> EncodingOfMessage(bool compressed,
                                           std::optional<std::string_view> grpc_encoding);

// Appends the compressed bytes to `to`; identity appends what it was given.
// RESOURCE_EXHAUSTED: no memory, and `to` is as it was.
absl::Status Compress(Encoding encoding, std::string_view message, std::string& to);
absl::Status Compress(Encoding encoding, absl::Span<const std::string_view> pieces,
                      std::string& to);

// The message that `pieces`, one after another, are the compressed form of.
//
// RESOURCE_EXHAUSTED  it is above `max_bytes`: said when the limit is passed, so a bomb costs at
//                     most the memory of the limit and the time to fill it
// INTERNAL            the bytes are not of that format, end too early, or go on behind its end
//                     (a second gzip member included: gRPC knows one per message)
absl::StatusOr<std::string> Decompress(Encoding encoding, absl::Span<const std::string_view> pieces,
                                       size_t max_bytes);

}  // namespace weft::inline v0::grpc

#endif  // WEFT_LIB_GRPC_CODEC_H_
