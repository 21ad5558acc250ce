#include "grpc_stub/convert.h"

#include <utility>

#include "weft/grpc/status_details.h"

namespace weft::inline v0::grpc {
namespace {

// ClientContext::set_compression_algorithm leaves a note for gRPC's core among the metadata.
constexpr std::string_view kInternal = "grpc-internal-";
constexpr std::string_view kInherited[] = {"traceparent", "tracestate", "baggage", "x-weft-tier"};

}  // namespace

absl::Time ToTime(gpr_timespec time) {
  if (time.clock_type != GPR_CLOCK_REALTIME)
    time = gpr_convert_clock_type(time, GPR_CLOCK_REALTIME);
  if (gpr_time_cmp(time, gpr_inf_future(GPR_CLOCK_REALTIME)) == 0) return absl::InfiniteFuture();
  if (gpr_time_cmp(time, gpr_inf_past(GPR_CLOCK_REALTIME)) == 0) return absl::InfinitePast();
  return absl::FromUnixSeconds(time.tv_sec) + absl::Nanoseconds(time.tv_nsec);
}

gpr_timespec ToGrpcTime(absl::Time time) {
  if (time == absl::InfiniteFuture()) return gpr_inf_future(GPR_CLOCK_REALTIME);
  if (time == absl::InfinitePast()) return gpr_inf_past(GPR_CLOCK_REALTIME);
  const timespec from = absl::ToTimespec(time);
  gpr_timespec to = gpr_time_0(GPR_CLOCK_REALTIME);
  to.tv_sec = from.tv_sec;
  to.tv_nsec = static_cast<int32_t>(from.tv_nsec);
  return to;
}

::grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return ::grpc::Status();
  return ::grpc::Status(static_cast<::grpc::StatusCode>(status.raw_code()),
                        std::string(status.message().data(), status.message().size()),
                        StatusDetails(status).value_or(std::string()));
}

grpc_connectivity_state ToGrpcState(ChannelState state) {
  switch (state) {
    case ChannelState::kIdle:
      return GRPC_CHANNEL_IDLE;
    case ChannelState::kConnecting:
      return GRPC_CHANNEL_CONNECTING;
    case ChannelState::kReady:
      return GRPC_CHANNEL_READY;
    case ChannelState::kFailing:
      return GRPC_CHANNEL_TRANSIENT_FAILURE;
    case ChannelState::kClosed:
      break;
  }
  return GRPC_CHANNEL_SHUTDOWN;
}

ChannelState FromGrpcState(grpc_connectivity_state state) {
  switch (state) {
    case GRPC_CHANNEL_IDLE:
      return ChannelState::kIdle;
    case GRPC_CHANNEL_CONNECTING:
      return ChannelState::kConnecting;
    case GRPC_CHANNEL_READY:
      return ChannelState::kReady;
    case GRPC_CHANNEL_TRANSIENT_FAILURE:
      return ChannelState::kFailing;
    case GRPC_CHANNEL_SHUTDOWN:
      break;
  }
  return ChannelState::kClosed;
}

Compression CompressionOf(const ::grpc::ClientContext& context) {
  switch (context.compression_algorithm()) {
    case GRPC_COMPRESS_GZIP:
      return Compression::kGzip;
    case GRPC_COMPRESS_DEFLATE:
      return Compression::kDeflate;
    default:
      return Compression::kNone;
  }
}

bool IsInherited(std::string_view name) {
  for (const std::string_view inherited : kInherited) {
    if (name == inherited) return true;
  }
  return false;
}

void Divide(const std::multimap<std::string, std::string>& from, Headers& metadata,
            Headers& inherited) {
  for (const auto& [name, value] : from) {
    if (name.compare(0, kInternal.size(), kInternal) == 0) continue;
    (IsInherited(name) ? inherited : metadata).Add(name, value);
  }
}

void Inherit(const Headers& inherited, CallOptions& options) {
  if (inherited.empty()) return;
  const CallOptions from = CallOptions::From(inherited);
  options.trace = from.trace;
  options.trace_state = from.trace_state;
  options.baggage = from.baggage;
  options.tier = from.tier;
}

void Fill(const Headers& headers, MetadataMap& map) {
  for (const Headers::Field field : headers) map.emplace(Ref(field.name), Ref(field.value));
}

::grpc::ByteBuffer ToByteBuffer(std::string bytes) {
  auto* const owner = new std::string(std::move(bytes));
  const ::grpc::Slice slice(
      owner->data(), owner->size(), [](void* that) { delete static_cast<std::string*>(that); },
      owner);
  return ::grpc::ByteBuffer(&slice, 1);
}

bool Flatten(const ::grpc::ByteBuffer& buffer, ::grpc::Slice& keep, std::string_view& bytes) {
  if (!buffer.Valid()) return false;
  if (!buffer.TrySingleSlice(&keep).ok() && !buffer.DumpToSingleSlice(&keep).ok()) return false;
  bytes = {reinterpret_cast<const char*>(keep.begin()), keep.size()};
  return true;
}

}  // namespace weft::inline v0::grpc
