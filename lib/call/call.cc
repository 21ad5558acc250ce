#include "call/call.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "call/inbound.h"
#include "call/request_check.h"
#include "http/grpc_wire.h"
#include "weft/error.h"

namespace weft::inline v0::call {
namespace {

http::StreamEnd Local(absl::Status status) {
  return {std::move(status), Origin::kLocal, Processed::kNotSent};
}

// Never 0, which is none.
uint64_t HashOf(std::string_view key) {
  return key.empty() ? 0 : std::max<uint64_t>(base::Hash(key), 1);
}

}  // namespace

Call::Call(std::shared_ptr<Target> target, Request request, const CallOptions& options)
    : target_(std::move(target)),
      request_(std::move(request)),
      options_(options),
      hash_key_(HashOf(options.hash_key)),
      loop_(&target_->cluster->loop()) {
  Headers& headers = request_.headers;
  if (!options.idempotency_key.empty()) headers.Set("idempotency-key", options.idempotency_key);
  if (!options.trace_state.empty()) headers.Set("tracestate", options.trace_state);
  if (!options.baggage.empty()) headers.Set("baggage", options.baggage);
  if (options.tier.has_value()) headers.Set("x-weft-tier", TierText(*options.tier));
}

Call::~Call() = default;

absl::Status Call::ApplyConfig() {
  config_ = target_->config();
  method_ = config_ != nullptr ? config_->service->Find(request_.path) : nullptr;
  absl::Duration timeout = options_.timeout.value_or(target_->timeout);
  wait_for_ready_ = options_.wait_for_ready;
  max_response_bytes_ = options_.max_response_bytes;
  size_t max_request_bytes = SIZE_MAX;
  if (method_ != nullptr) {
    // The channel's timeout is for calls that nothing was said of.
    const absl::Duration own = options_.timeout.value_or(absl::InfiniteDuration());
    if (method_->timeout.has_value()) timeout = std::min(own, *method_->timeout);
    wait_for_ready_ = wait_for_ready_ || method_->wait_for_ready.value_or(false);
    max_response_bytes_ =
        std::min(max_response_bytes_, method_->max_response_bytes.value_or(SIZE_MAX));
    max_request_bytes = method_->max_request_bytes.value_or(SIZE_MAX);
  }
  deadline_ = base::After(started_, timeout);
  if (options_.deadline.has_value()) {
    deadline_ =
        std::min(deadline_, base::After(started_, *options_.deadline - target_->clock->WallNow()));
  }
  idempotent_ = options_.idempotent || IsIdempotentMethod(request_.method) ||
                request_.headers.Has("idempotency-key") ||
                // Whoever hedges a method by its config has said that it may run more than once.
                (method_ != nullptr && method_->hedging.has_value());
  max_attempts_ = options_.max_attempts.value_or(retry().max_attempts());
  ArmHedge();
  const size_t prefix = options_.protocol == Protocol::kGrpc ? http::kGrpcPrefixBytes : 0;
  if (request_.body.size() <= prefix || request_.body.size() - prefix <= max_request_bytes)
    return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the request has ", request_.body.size() - prefix,
                   " bytes, and its service config allows ", max_request_bytes));
}

void Call::Begin() {
  started_ = target_->clock->Now();
  // First: in a forked child no lock may be taken.
  absl::Status refusal = target_->Refusal();
  if (refusal.ok()) refusal = CheckOptions(options_);
  if (refusal.ok()) refusal = ApplyConfig();
  Retain();  // until the end
  if (refusal.ok()) refusal = CheckRequest(request_);
  // PumpedCall takes the source out; nobody else can do anything with it.
  if (refusal.ok() && request_.source != nullptr) {
    refusal = absl::InvalidArgumentError(
        "the request has a source: pass it to Start or Call, not to Open");
  }
  if (!refusal.ok()) {
    End(Local(std::move(refusal)));
    return;
  }
  if (deadline_ <= started_) {
    End(Local(absl::DeadlineExceededError("the deadline had passed before the call began")));
    return;
  }
  target_->budget.Deposit(started_);
  if (target_->begin_listener != nullptr) target_->begin_listener->OnCallBegun();
  Pick();
}

void Call::Cancel() {
  Attempts running;
  bool waiting = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (state_ == State::kEnded || cancelled_) return;
    cancelled_ = true;
    running = RunningLocked();
    waiting = state_ == State::kWaiting || state_ == State::kBackingOff;
  }
  for (Attempt* const attempt : running) attempt->Cancel();
  // In kPicking, where one more is being started, and where the waiting is over, the thread that
  // moves the call sees `cancelled_`.
  if (waiting && target_->cluster->StopWaiting(this)) End(Local(absl::CancelledError("cancelled")));
}

std::vector<const HostView*> Call::Tried() const {
  std::vector<const HostView*> tried;
  std::lock_guard<std::mutex> lock(mutex_);
  tried.reserve(attempts_.size());
  for (const auto& attempt : attempts_) tried.push_back(attempt->host);
  return tried;
}

Call::Attempts Call::RunningLocked() const {
  Attempts running;
  if (state_ != State::kAttempting) return running;
  for (const auto& attempt : attempts_) {
    if (attempt->running) running.push_back(attempt.get());
  }
  return running;
}

Call::Attempts Call::Running() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return RunningLocked();
}

PickFacts Call::Facts(const std::vector<const HostView*>& tried) const {
  return {.now = target_->clock->Now(),
          .random = target_->random.Next(),
          .hash_key = hash_key_,
          .tried = tried,
          .bounces = bounces_.load(std::memory_order_relaxed)};
}

