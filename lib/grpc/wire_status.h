// How a gRPC call ended, from what came over HTTP/2 (gRPC over HTTP/2, "Responses"; gRPC's
// http-grpc-status-mapping.md and statuscodes.md).
//
// The one rule above all others: OK is only what says so without a doubt, with HTTP status 200, a
// gRPC content-type, and exactly one grpc-status that is "0". A body that just ends is not OK.
//
// Texts that Weft makes are made to follow the address of the host: "10.0.0.7:80 answered with HTTP
// status 503 and no grpc-status". What the server put into grpc-message is passed on as it is.
#ifndef WEFT_LIB_GRPC_WIRE_STATUS_H_
#define WEFT_LIB_GRPC_WIRE_STATUS_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "weft/headers.h"

namespace weft::inline v0::grpc {

// Whether the body behind this head is made of gRPC messages: HTTP status 200, and one content-type
// application/grpc, alone or followed by '+' or ';'. Any other body is not worth reading.
bool IsGrpcResponse(int http_status, const Headers& headers);

// The status of a call whose response ended regularly (a stream that was reset has its status from
// the reset). `trailers_only`: the head was all there was, with no byte of a body and no trailers
// behind it, and then is where the status is. Otherwise a grpc-status in `headers` means nothing.
//
// In this order:
//   one grpc-status 1-16        that code and grpc-message, whatever the HTTP status; details from
//                               grpc-status-details-bin become a payload (StatusDetails in
//                               weft/grpc/status_details.h)
//   HTTP status is not 200      CodeOfHttpStatus (weft/response.h)
//   not a gRPC content-type     UNKNOWN, naming it
//   grpc-status missing, twice,
//   or not a code of gRPC       UNKNOWN
//   grpc-status 0               OK
absl::Status StatusOf(int http_status, const Headers& headers, const Headers& trailers,
                      bool trailers_only);

// Whether StatusOf, given that block to look at, says what the server itself put into it.
bool IsServersError(const Headers& block);

// For a method that answers with one message, when its status is OK: UNIMPLEMENTED, as gRPC's
// statuscodes.md has it, unless one message came.
absl::Status CheckOneMessage(size_t messages);

// grpc-message: bytes outside 0x20-0x7e, and '%', become "%" and two hexadecimal digits. What is
// not well encoded is decoded as far as it goes, and a '%' that begins nothing stays one.
std::string PercentEncode(std::string_view text);
std::string PercentDecode(std::string_view encoded);

}  // namespace weft::inline v0::grpc

#endif  // WEFT_LIB_GRPC_WIRE_STATUS_H_
