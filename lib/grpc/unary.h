// A gRPC call of one message each way, on a call of one body each way.
#ifndef WEFT_LIB_GRPC_UNARY_H_
#define WEFT_LIB_GRPC_UNARY_H_

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpc/message.h"
#include "weft/call_options.h"
#include "weft/grpc/context.h"
#include "weft/request.h"
#include "weft/response.h"

namespace weft::inline v0::grpc {

// The head of a call: path and headers; the options learn that it is one of gRPC. INVALID_ARGUMENT
// where the path or the metadata is not what gRPC allows. `context` may be null.
absl::StatusOr<Request> MakeHead(std::string_view method, const Context* context,
                                 CallOptions& options);

// A request that no call accepts, so that what is wrong reaches callbacks by the way of all errors.
// The status that comes back is to be replaced by the one that says what is wrong.
Request UnsendableRequest();

// Head and message: what a unary call or a call with only one request begins with. `options` as
// MakeHead has them.
absl::StatusOr<Request> MakeRequest(std::string_view method, const Outgoing& message,
                                    const Context* context, CallOptions& options);

// What came of the call; on success the message went to `to`. Fills the way back of `context`,
// which may be null.
absl::Status ReadAnswer(absl::StatusOr<Response> answer, const CallOptions& options,
                        Context* context, const Incoming& to);

// The status of an answer, with the payload that every error of a call has. Moves the metadata of
// the status to the context.
absl::Status StatusOfAnswer(int http_status, const Headers& headers, const Headers& trailers,
                            const CallInfo& info, Context* context);
// What is wrong with an answer, made to follow the address of the host, as an error of the call.
absl::Status BadAnswer(const absl::Status& what, const CallInfo& info);

}  // namespace weft::inline v0::grpc

#endif  // WEFT_LIB_GRPC_UNARY_H_
