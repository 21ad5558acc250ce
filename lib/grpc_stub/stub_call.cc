#include "grpc_stub/stub_call.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "google/protobuf/message_lite.h"
#include "grpc/message.h"
#include "grpc/unary.h"
#include "grpc_stub/convert.h"
#include "grpc_stub/private_access.h"
#include "grpc_stub/this_stack.h"
#include "grpcpp/client_context.h"
#include "weft/grpc/status_details.h"

namespace weft::inline v0::grpc {
namespace {

using Hook = ::grpc::experimental::InterceptionHookPoints;
using google::protobuf::MessageLite;

absl::Status NoCredentials() {
  return absl::UnauthenticatedError(
      "call credentials do not pass a Weft channel, and the call was not sent: add what they would "
      "add with ClientContext::AddMetadata, for example \"authorization\"");
}

// Not OK on a loop thread, where waiting would stop the loop. Threads do not become loops, or cease
// to be some: what is asked is remembered.
absl::Status MayBlock(Channel& channel) {
  thread_local bool may = false;
  if (may) return absl::OkStatus();
  absl::Status status = channel.Call(UnsendableRequest()).status();
  if (status.code() == absl::StatusCode::kFailedPrecondition) return status;
  may = true;
  return absl::OkStatus();
}

}  // namespace

StubCall::StubCall(std::shared_ptr<const StubSettings> settings, Info* info)
    : settings_(std::move(settings)),
      info_(info),
      method_(info->method()),  // GenericStub's lives no longer than this call
      options_(settings_->options) {}

StubCall::~StubCall() = default;

void StubCall::WatchParent() {
  const ::grpc::ClientContext& context = *info_->client_context();
  grpc_call* const parent = Private::Parent(context);
  if (parent == nullptr) return;
  parent_.Start(parent, Private::PropagationMask(context),
                [weak = weak_from_this()](absl::Status reason) {
                  if (const auto call = weak.lock()) call->Cancel(std::move(reason));
                });
}

void StubCall::Cancel(absl::Status reason) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (std::exchange(cancelled_, true)) return;
    reason_ = std::move(reason);
    if (unary_) unary_.Cancel();
    if (waited_for_ != nullptr) waited_for_->Cancel();
    if (open_) stream_.Cancel();
  }
  Advance();
}

void StubCall::OnBatch(Batch* batch) {
  if (batch->QueryInterceptionHookPoint(Hook::PRE_SEND_CANCEL)) {
    Cancel(absl::OkStatus());
    return;
  }
  bool begin = false;
  bool launch = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!hijacked_) {
      launch = batch == first_batch_;
      begin = first_batch_ == nullptr &&
              batch->QueryInterceptionHookPoint(Hook::PRE_SEND_INITIAL_METADATA);
      if (begin) first_batch_ = batch;
      if (!begin && !launch) {  // the initial metadata is corked
        too_early_.push_back(batch);
        return;
      }
    }
  }
  if (begin) return Begin(batch);
  if (launch) return Launch(batch);
  const bool has_message = batch->QueryInterceptionHookPoint(Hook::PRE_SEND_MESSAGE);
  const bool close = batch->QueryInterceptionHookPoint(Hook::PRE_SEND_CLOSE);
  if (has_message || close) return Send(batch, has_message, close);
  Receive(WantsOf(batch));
}

// ---- the beginning ----

void StubCall::Begin(Batch* batch) {
  absl::Status status = TakeContext(batch);
  first_has_message_ = batch->QueryInterceptionHookPoint(Hook::PRE_SEND_MESSAGE);
  first_closes_ = batch->QueryInterceptionHookPoint(Hook::PRE_SEND_CLOSE);
  if (first_has_message_) status.Update(TakeMessage(batch, first_));
  {
    std::lock_guard<std::mutex> lock(mutex_);
    failure_ = std::move(status);
  }
  batch->Hijack();  // comes back with the same batch, before it returns
}

absl::Status StubCall::TakeContext(Batch* batch) {
  ::grpc::ClientContext& context = *info_->client_context();
  Divide(*batch->GetSendInitialMetadata(), context_.metadata, inherited_);
  context_.compression = CompressionOf(context);
  context_.max_request_bytes = settings_->max_request_bytes;
  Inherit(inherited_, options_);
  deadline_ = ToTime(context.raw_deadline());
  if (deadline_ != absl::InfiniteFuture()) {
    options_.deadline = deadline_;
    options_.timeout = absl::InfiniteDuration();
  } else if (settings_->options.timeout != absl::InfiniteDuration()) {
    deadline_ = absl::Now() + settings_->options.timeout.value_or(kDefaultTimeout);
  }
  options_.wait_for_ready = Private::WaitForReady(context).value_or(options_.wait_for_ready);
  context_.authority = Private::Authority(context);
  if (context.credentials() != nullptr) return NoCredentials();
  return absl::OkStatus();
}

