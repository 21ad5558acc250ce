#include "call/call.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "call/inbound.h"
#include "call/request_check.h"
#include "http/grpc_wire.h"
#include "weft/error.h"

namespace weft::inline v0::call {
namespace {

http::StreamEnd Local(absl::Status status) {
  return {std::move(status), Origin::kLocal, Processed::kNotSent};
}

}  // namespace

// ---- Attempt ----

http::BodyPiece Attempt::ReadBody(char* to, size_t size) {
  const http::BodyPiece piece = call_.ReadBody(to, size);
  if (piece.bytes > 0) Touch();
  return piece;
}
const Headers* Attempt::RequestTrailers() { return &call_.request_trailers(); }
void Attempt::OnHead(int status, Headers headers) {
  Touch();
  http_status = status;
  call_.OnHead(*this, status, std::move(headers));
}
void Attempt::OnData(std::string_view bytes) {
  Touch();
  call_.OnData(*this, bytes);
}
void Attempt::OnTrailers(Headers trailers) { call_.OnTrailers(std::move(trailers)); }
http::RequestHead Attempt::RequestHeadFor(bool tls) { return call_.MakeHead(*this, tls); }
void Attempt::OnExchangeEnd(http::StreamEnd end) { call_.OnAttemptEnd(*this, std::move(end)); }
void Attempt::Keep() { call_.Retain(); }
void Attempt::Drop() { call_.Release(); }

// ---- Call ----

Call::Call(std::shared_ptr<Target> target, Request request, const CallOptions& options)
    : target_(std::move(target)),
      request_(std::move(request)),
      options_(options),
      loop_(&target_->cluster->loop()) {
  Headers& headers = request_.headers;
  if (!options.idempotency_key.empty()) headers.Set("idempotency-key", options.idempotency_key);
  if (!options.trace_state.empty()) headers.Set("tracestate", options.trace_state);
  if (!options.baggage.empty()) headers.Set("baggage", options.baggage);
  if (options.tier.has_value()) headers.Set("x-weft-tier", TierText(*options.tier));
}

Call::~Call() = default;

absl::Status Call::ApplyConfig() {
  if (absl::Status status = CheckOptions(options_); !status.ok()) return status;
  config_ = target_->config();
  if (config_ == nullptr) return absl::OkStatus();
  method_ = config_->service->Find(request_.path);
  if (method_ == nullptr) return absl::OkStatus();
  if (method_->timeout.has_value()) {
    options_.timeout =
        std::min(options_.timeout.value_or(absl::InfiniteDuration()), *method_->timeout);
  }
  options_.wait_for_ready = options_.wait_for_ready || method_->wait_for_ready.value_or(false);
  options_.max_response_bytes =
      std::min(options_.max_response_bytes, method_->max_response_bytes.value_or(SIZE_MAX));
  const size_t prefix = options_.protocol == Protocol::kGrpc ? http::kGrpcPrefixBytes : 0;
  const size_t limit = method_->max_request_bytes.value_or(SIZE_MAX - prefix);
  if (request_.body.size() <= limit + prefix) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the request has ", request_.body.size() - prefix,
                   " bytes, and its service config allows ", limit));
}

void Call::Begin() {
  started_ = target_->clock->Now();
  // First: in a forked child no lock may be taken.
  absl::Status refusal = target_->Refusal();
  if (refusal.ok()) refusal = ApplyConfig();
  deadline_ = base::After(started_, options_.timeout.value_or(target_->timeout));
  if (options_.deadline.has_value()) {
    deadline_ =
        std::min(deadline_, base::After(started_, *options_.deadline - target_->clock->WallNow()));
  }
  idempotent_ = options_.idempotent || IsIdempotentMethod(request_.method) ||
                request_.headers.Has("idempotency-key");
  Retain();  // until the end
  if (refusal.ok()) refusal = CheckRequest(request_);
  // PumpedCall takes the source out; nobody else can do anything with it.
  if (refusal.ok() && request_.source != nullptr) {
    refusal = absl::InvalidArgumentError(
        "the request has a source: pass it to Start or Call, not to Open");
  }
  if (!refusal.ok()) {
    End(Local(std::move(refusal)), nullptr);
    return;
  }
  if (deadline_ <= started_) {
    End(Local(absl::DeadlineExceededError("the deadline had passed before the call began")),
        nullptr);
    return;
  }
  target_->budget.Deposit(started_);
  Pick();
}

