#include "weft/channel.h"

#include <utility>

#include "base/ref.h"
#include "call/pumped_call.h"
#include "call/stream_call.h"
#include "call/unary_call.h"
#include "channel/channel_impl.h"
#include "event/loop.h"
#include "event/wait_table.h"

namespace weft::inline v0 {

namespace {

absl::Status WouldStopTheLoop() {
  return absl::FailedPreconditionError(
      "a blocking call on a loop thread would stop the loop that its answer comes through; use "
      "Start, Async or an executor");
}

}  // namespace

Channel::Channel(std::shared_ptr<channel::ChannelImpl> impl) : impl_(std::move(impl)) {}
Channel::~Channel() {
  event::WeftCode weft;
  impl_.reset();
}

absl::StatusOr<Response> Channel::Call(Request request, CallOptions options) {
  if (event::OnAnyLoop()) return WouldStopTheLoop();
  impl_->EnsureStarted();
  if (request.source == nullptr) {
    const auto call = base::MakeRef<call::UnaryCall>(impl_, std::move(request), options);
    call->StartForWait();
    return call->Wait();
  }
  call::BlockedFor<absl::StatusOr<Response>> blocked;
  CallHandle handle;
  StartInto(handle, std::move(request), std::move(options), nullptr,
            [&blocked](absl::StatusOr<Response> response) {
              blocked.result.emplace(std::move(response));
              event::WakeBatch wakes;
              blocked.waiter.Complete(wakes);
              wakes.Wake();
            });
  blocked.waiter.Wait();
  return *std::move(blocked.result);
}

PendingCall Channel::Begin(Request request, CallOptions options) {
  event::WeftCode weft;
  impl_->EnsureStarted();
  auto call = base::MakeRef<call::UnaryCall>(impl_, std::move(request), options);
  call->StartForWait();
  return PendingCall(call.Leak());
}

absl::StatusOr<Response> PendingCall::Wait() {
  if (call_ == nullptr) return absl::FailedPreconditionError("the PendingCall is empty");
  if (event::OnAnyLoop()) return WouldStopTheLoop();
  return call_->Wait();
}

void PendingCall::Cancel() {
  event::WeftCode weft;
  if (call_ != nullptr) call_->Cancel();
}

PendingCall& PendingCall::operator=(PendingCall&& other) noexcept {
  if (this != &other) {
    PendingCall old(std::move(*this));
    call_ = std::exchange(other.call_, nullptr);
  }
  return *this;
}

PendingCall::~PendingCall() {
  if (call_ == nullptr) return;
  event::WeftCode weft;
  call_->Cancel();
  call_->Release();
}

CallHandle Channel::Start(Request request, CallOptions options, ResponseCallback done) {
  CallHandle handle;
  StartInto(handle, std::move(request), std::move(options), nullptr, std::move(done));
  return handle;
}

CallHandle Channel::Start(Request request, CallOptions options, BodySink* sink,
                          ResponseCallback done) {
  CallHandle handle;
  StartInto(handle, std::move(request), std::move(options), sink, std::move(done));
  return handle;
}

Channel::Awaitable Channel::Async(Request request, CallOptions options) {
  return {this, std::move(request), std::move(options)};
}

void Channel::StartInto(CallHandle& handle, Request request, CallOptions options, BodySink* sink,
                        ResponseCallback done) {
  event::WeftCode weft;
  const std::shared_ptr<channel::ChannelImpl> impl =
      impl_;  // this channel may be gone once `done` ran
  impl->EnsureStarted();
  // The handle is in its place before anything can run that might destroy it.
  const auto launch = [&](auto call) {
    const auto keep = call;
    handle = CallHandle(call.Leak());
    keep->Start(std::move(done));
  };
  if (request.source != nullptr || sink != nullptr) {
    launch(base::MakeRef<call::PumpedCall>(impl, std::move(request), options, sink));
  } else {
    launch(base::MakeRef<call::UnaryCall>(impl, std::move(request), options));
  }
}

Stream Channel::Open(Request request, CallOptions options, bool end_of_request) {
  event::WeftCode weft;
  impl_->EnsureStarted();
  auto call = base::MakeRef<call::StreamCall>(impl_, std::move(request), options, end_of_request);
  call->Start();
  return Stream(call.Leak());
}

absl::Status Channel::WaitForReady(absl::Duration timeout) { return impl_->WaitForReady(timeout); }
absl::Status Channel::SetServiceConfig(std::string_view json) {
  return impl_->SetServiceConfig(json);
}
ChannelState Channel::State() const { return impl_->State(); }
void Channel::Connect() {
  event::WeftCode weft;
  impl_->EnsureStarted();
}
void Channel::WhenStateIsNot(ChannelState from, absl::Duration timeout,
                             absl::AnyInvocable<void(bool) &&> done) {
  event::WeftCode weft;
  impl_->WhenStateIsNot(from, timeout, std::move(done));
}
const std::string& Channel::target() const { return impl_->name; }
std::vector<HostInfo> Channel::Hosts() const { return impl_->Hosts(); }
std::string Channel::DebugString() const { return impl_->DebugString(); }

}  // namespace weft::inline v0
