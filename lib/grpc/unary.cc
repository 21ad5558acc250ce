#include "grpc/unary.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "grpc/codec.h"
#include "grpc/framing.h"
#include "grpc/metadata.h"
#include "grpc/text.h"
#include "grpc/wire_status.h"
#include "weft/error.h"
#include "weft/grpc/call.h"

namespace weft::inline v0::grpc {
namespace {

constexpr std::string_view kUserAgent = "grpc-c++-weft/0.1.0";

std::string_view CompressionName(Compression compression) {
  return compression == Compression::kGzip ? EncodingName(Encoding::kGzip)
                                           : EncodingName(Encoding::kDeflate);
}

// "/package.Service/Method"
bool IsMethodPath(std::string_view path) {
  const size_t slash = path.find('/', 1);
  return path.size() > 3 && path[0] == '/' && slash != std::string_view::npos && slash > 1 &&
         slash + 1 < path.size();
}

void SetError(absl::Status& status, Origin origin, const CallInfo& info) {
  SetCallError(status, {.origin = origin,
                        .processed = Processed::kMaybeProcessed,
                        .host = info.host,
                        .attempts = info.attempts});
}

// The way back of a context to which no whole answer came.
void FillWithoutAnswer(const absl::Status& status, Context* context) {
  if (context == nullptr) return;
  const CallError error = GetCallError(status).value_or(CallError{});
  context->info = {};
  context->info.host = error.host;
  context->info.attempts = error.attempts;
  context->initial_metadata.Clear();
  context->trailing_metadata.Clear();
}

absl::Status ReadMessage(Response& response, const CallOptions& options, const Incoming& to) {
  Deframer deframer(options.max_response_bytes);
  const std::optional<std::string_view> encoding = response.headers.Find("grpc-encoding");
  if (absl::Status status = deframer.Add(std::move(response.body)); !status.ok()) return status;
  if (absl::Status status = deframer.CheckEnd(); !status.ok()) return status;
  if (absl::Status status = CheckOneMessage(deframer.ready()); !status.ok()) return status;
  return to.Take(*deframer.Next(), encoding, options.max_response_bytes);
}

}  // namespace

absl::StatusOr<Request> MakeHead(std::string_view method, const Context* context,
                                 CallOptions& options) {
  if (!IsMethodPath(method)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", Printable(method, 100), "\" is no method: \"/package.Service/Method\""));
  }
  options.protocol = Protocol::kGrpc;
  Request request;
  request.method = "POST";
  if (context != nullptr) request.authority = context->authority;
  request.path = method;
  Headers& headers = request.headers;
  const bool has_metadata = context != nullptr && !context->metadata.empty();
  headers.Reserve(5 + (has_metadata ? context->metadata.size() : 0),
                  160 + (has_metadata ? 2 * context->metadata.bytes() : 0));
  headers.Add("te", "trailers");
  headers.Add("content-type", "application/grpc");
  headers.Add("user-agent", kUserAgent);
  headers.Add("grpc-accept-encoding", kAcceptEncoding);
  if (context != nullptr && context->compression != Compression::kNone)
    headers.Add("grpc-encoding", CompressionName(context->compression));
  if (has_metadata) {
    if (absl::Status status = AppendMetadata(context->metadata, headers); !status.ok())
      return status;
  }
  return request;
}

Request UnsendableRequest() {
  Request request;
  request.path.clear();
  return request;
}

absl::StatusOr<Request> MakeRequest(std::string_view method, const Outgoing& message,
                                    const Context* context, CallOptions& options) {
  absl::StatusOr<Request> request = MakeHead(method, context, options);
  if (!request.ok()) return request;
  const Compression compression = context != nullptr ? context->compression : Compression::kNone;
  if (absl::Status status = message.AppendTo(request->body, compression, context); !status.ok())
    return status;
  return request;
}

absl::Status ReadAnswer(absl::StatusOr<Response> answer, const CallOptions& options,
                        Context* context, const Incoming& to) {
  if (!answer.ok()) {
    FillWithoutAnswer(answer.status(), context);
    return std::move(answer).status();
  }
  absl::Status status =
      StatusOfAnswer(answer->status, answer->headers, answer->trailers, answer->info, context);
  if (!status.ok()) return status;
  status = ReadMessage(*answer, options, to);
  return status.ok() ? status : BadAnswer(status, answer->info);
}

absl::Status BadAnswer(const absl::Status& what, const CallInfo& info) {
  absl::Status status(what.code(), absl::StrCat(info.host, " ", what.message()));
  SetError(status, Origin::kConnection, info);
  return status;
}

absl::Status StatusOfAnswer(int http_status, const Headers& headers, const Headers& trailers,
                            const CallInfo& info, Context* context) {
  const bool trailers_only = trailers.empty() && info.body_bytes == 0;
  if (context != nullptr) {
    context->info = info;
    context->initial_metadata.Clear();
    context->trailing_metadata.Clear();
    if (!trailers_only) ReadMetadata(headers, context->initial_metadata);
    ReadMetadata(trailers_only ? headers : trailers, context->trailing_metadata);
  }
  absl::Status status = StatusOf(http_status, headers, trailers, trailers_only);
  if (status.ok()) return status;
  if (!IsServersError(trailers_only ? headers : trailers))
    return BadAnswer(std::move(status), info);
  SetError(status, Origin::kPeer, info);
  return status;
}

namespace unary {

Prepared Prepare(std::string_view method, const google::protobuf::MessageLite& request,
                 const CallOptions& options, const Context* context) {
  Prepared prepared;
  prepared.options = options;
  absl::StatusOr<Request> made = MakeRequest(method, Outgoing(request), context, prepared.options);
  if (made.ok()) {
    prepared.request = *std::move(made);
  } else {
    prepared.request = UnsendableRequest();
    prepared.refused = std::move(made).status();
    SetCallError(prepared.refused, {});
  }
  return prepared;
}

absl::Status Read(absl::StatusOr<Response> response, const absl::Status& refused,
                  const CallOptions& options, Context* context,
                  google::protobuf::MessageLite& reply) {
  if (!refused.ok()) return refused;
  return ReadAnswer(std::move(response), options, context, Incoming(&reply));
}

}  // namespace unary
}  // namespace weft::inline v0::grpc
