#include "grpc_stub/state_notice.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "grpc_stub/private_access.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/impl/call_op_set.h"
#include "grpcpp/impl/rpc_method.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/client_interceptor.h"

namespace weft::inline v0::grpc {
namespace {

namespace experimental = ::grpc::experimental;

// A call that is hijacked, and then is left alone until it is told to end: gRPC offers no other way
// to keep a place in a completion queue.
class Notice final
    : public ::grpc::internal::CallOpSet<::grpc::internal::CallOpSendInitialMetadata,
                                         ::grpc::internal::CallOpRecvMessage<::grpc::ByteBuffer>> {
 public:
  explicit Notice(void* tag) {
    SendInitialMetadata(&metadata_, 0);
    RecvMessage(&message_);
    set_output_tag(tag);
  }
  void Begin(::grpc::ChannelInterface& channel, ::grpc::CompletionQueue* queue) {
    const ::grpc::internal::RpcMethod method("/weft/State", nullptr,
                                             ::grpc::internal::RpcMethod::BIDI_STREAMING);
    ::grpc::internal::Call call = Private::CreateCall(channel, method, &context_, queue);
    call.PerformOps(this);
  }
  void End(bool ok) {
    if (!ok) waiting_->FailHijackedRecvMessage();
    waiting_->Proceed();
  }
  bool FinalizeResult(void** tag, bool* status) override {
    const bool final = CallOpSet::FinalizeResult(tag, status);
    if (final) delete this;
    return final;
  }
  void Wait(experimental::InterceptorBatchMethods* batch) { waiting_ = batch; }
  ::grpc::ClientContext& context() { return context_; }

 private:
  std::multimap<std::string, std::string> metadata_;
  ::grpc::ByteBuffer message_;
  ::grpc::ClientContext context_;
  experimental::InterceptorBatchMethods* waiting_ = nullptr;
};

// The notice that is being begun on this thread: gRPC makes its interceptor within the same call.
thread_local Notice* beginning = nullptr;

class Hold final : public experimental::Interceptor {
 public:
  explicit Hold(Notice* notice) : notice_(notice) {}
  void Intercept(experimental::InterceptorBatchMethods* batch) override {
    using Hook = experimental::InterceptionHookPoints;
    if (batch->QueryInterceptionHookPoint(Hook::PRE_SEND_CANCEL)) return;
    if (batch->QueryInterceptionHookPoint(Hook::PRE_SEND_INITIAL_METADATA)) {
      batch->Hijack();
    } else if (batch->QueryInterceptionHookPoint(Hook::PRE_RECV_MESSAGE)) {
      notice_->Wait(batch);
    } else {
      batch->Proceed();
    }
  }

 private:
  Notice* const notice_;
};

class HoldFactory final : public experimental::ClientInterceptorFactoryInterface {
 public:
  experimental::Interceptor* CreateClientInterceptor(experimental::ClientRpcInfo*) override {
    return new Hold(beginning);
  }
};

}  // namespace

std::function<void(bool ok)> Announce(::grpc::CompletionQueue* queue, void* tag) {
  std::vector<std::unique_ptr<experimental::ClientInterceptorFactoryInterface>> factories;
  factories.push_back(std::make_unique<HoldFactory>());
  const auto channel = experimental::CreateCustomChannelWithInterceptors(
      "", nullptr, ::grpc::ChannelArguments(), std::move(factories));
  auto* const notice = new Notice(tag);
  beginning = notice;
  notice->Begin(*channel, queue);
  beginning = nullptr;
  return [notice](bool ok) { notice->End(ok); };
}

}  // namespace weft::inline v0::grpc