void Call::Pick() {
  std::vector<const HostView*> tried;
  if (!attempts_.empty()) tried = Tried();
  for (;;) {
    cluster::Choice choice = target_->cluster->Pick(Facts(tried), wait_for_ready_);
    if (choice.kind == PickResult::Kind::kHost) {
      if (!StartAttempt(choice, why_)) End(Local(absl::CancelledError("cancelled")));
      return;
    }
    if (choice.kind == PickResult::Kind::kFail) {
      if (absl::Status refusal = target_->Refusal(); !refusal.ok()) {  // why no host is left
        End(Local(std::move(refusal)));
      } else if (last_ended_ != nullptr) {
        // What the attempt met says more than that there is no other host.
        End(last_ended_->end, last_ended_);
      } else {
        const Origin origin = target_->cluster->has_hosts() ? Origin::kConnection : Origin::kLocal;
        End({std::move(choice.status), origin, Processed::kNotSent});
      }
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
      End(Local(status));
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
  // A registry may give the config with the first hosts.
  if (attempts_.empty() && target_->config() != config_) {
    if (absl::Status status = ApplyConfig(); !status.ok()) {
      End(Local(std::move(status)));
      return;
    }
    if (deadline_ <= target_->clock->Now()) {
      OnWaitOver(absl::OkStatus());
      return;
    }
  }
  Pick();
}

void Call::OnWaitOver(absl::Status why) {
  if (why.ok())
    why = absl::DeadlineExceededError("the deadline passed while no host could be reached");
  End(Local(std::move(why)));
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
    End(Local(absl::CancelledError("cancelled")));
}

bool Call::StartAttempt(const cluster::Choice& on, AttemptInfo::Why why) {
  const bool first = attempts_.empty();
  if (!first) Rewind();
  auto made = std::make_unique<Attempt>(*this, on.member, why);
  Attempt& attempt = *made;
  attempt.number = counted_attempts_;
  attempt.bounce_above = MayBounce() ? on.bounce_above : 0;
  attempt.started = first && !waited_ ? started_ : target_->clock->Now();
  // A service config has none of its own.
  const base::MonoDuration longest = options_.attempt_timeout.has_value()
                                         ? absl::ToChronoNanoseconds(*options_.attempt_timeout)
                                         : target_->retry.attempt_timeout();
  attempt.deadline =
      longest == base::MonoDuration::max()
          ? deadline_
          : std::min(deadline_, base::After(attempt.started, absl::FromChrono(longest)));
  const base::MonoTime look_at =
      hedge_ == nullptr ? base::kNever : NextHedge(attempt, first ? started_ : attempt.started);
  attempt.Bind(*attempt.host, attempt.started, attempt.deadline,
               options_.idle_timeout.has_value() ? absl::ToChronoNanoseconds(*options_.idle_timeout)
                                                 : base::MonoDuration::zero(),
               look_at);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (cancelled_ || state_ == State::kEnded || committed_ != nullptr) return false;
    loop_.store(&attempt.host->strand().loop(), std::memory_order_release);
    state_ = State::kAttempting;
    attempts_.push_back(std::move(made));
    ++running_;
    starting_ = false;
    hedge_at_ = look_at;
  }
  attempt.Start();
  return true;
}

bool Call::Commit(Attempt& attempt) {
  if (attempt.committed) return true;
  Losers losers;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (state_ != State::kAttempting || committed_ != nullptr) return false;
    committed_ = &attempt;
    attempt.committed = true;
    losers = GiveUpOthers(attempt, target_->clock->Now());
    loop_.store(&attempt.host->strand().loop(), std::memory_order_release);
  }
  for (Attempt* const loser : losers) loser->Abandon();
  return true;
}

Call::Losers Call::GiveUpOthers(const Attempt& winner, base::MonoTime now) {
  Losers losers;
  if (attempts_.size() == 1) return losers;
  for (const auto& other : attempts_) {
    if (other.get() == &winner || !other->running || other->lost) continue;
    other->lost = true;
    --running_;
    other->ended = now;
    other->end = Local(absl::CancelledError("another attempt was answered first"));
    target_->cluster->OnOutcome(*other->member, OutcomeOf(*other), now);
    losers.push_back(other.get());
  }
  return losers;
}

void Call::End(http::StreamEnd end, Attempt* attempt) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (state_ == State::kEnded) return;
    state_ = State::kEnded;
    ended_ = target_->clock->Now();
  }
  event::WakeBatch wakes;
  Finish(std::move(end), attempt, {}, wakes);
  wakes.Wake();
  Release();
}

void Call::Finish(http::StreamEnd end, Attempt* attempt, const Losers& losers,
                  event::WakeBatch& wakes) {
  TellHedgePolicy(attempt, end.status, ended_);
  absl::Status status;
  if (!end.status.ok()) {
    if (!losers.empty()) end.processed = Processed::kMaybeProcessed;
    status = Describe(std::move(end));
  }
  // Where the answer is, the callback is not far.
  if (attempt != nullptr) loop_.store(&attempt->host->strand().loop(), std::memory_order_release);
  OnCallEnd(attempt, std::move(status), wakes);
  for (Attempt* const loser : losers) loser->Abandon();
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
    if (attempt.deadline != base::kNever)
      attempt.head.SetGrpcTimeout(attempt.deadline - target_->clock->Now());
    if (attempt.number > 1)
      attempt.head.SetPreviousAttempts(static_cast<size_t>(attempt.number - 1));
  }
  if (attempt.bounce_above > 0) attempt.head.SetBounceAbove(attempt.bounce_above);
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

}  // namespace weft::inline v0::call
