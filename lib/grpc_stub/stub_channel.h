// What MakeChannel makes: the calls of a channel of gRPC C++ that has no network, all of which an
// interceptor takes over (stub_call.h), and the state of the Weft channel.
#ifndef WEFT_LIB_GRPC_STUB_STUB_CHANNEL_H_
#define WEFT_LIB_GRPC_STUB_STUB_CHANNEL_H_

#include <memory>

#include "grpcpp/channel.h"
#include "grpcpp/impl/channel_interface.h"
#include "weft/channel.h"
#include "weft/grpc_stub.h"

namespace weft::inline v0::grpc {

std::shared_ptr<::grpc::Channel> MakeCarrier(std::shared_ptr<Channel> channel, StubOptions options,
                                             bool raw);

class StubChannel final : public ::grpc::ChannelInterface {
 public:
  StubChannel(std::shared_ptr<Channel> channel, StubOptions options, bool raw);
  ~StubChannel() override;

  grpc_connectivity_state GetState(bool try_to_connect) override;

 private:
  ::grpc::internal::Call CreateCall(const ::grpc::internal::RpcMethod& method,
                                    ::grpc::ClientContext* context,
                                    ::grpc::CompletionQueue* queue) override;
  ::grpc::internal::Call CreateCallInternal(const ::grpc::internal::RpcMethod& method,
                                            ::grpc::ClientContext* context,
                                            ::grpc::CompletionQueue* queue,
                                            size_t interceptor) override;
  void PerformOpsOnCall(::grpc::internal::CallOpSetInterface* ops,
                        ::grpc::internal::Call* call) override;
  void* RegisterMethod(const char* method) override;
  void NotifyOnStateChangeImpl(grpc_connectivity_state last_observed, gpr_timespec deadline,
                               ::grpc::CompletionQueue* queue, void* tag) override;
  bool WaitForStateChangeImpl(grpc_connectivity_state last_observed,
                              gpr_timespec deadline) override;
  ::grpc::CompletionQueue* CallbackCQ() override;

  const std::shared_ptr<Channel> channel_;
  const std::shared_ptr<::grpc::Channel> carrier_;
};

}  // namespace weft::inline v0::grpc

#endif  // WEFT_LIB_GRPC_STUB_STUB_CHANNEL_H_
