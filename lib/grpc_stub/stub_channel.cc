#include "grpc_stub/stub_channel.h"

#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "grpc_stub/convert.h"
#include "grpc_stub/private_access.h"
#include "grpc_stub/state_notice.h"
#include "grpc_stub/stub_call.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/support/client_interceptor.h"

namespace weft::inline v0::grpc {
namespace {

namespace experimental = ::grpc::experimental;
using Factories = std::vector<std::unique_ptr<experimental::ClientInterceptorFactoryInterface>>;

class Hijacker final : public experimental::Interceptor {
 public:
  explicit Hijacker(std::shared_ptr<StubCall> call) : call_(std::move(call)) {}
  void Intercept(StubCall::Batch* batch) override {
    const std::shared_ptr<StubCall> call = call_;  // this may be gone before OnBatch returns
    call->OnBatch(batch);
  }

 private:
  const std::shared_ptr<StubCall> call_;
};

class HijackerFactory final : public experimental::ClientInterceptorFactoryInterface {
 public:
  explicit HijackerFactory(std::shared_ptr<const StubSettings> settings)
      : settings_(std::move(settings)) {}
  experimental::Interceptor* CreateClientInterceptor(experimental::ClientRpcInfo* info) override {
    auto call = std::make_shared<StubCall>(settings_, info);
    call->WatchParent();
    return new Hijacker(std::move(call));
  }

 private:
  const std::shared_ptr<const StubSettings> settings_;
};

// gRPC without a host to talk to: null credentials.
std::shared_ptr<::grpc::Channel> MakeLame(Factories factories) {
  return experimental::CreateCustomChannelWithInterceptors("", nullptr, ::grpc::ChannelArguments(),
                                                           std::move(factories));
}

// The queue of the callback API. All of gRPC's channels in a process share one, with threads of its
// own; the last of them that goes waits for these threads, and aborts the process if it goes within
// a callback, that is on one of them (gRPC 1.51). So one channel never goes.
::grpc::CompletionQueue* CallbackQueue() {
  static auto* const anchor = new std::shared_ptr<::grpc::Channel>(MakeLame({}));
  return Private::CallbackCQ(**anchor);
}

StubSettings SettingsOf(std::shared_ptr<Channel> channel, const StubOptions& options, bool raw) {
  StubSettings settings;
  settings.channel = std::move(channel);
  settings.options.timeout = options.timeout;
  settings.options.max_response_bytes = options.max_receive_message_bytes;
  settings.options.wait_for_ready = options.wait_for_ready;
  settings.options.idempotent = options.idempotent;
  settings.max_request_bytes = options.max_send_message_bytes;
  settings.raw = raw;
  return settings;
}

}  // namespace

std::shared_ptr<::grpc::Channel> MakeCarrier(std::shared_ptr<Channel> channel, StubOptions options,
                                             bool raw) {
  auto settings =
      std::make_shared<const StubSettings>(SettingsOf(std::move(channel), options, raw));
  Factories factories = std::move(options.interceptors);
  factories.push_back(std::make_unique<HijackerFactory>(std::move(settings)));
  return MakeLame(std::move(factories));
}

StubChannel::StubChannel(std::shared_ptr<Channel> channel, StubOptions options, bool raw)
    : channel_(channel), carrier_(MakeCarrier(std::move(channel), std::move(options), raw)) {}
StubChannel::~StubChannel() = default;

::grpc::internal::Call StubChannel::CreateCall(const ::grpc::internal::RpcMethod& method,
                                               ::grpc::ClientContext* context,
                                               ::grpc::CompletionQueue* queue) {
  return Private::CreateCall(*carrier_, method, context, queue);
}
::grpc::internal::Call StubChannel::CreateCallInternal(const ::grpc::internal::RpcMethod& method,
                                                       ::grpc::ClientContext* context,
                                                       ::grpc::CompletionQueue* queue,
                                                       size_t interceptor) {
  return Private::CreateCallInternal(*carrier_, method, context, queue, interceptor);
}
void StubChannel::PerformOpsOnCall(::grpc::internal::CallOpSetInterface* ops,
                                   ::grpc::internal::Call* call) {
  Private::PerformOpsOnCall(*carrier_, ops, call);
}
void* StubChannel::RegisterMethod(const char* method) {
  return Private::RegisterMethod(*carrier_, method);
}
::grpc::CompletionQueue* StubChannel::CallbackCQ() { return CallbackQueue(); }

// ---- the state ----

grpc_connectivity_state StubChannel::GetState(bool try_to_connect) {
  const ChannelState state = channel_->State();
  if (try_to_connect && state == ChannelState::kIdle) channel_->Connect();
  return ToGrpcState(state);
}

void StubChannel::NotifyOnStateChangeImpl(grpc_connectivity_state last_observed,
                                          gpr_timespec deadline, ::grpc::CompletionQueue* queue,
                                          void* tag) {
  channel_->WhenStateIsNot(FromGrpcState(last_observed), ToTime(deadline) - absl::Now(),
                           Announce(queue, tag));
}

bool StubChannel::WaitForStateChangeImpl(grpc_connectivity_state last_observed,
                                         gpr_timespec deadline) {
  struct Waiting {
    std::mutex mutex;
    std::condition_variable came;
    std::optional<bool> changed;
  };
  const auto waiting = std::make_shared<Waiting>();
  const absl::Time end = ToTime(deadline);
  channel_->WhenStateIsNot(FromGrpcState(last_observed), end - absl::Now(),
                           [waiting](bool changed) {
                             std::lock_guard<std::mutex> lock(waiting->mutex);
                             waiting->changed = changed;
                             waiting->came.notify_one();
                           });
  std::unique_lock<std::mutex> lock(waiting->mutex);
  const auto came = [&] { return waiting->changed.has_value(); };
  // The channel keeps the time; but on a thread of its own nothing would come.
  constexpr absl::Duration kGrace = absl::Milliseconds(100);
  if (end > absl::Now() + absl::Hours(24 * 365)) {
    waiting->came.wait(lock, came);
  } else {
    waiting->came.wait_until(lock, absl::ToChronoTime(end + kGrace), came);
  }
  return waiting->changed.value_or(false);
}

// ---- the way in ----

std::shared_ptr<::grpc::ChannelInterface> MakeChannel(std::shared_ptr<Channel> channel,
                                                      StubOptions options) {
  return std::make_shared<StubChannel>(std::move(channel), std::move(options), false);
}

std::shared_ptr<::grpc::ChannelInterface> MakeRawChannel(std::shared_ptr<Channel> channel,
                                                         StubOptions options) {
  return std::make_shared<StubChannel>(std::move(channel), std::move(options), true);
}

std::shared_ptr<::grpc::Channel> MakeGrpcChannel(std::shared_ptr<Channel> channel,
                                                 StubOptions options) {
  CallbackQueue();  // this channel takes part in it by itself
  return MakeCarrier(std::move(channel), std::move(options), false);
}

}  // namespace weft::inline v0::grpc
