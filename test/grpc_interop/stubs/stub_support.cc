#include "grpc_interop/stubs/stub_support.h"

#include <grpc/compression.h>

#include <chrono>

namespace weft::inline v0::testing {
namespace {

InteropMetadata Copy(const std::multimap<::grpc::string_ref, ::grpc::string_ref>& metadata) {
  InteropMetadata copy;
  for (const auto& [name, value] : metadata) {
    copy.emplace(std::string(name.data(), name.size()), std::string(value.data(), value.size()));
  }
  return copy;
}

}  // namespace

void Apply(const InteropCallOptions& options, ::grpc::ClientContext& context) {
  if (options.timeout != absl::InfiniteDuration()) {
    context.set_deadline(std::chrono::system_clock::now() +
                         absl::ToChronoNanoseconds(options.timeout));
  }
  for (const auto& [name, value] : options.metadata) context.AddMetadata(name, value);
  if (options.compress) context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  if (options.wait_for_ready) context.set_wait_for_ready(true);
}

InteropOutcome OutcomeOf(const ::grpc::Status& status, const ::grpc::ClientContext& context) {
  return {.code = static_cast<absl::StatusCode>(status.error_code()),
          .message = status.error_message(),
          .details = status.error_details(),
          .initial = Copy(context.GetServerInitialMetadata()),
          .trailing = Copy(context.GetServerTrailingMetadata())};
}

::grpc::WriteOptions WriteOptionsFor(bool compress) {
  ::grpc::WriteOptions options;
  if (!compress) options.set_no_compression();
  return options;
}

}  // namespace weft::inline v0::testing
