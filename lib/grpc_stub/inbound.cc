#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "grpc_stub/convert.h"
#include "grpcpp/server_context.h"
#include "weft/grpc_stub.h"

namespace weft::inline v0::grpc {
namespace {

std::string_view Find(const MetadataMap& metadata, std::string_view name) {
  const auto found = metadata.find(Ref(name));
  return found == metadata.end() ? std::string_view() : View(found->second);
}

}  // namespace

CallOptions From(const ::grpc::ServerContextBase& inbound) {
  const MetadataMap& metadata = inbound.client_metadata();
  Headers headers;
  for (const std::string_view name : {"traceparent", "x-weft-tier"}) {
    if (const std::string_view value = Find(metadata, name); !value.empty())
      headers.Add(name, value);
  }
  CallOptions options = CallOptions::From(headers);
  if (options.trace.has_value()) options.trace_state = Find(metadata, "tracestate");
  options.baggage = Find(metadata, "baggage");
  const absl::Time deadline = ToTime(inbound.raw_deadline());
  if (deadline != absl::InfiniteFuture()) {
    options.deadline = deadline;
    options.timeout = absl::InfiniteDuration();
  }
  return options;
}

std::unique_ptr<::grpc::ClientContext> ChildContext(const ::grpc::ServerContextBase& inbound) {
  std::unique_ptr<::grpc::ClientContext> context =
      ::grpc::ClientContext::FromServerContext(inbound);
  context->set_deadline(inbound.raw_deadline());
  for (const auto& [name, value] : inbound.client_metadata()) {
    if (!IsInherited(View(name))) continue;
    context->AddMetadata(std::string(View(name)), std::string(View(value)));
  }
  return context;
}

}  // namespace weft::inline v0::grpc