void Call::Cancel() {
  Attempt* attempt = nullptr;
  bool waiting = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (state_ == State::kEnded || cancelled_) return;
    cancelled_ = true;
    if (state_ == State::kAttempting) attempt = attempts_.back().get();
    waiting = state_ == State::kWaiting || state_ == State::kBackingOff;
  }
  if (attempt != nullptr) attempt->Cancel();
  // In kPicking, and where the waiting is over, the thread that moves the call sees `cancelled_`.
  if (waiting && target_->cluster->StopWaiting(this))
    End(Local(absl::CancelledError("cancelled")), nullptr);
}

void Call::Pick() {
  const bool wait_for_ready = options_.wait_for_ready;
  std::vector<const HostView*> tried;
  for (const auto& attempt : attempts_) tried.push_back(attempt->host.get());
  for (;;) {
    cluster::Choice choice = target_->cluster->Pick({.tried = tried}, wait_for_ready);
    if (choice.kind == PickResult::Kind::kHost) {
      StartAttempt(std::move(choice.host));
      return;
    }
    if (choice.kind == PickResult::Kind::kFail) {
      if (absl::Status refusal = target_->Refusal(); !refusal.ok()) {  // why no host is left
        End(Local(std::move(refusal)), nullptr);
        return;
      }
      if (!attempts_.empty()) {  // what the attempt met says more than that there is no other host
        End(std::move(last_end_), nullptr);
        return;
      }
      const Origin origin = target_->cluster->has_hosts() ? Origin::kConnection : Origin::kLocal;
      End({std::move(choice.status), origin, Processed::kNotSent}, nullptr);
      return;
    }
    {
      std::lock_guard<std::mutex> lock(mutex_);
      state_ = State::kWaiting;
    }
    waited_ = true;
    const absl::Status status = target_->cluster->Wait(this, choice.version, deadline_);
    if (absl::IsOutOfRange(status)) continue;
    if (!status.ok()) {
      End(Local(status), nullptr);
      return;
    }
    StopWaitingIfCancelled();
    return;
  }
}

void Call::OnPickAgain() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (state_ != State::kWaiting && state_ != State::kBackingOff) return;
    state_ = State::kPicking;
  }
  Pick();
}

void Call::OnWaitOver(absl::Status why) {
  if (why.ok())
    why = absl::DeadlineExceededError("the deadline passed while no host could be reached");
  End(Local(std::move(why)), nullptr);
}

void Call::StartAttempt(base::Ref<cluster::Host> host) {
  if (std::exchange(repeats_, false)) Rewind();
  auto made = std::make_unique<Attempt>(*this);
  Attempt& attempt = *made;
  // Every host of a factory is a HostPool (channel/host_table).
  attempt.host = base::Ref<pool::HostPool>::Adopt(static_cast<pool::HostPool*>(host.Leak()));
  loop_.store(&attempt.host->strand().loop(), std::memory_order_release);
  const base::MonoTime now = attempts_.empty() && !waited_ ? started_ : target_->clock->Now();
  last_attempt_started_ = now;
  // A service config has none of its own.
  const base::MonoDuration longest = options_.attempt_timeout.has_value()
                                         ? absl::ToChronoNanoseconds(*options_.attempt_timeout)
                                         : target_->retry.attempt_timeout();
  attempt_deadline_ = longest == base::MonoDuration::max()
                          ? deadline_
                          : std::min(deadline_, base::After(now, absl::FromChrono(longest)));
  attempt.Bind(*attempt.host, now, attempt_deadline_,
               options_.idle_timeout.has_value() ? absl::ToChronoNanoseconds(*options_.idle_timeout)
                                                 : base::MonoDuration::zero());
  bool cancelled;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    cancelled = cancelled_;
    if (!cancelled) {
      state_ = State::kAttempting;
      attempts_.push_back(std::move(made));
    }
  }
  if (cancelled) {
    End(Local(absl::CancelledError("cancelled")), nullptr);
    return;
  }
  attempt.host->Enter();
  attempt.Start();
}

