// What gRPC C++ knows of a call and shows to nobody but its own stubs: wait_for_ready and authority
// of a ClientContext, the server call it was made from, and the operations of a ChannelInterface.
//
// ClientContext and ChannelInterface call every grpc::ClientReader<...> a friend; this one is for a
// type of ours, and reads. Where a release of gRPC names something differently, only what depends
// on it is lost: the `requires` clauses see to that.
#ifndef WEFT_LIB_GRPC_STUB_PRIVATE_ACCESS_H_
#define WEFT_LIB_GRPC_STUB_PRIVATE_ACCESS_H_

#include <grpc/grpc.h>

#include <cstdint>
#include <optional>
#include <string>

#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/impl/channel_interface.h"
#include "grpcpp/support/sync_stream.h"

namespace weft::inline v0::grpc {
struct PrivateAccess {};
}  // namespace weft::inline v0::grpc

template <>
class grpc::ClientReader<weft::grpc::PrivateAccess> {
 public:
  // Nothing where the user said nothing.
  template <class Context>
  static std::optional<bool> WaitForReady(const Context& context) {
    if constexpr (requires { context.initial_metadata_flags(); }) {
      const uint32_t flags = context.initial_metadata_flags();
      if ((flags & GRPC_INITIAL_METADATA_WAIT_FOR_READY_EXPLICITLY_SET) != 0)
        return (flags & GRPC_INITIAL_METADATA_WAIT_FOR_READY) != 0;
    }
    return std::nullopt;
  }
  template <class Context>
  static std::string Authority(Context& context) {
    if constexpr (requires { context.authority(); }) return context.authority();
    return {};
  }
  // The server call of FromServerContext, and what is to be taken over from it; null: none.
  template <class Context>
  static grpc_call* Parent(const Context& context) {
    if constexpr (requires { context.propagate_from_call_; }) return context.propagate_from_call_;
    return nullptr;
  }
  template <class Context>
  static uint32_t PropagationMask(const Context& context) {
    if constexpr (requires { context.propagation_options_.c_bitmask(); })
      return context.propagation_options_.c_bitmask();
    return 0;
  }

  static internal::Call CreateCall(ChannelInterface& channel, const internal::RpcMethod& method,
                                   ClientContext* context, CompletionQueue* queue) {
    return channel.CreateCall(method, context, queue);
  }
  static internal::Call CreateCallInternal(ChannelInterface& channel,
                                           const internal::RpcMethod& method,
                                           ClientContext* context, CompletionQueue* queue,
                                           size_t interceptor) {
    return channel.CreateCallInternal(method, context, queue, interceptor);
  }
  static void PerformOpsOnCall(ChannelInterface& channel, internal::CallOpSetInterface* ops,
                               internal::Call* call) {
    channel.PerformOpsOnCall(ops, call);
  }
  static void* RegisterMethod(ChannelInterface& channel, const char* method) {
    return channel.RegisterMethod(method);
  }
  static CompletionQueue* CallbackCQ(ChannelInterface& channel) { return channel.CallbackCQ(); }
};

namespace weft::inline v0::grpc {
using Private = ::grpc::ClientReader<PrivateAccess>;
}  // namespace weft::inline v0::grpc

#endif  // WEFT_LIB_GRPC_STUB_PRIVATE_ACCESS_H_
