// What gRPC C++ and Weft say in different words.
#ifndef WEFT_LIB_GRPC_STUB_CONVERT_H_
#define WEFT_LIB_GRPC_STUB_CONVERT_H_

#include <grpc/impl/codegen/connectivity_state.h>
#include <grpc/support/time.h>

#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"
#include "grpcpp/support/status.h"
#include "grpcpp/support/string_ref.h"
#include "weft/call_options.h"
#include "weft/channel.h"
#include "weft/grpc/context.h"
#include "weft/headers.h"

namespace weft::inline v0::grpc {

using MetadataMap = std::multimap<::grpc::string_ref, ::grpc::string_ref>;

inline std::string_view View(::grpc::string_ref text) { return {text.data(), text.size()}; }
inline ::grpc::string_ref Ref(std::string_view text) { return {text.data(), text.size()}; }

// Infinite where gRPC's is.
absl::Time ToTime(gpr_timespec time);
gpr_timespec ToGrpcTime(absl::Time time);

// The code, the message as it is, and the details as the server sent them.
::grpc::Status ToGrpcStatus(const absl::Status& status);

grpc_connectivity_state ToGrpcState(ChannelState state);
ChannelState FromGrpcState(grpc_connectivity_state state);

Compression CompressionOf(const ::grpc::ClientContext& context);

// traceparent, tracestate, baggage, x-weft-tier.
bool IsInherited(std::string_view name);
// Divides what a ClientContext is to send into metadata and what belongs into CallOptions. What
// gRPC put there for its own core is left out.
void Divide(const std::multimap<std::string, std::string>& from, Headers& metadata,
            Headers& inherited);
// Trace, baggage and tier. The views point into `inherited`.
void Inherit(const Headers& inherited, CallOptions& options);

// The views point into `headers`.
void Fill(const Headers& headers, MetadataMap& map);

// A buffer that owns the bytes, not copied.
::grpc::ByteBuffer ToByteBuffer(std::string bytes);
// The bytes of a buffer, copied only where it has several slices. `keep` has to outlive the view.
// False where the buffer is empty of even nothing (default-constructed).
bool Flatten(const ::grpc::ByteBuffer& buffer, ::grpc::Slice& keep, std::string_view& bytes);

}  // namespace weft::inline v0::grpc

#endif  // WEFT_LIB_GRPC_STUB_CONVERT_H_
