// Custom metadata (gRPC over HTTP/2, "Custom-Metadata"): what a user gives and gets, as Headers,
// and what of it goes over the wire.
//
// A value whose name ends in "-bin" is any bytes for the user and base64 (RFC 4648 section 4) on
// the wire. Other values are printable ASCII. Names that HTTP/2 or gRPC itself uses are reserved:
// they are refused on the way out and left out on the way in.
#ifndef WEFT_LIB_GRPC_METADATA_H_
#define WEFT_LIB_GRPC_METADATA_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "weft/headers.h"

namespace weft::inline v0::grpc {

// Pseudo-headers, "grpc-*", and what the call itself sets: content-type, te, user-agent,
// content-length and the fields of a connection.
bool IsReservedName(std::string_view name);
inline bool IsBinaryName(std::string_view name) { return name.ends_with("-bin"); }

// Appends `metadata` to the headers of a request, as it goes over the wire: base64 without padding.
//
// INVALID_ARGUMENT names the first field that gRPC does not allow, never its value: a name with
// something else than a-z 0-9 _ - . in it, a reserved one, or a value that is not "-bin" and has a
// byte outside 0x20-0x7e, or a space at either end (which a peer would take off). `to` then is as
// it was.
absl::Status AppendMetadata(const Headers& metadata, Headers& to);

// Appends what of received headers or trailers is for the user, in order. Returns how many fields
// were left out because they are named "-bin" and are no base64 (or a list of over 100 values).
//
// Padding may be there or not, and one "-bin" field may be several values joined with commas (which
// proxies do to equal names; base64 has no comma): they come out as several fields. Values that are
// not "-bin" are given as they came.
//
// Bad base64 is left out, since raw text would look to the user like bytes that the server meant,
// and counted, so that it is not lost without a trace. gRPC's core fails the call instead; but a
// call that was processed need not fail for a side note, that any proxy on the way can have spoilt.
size_t ReadMetadata(const Headers& wire, Headers& to);

// Base64 of the wire.
std::string EncodeBinary(std::string_view bytes);
// With or without padding; nothing for what is no base64 (the alphabet with - and _ included).
std::optional<std::string> DecodeBinary(std::string_view base64);

}  // namespace weft::inline v0::grpc

#endif  // WEFT_LIB_GRPC_METADATA_H_