absl::Status StubCall::TakeMessage(Batch* batch, Message& message) const {
  const void* const whole = batch->GetSendMessage();
  if (whole != nullptr && !settings_->raw) {
    message.typed = static_cast<const MessageLite*>(whole);
    return absl::OkStatus();
  }
  const auto* const buffer = whole != nullptr ? static_cast<const ::grpc::ByteBuffer*>(whole)
                                              : batch->GetSerializedSendMessage();
  if (Flatten(*buffer, message.keep, message.bytes)) return absl::OkStatus();
  return absl::InvalidArgumentError("the ByteBuffer to be sent was never given a value");
}

void StubCall::Launch(Batch* batch) {
  std::vector<Batch*> early;
  bool dead;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    hijacked_ = true;
    early = std::move(too_early_);
    if (cancelled_ && failure_.ok())
      failure_ = reason_.ok() ? absl::CancelledError("cancelled before it was sent") : reason_;
    dead = !failure_.ok();
  }
  const Wants wants = WantsOf(batch);
  if (dead) {
    Receive(wants);
  } else if (info_->type() == Info::Type::UNARY && first_has_message_ && wants.status) {
    StartUnary(wants, first_);
  } else {
    OpenStream(first_, first_has_message_, first_closes_);
    Receive(wants);
  }
  for (Batch* waiting : early) OnBatch(waiting);
}

// ---- one message each way ----

void StubCall::StartUnary(Wants wants, const Message& message) {
  const Outgoing outgoing =
      message.typed != nullptr ? Outgoing(*message.typed) : Outgoing(message.bytes);
  const bool here = OnThisStack(wants.batch);
  absl::StatusOr<Request> request = MakeRequest(method_, outgoing, &context_, options_);
  if (request.ok() && here) {
    if (absl::Status may = MayBlock(*settings_->channel); !may.ok()) request = std::move(may);
  }
  if (!request.ok()) return Complete(wants, std::move(request).status());
  if (here) {
    PendingCall call = settings_->channel->Begin(*std::move(request), options_);
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (cancelled_) call.Cancel();
      waited_for_ = &call;
    }
    absl::StatusOr<Response> answer = call.Wait();
    {
      std::lock_guard<std::mutex> lock(mutex_);
      waited_for_ = nullptr;
    }
    return FinishUnary(wants, std::move(answer));
  }

  CallHandle handle = settings_->channel->Start(
      *std::move(request), options_,
      [this, wants](absl::StatusOr<Response> answer) { FinishUnary(wants, std::move(answer)); });
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (cancelled_) handle.Cancel();
    if (answered_) {
      handle.Detach();
    } else {
      unary_ = std::move(handle);
    }
  }
}

void StubCall::FinishUnary(Wants wants, absl::StatusOr<Response> answer) {
  {
    // Nothing of this object is touched once the batch is complete, so that it may go at once: a
    // handle that is there would have it wait until the callback has returned.
    std::lock_guard<std::mutex> lock(mutex_);
    answered_ = true;
    unary_.Detach();
  }
  absl::Status status;
  if (settings_->raw) {
    status = ReadAnswer(std::move(answer), options_, &context_, Incoming(&read_bytes_));
    if (status.ok() && wants.message) {
      *static_cast<::grpc::ByteBuffer*>(wants.batch->GetRecvMessage()) =
          ToByteBuffer(std::move(read_bytes_));
    }
  } else {
    auto* const to =
        wants.message ? static_cast<MessageLite*>(wants.batch->GetRecvMessage()) : nullptr;
    status = ReadAnswer(std::move(answer), options_, &context_, Incoming(to));
  }
  if (status.ok()) wants.message = false;
  Complete(wants, std::move(status));
}

// ---- what is common to all that receive ----

StubCall::Wants StubCall::WantsOf(Batch* batch) {
  return {batch, batch->QueryInterceptionHookPoint(Hook::PRE_RECV_INITIAL_METADATA),
          batch->QueryInterceptionHookPoint(Hook::PRE_RECV_MESSAGE),
          batch->QueryInterceptionHookPoint(Hook::PRE_RECV_STATUS)};
}

void StubCall::Complete(Wants wants, absl::Status status) {
  if (wants.message) wants.batch->FailHijackedRecvMessage();
  if (wants.status) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!failure_.ok()) {
        status = failure_;
      } else if (status.code() == absl::StatusCode::kCancelled && !reason_.ok()) {
        status =
            absl::Status(reason_.code(), absl::StrCat(reason_.message(), "; ", status.message()));
      }
    }
    *wants.batch->GetRecvStatus() = ToGrpcStatus(status);
    MetadataMap& map = *wants.batch->GetRecvTrailingMetadata();
    Fill(context_.trailing_metadata, map);
    if (std::optional<std::string> details = StatusDetails(status)) {
      details_ = *std::move(details);
      map.emplace("grpc-status-details-bin", Ref(details_));
    }
  }
  FillMetadata(wants);
  wants.batch->Proceed();
}

void StubCall::FillMetadata(Wants wants) {
  if (!wants.metadata) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!std::exchange(has_initial_, true)) initial_ = std::move(context_.initial_metadata);
  }
  Fill(initial_, *wants.batch->GetRecvInitialMetadata());
}

}  // namespace weft::inline v0::grpc