// From here on the waiting may be over at any time. A Cancel that came before it began found
// nothing to stop.
void Call::StopWaitingIfCancelled() {
  bool cancelled;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    cancelled = cancelled_;
  }
  if (cancelled && target_->cluster->StopWaiting(this))
    End(Local(absl::CancelledError("cancelled")), nullptr);
}

void Call::End(http::StreamEnd end, event::WakeBatch* wakes) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (state_ == State::kEnded) return;
    state_ = State::kEnded;
  }
  ended_ = target_->clock->Now();
  absl::Status status;
  if (!end.status.ok()) status = Describe(std::move(end), ended_);
  event::WakeBatch own;
  OnCallEnd(std::move(status), wakes != nullptr ? *wakes : own);
  own.Wake();
  Release();
}

absl::Status Call::Describe(http::StreamEnd end, base::MonoTime now) const {
  end.processed = std::max(end.processed, processed_);
  std::string message = absl::StrCat(target_->name, ": ");
  CallError error{.origin = end.origin,
                  .processed = end.processed,
                  .host = "",
                  .attempts = static_cast<int>(attempts_.size())};
  const std::string took =
      absl::FormatDuration(absl::Trunc(absl::FromChrono(now - started_), absl::Microseconds(100)));
  if (attempts_.empty()) {
    absl::StrAppend(&message, end.status.message());
    if (now - started_ >= std::chrono::milliseconds(1))
      absl::StrAppend(&message, " (after ", took, ")");
  } else {
    error.host = attempts_.back()->host->address();
    absl::StrAppend(
        &message, attempts_.size(), attempts_.size() == 1 ? " attempt in " : " attempts in ", took,
        ", last: ", error.host, end.origin == Origin::kLocal ? ": " : " ", end.status.message());
  }
  absl::StrAppend(&message, "; ", base::V(ProcessedName(end.processed)));
  absl::Status status(end.status.code(), message);
  SetCallError(status, error);
  return status;
}

http::RequestHead Call::MakeHead(Attempt& attempt, bool tls) const {
  http::RequestHead head;
  head.method = request_.method;
  head.scheme = tls ? "https" : "http";
  head.path = request_.path;
  if (!request_.authority.empty()) {
    head.authority = request_.authority;
  } else if (!target_->authority.empty()) {
    head.authority = target_->authority;
  } else {
    head.authority = attempt.host->net_address().is_unix()
                         ? std::string_view("localhost")
                         : std::string_view(attempt.host->address());
  }
  head.headers = &request_.headers;
  if (options_.protocol == Protocol::kGrpc) {
    if (attempt_deadline_ != base::kNever)
      attempt.head.SetGrpcTimeout(attempt_deadline_ - target_->clock->Now());
    if (counted_attempts_ > 1)
      attempt.head.SetPreviousAttempts(static_cast<size_t>(counted_attempts_ - 1));
  }
  if (options_.trace.has_value()) attempt.head.SetTrace(*options_.trace, target_->random.Next());
  head.attempt_fields = attempt.head.fields();
  head.has_body = has_body();
  return head;
}

void Call::PostCallback(absl::AnyInvocable<void() &&> callback) {
  if (target_->HasLoops()) {
    loop().PostFunction(std::move(callback));
  } else {
    std::thread([callback = std::move(callback)]() mutable { std::move(callback)(); }).detach();
  }
}

CallInfo Call::Info() const {
  CallInfo info;
  info.attempts = static_cast<int>(attempts_.size());
  if (!attempts_.empty()) {
    info.host = attempts_.back()->host->address();
    info.waited = absl::FromChrono(last_attempt_started_ - started_);
  }
  info.took = absl::FromChrono(ended_ - started_);
  return info;
}

}  // namespace weft::inline v0::call
