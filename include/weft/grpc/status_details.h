// What a gRPC server says about an error beyond its code and message: a google.rpc.Status with
// `details` (the "richer error model", the trailer grpc-status-details-bin).
//
// Weft takes it from the trailer as bytes and puts it on the call's absl::Status; which messages
// are in it is between the server and its user:
//
//   google::rpc::Status details;
//   if (auto bytes = weft::grpc::StatusDetails(status)) details.ParseFromString(*bytes);
#ifndef WEFT_GRPC_STATUS_DETAILS_H_
#define WEFT_GRPC_STATUS_DETAILS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"

namespace weft::inline v0::grpc {

// The type of the payload that has the details on an absl::Status.
inline constexpr char kStatusDetailsUrl[] = "type.googleapis.com/google.rpc.Status";

// The serialized google.rpc.Status as the server sent it, not checked to parse; nothing if the
// server sent none, or if the status is OK (which carries no payload).
std::optional<std::string> StatusDetails(const absl::Status& status);

}  // namespace weft::inline v0::grpc

#endif  // WEFT_GRPC_STATUS_DETAILS_H_
