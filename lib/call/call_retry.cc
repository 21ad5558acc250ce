// What follows the end of an attempt: the end of the call, or another attempt.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "call/call.h"
#include "weft/error.h"

namespace weft::inline v0::call {
namespace {

// So often at once. A balancer may pick the same host again whatever its state, a host refuse each
// connection after the other.
constexpr int kRepeatsWithoutPause = 8;
constexpr char kStopped[] = "a host asked for no other";
constexpr char kTooLate[] = "the pause would outlast the deadline";
constexpr char kCommitted[] = "something of an answer, or too much of the request, has passed";

}  // namespace

void Call::OnAttemptEnd(Attempt& attempt, http::StreamEnd end) {
  const base::MonoTime now = target_->clock->Now();
  Step step;
  std::optional<cluster::Outcome> outcome;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    attempt.running = false;
    if (!attempt.lost) --running_;
    if (!attempt.lost && state_ != State::kEnded) {
      last_ended_ = &attempt;
      attempt.ended = now;
      attempt.end = std::move(end);
      MarkBounce(attempt);
      processed_ = std::max(processed_, attempt.end.processed);
      MarkTimeout(attempt);
      attempt.code = CodeOf(attempt);
      const policy::AttemptEnd what = Classify(attempt);
      outcome = OutcomeOf(attempt);
      policy::RetryThrottle* const throttle = Throttle();
      if (throttle != nullptr && !attempt.bounced) Count(*throttle, attempt, what);
      step = Judge(attempt, what);
      Enter(step, now);
    }
  }
  if (outcome.has_value()) target_->cluster->OnOutcome(*attempt.member, *outcome, now);
  Go(step, attempt, attempt.host->strand().wakes());
}

// With mutex_.
void Call::Enter(Step& step, base::MonoTime now) {
  switch (step.next) {
    case Next::kEnd:
      state_ = State::kEnded;
      ended_ = now;
      step.losers = GiveUpOthers(*last_ended_, now);
      break;
    case Next::kPick:
      state_ = State::kPicking;
      break;
    case Next::kBackOff:
      state_ = State::kBackingOff;
      break;
    case Next::kHedge:
    case Next::kRepeatBeside:
      starting_ = true;
      break;
    case Next::kNothing:
    case Next::kLook:
      break;
  }
}

// The caller's reference goes on with the call, or is released.
void Call::Go(const Step& step, Attempt& attempt, event::WakeBatch& wakes) {
  switch (step.next) {
    case Next::kEnd:
      Finish(attempt.end, &attempt, step.losers, wakes);
      break;
    case Next::kPick: {
      const auto keep = base::Ref<Call>::Share(this);  // the call may end within
      Pick();
      return;
    }
    case Next::kBackOff: {
      const auto keep = base::Ref<Call>::Share(this);
      BackOff(step.wait);
      return;
    }
    case Next::kHedge:
    case Next::kRepeatBeside: {
      const bool hedge = step.next == Next::kHedge;
      if (!StartBeside(hedge ? AttemptInfo::Why::kHedge : step.why)) {
        GoOnWithout(attempt, wakes);
        return;
      }
      break;
    }
    case Next::kLook:
      ForEachRunning([](Attempt& other) { other.LookNow(); });
      break;
    case Next::kNothing:
      break;
  }
  Release();
}

// One more was to be started beside those that ran, and was not; meanwhile they may have ended.
void Call::GoOnWithout(Attempt& attempt, event::WakeBatch& wakes) {
  Step step;
  Attempt* last = &attempt;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    starting_ = false;
    if (last_ended_ != nullptr) last = last_ended_;
    if (running_ == 0 && state_ == State::kAttempting) {
      step = Judge(*last, Classify(*last));
      Enter(step, target_->clock->Now());
    } else if (state_ == State::kAttempting && hedge_at_ != base::kNever && !attempt.running) {
      step = {Next::kLook};  // one that runs looks by itself
    }
  }
  event::WakeBatch own;
  Go(step, *last, last == &attempt ? wakes : own);
  own.Wake();
}

void Call::MarkTimeout(Attempt& attempt) const {
  http::StreamEnd& end = attempt.end;
  // Not with the call, nor with its idle timeout.
  attempt.timed_out = end.origin == Origin::kLocal && absl::IsDeadlineExceeded(end.status) &&
                      attempt.ended >= attempt.deadline && attempt.ended < deadline_;
  if (!attempt.timed_out) return;
  end.status = absl::UnavailableError(
      absl::StrCat("no answer within the attempt timeout of ",
                   absl::FormatDuration(absl::FromChrono(attempt.deadline - attempt.started))));
}

absl::StatusCode Call::CodeOf(const Attempt& attempt) const {
  if (!attempt.end.status.ok()) return attempt.end.status.code();
  const std::optional<http::Answer> answer = AnswerOf(attempt);
  return answer.has_value() ? http::CodeOf(*answer, options_.protocol) : absl::StatusCode::kOk;
}

policy::AttemptEnd Call::Classify(const Attempt& attempt) const {
  using What = policy::AttemptEnd::What;
  const http::StreamEnd& end = attempt.end;
  if (end.status.ok()) {
    if (attempt.code == absl::StatusCode::kOk) return {What::kOther};
    const Response& answer = attempt.answer;
    return {What::kAnswered, attempt.code,
            policy::PushbackOf(answer.headers, answer.trailers, target_->clock->WallNow())};
  }
  if (attempt.timed_out) return {What::kLost};
  if (end.origin == Origin::kLocal) return {What::kOther};
  if (end.processed == Processed::kNotSent) return {What::kNotSent};
  if (end.processed == Processed::kRefused)
    return {end.origin == Origin::kConnection ? What::kGoaway : What::kRefused};
  const bool lost = end.origin == Origin::kConnection &&
                    (absl::IsUnavailable(end.status) || absl::IsInternal(end.status));
  return {lost ? What::kLost : What::kOther};
}

void Call::Count(policy::RetryThrottle& throttle, const Attempt& attempt,
                 const policy::AttemptEnd& what) const {
  // gRFC A6: what a retry policy names, and a host that asks for no further attempt. What ended
  // here says nothing of the host.
  const bool failed =
      what.what == policy::AttemptEnd::What::kAnswered
          ? retry().IsRetryable(what.code) || what.pushback.kind == policy::Pushback::Kind::kStop
          : !attempt.end.status.ok();
  if (!failed) {
    throttle.OnSuccess();
  } else if (attempt.timed_out || attempt.end.origin != Origin::kLocal) {
    throttle.OnFailure();
  }
}

Call::Step Call::Judge(const Attempt& attempt, const policy::AttemptEnd& what) {
  if (attempt.end.status.ok() && what.what == policy::AttemptEnd::What::kOther)
    return {Next::kEnd};  // good
  if (cancelled_) return EndFor("the call was cancelled");
  if (attempt.bounced) return RepeatBounced();
  const policy::CallFacts facts = {.idempotent = idempotent_,
                                   .grpc = options_.protocol == Protocol::kGrpc,
                                   .refused_before = refused_before_,
                                   .attempts = counted_attempts_};
  if (what.what == policy::AttemptEnd::What::kRefused) refused_before_ = true;
  using Kind = policy::RetryDecision::Kind;
  policy::RetryDecision decision =
      retry().Decide(what, facts, max_attempts_, target_->random.Chance());
  stopped_ = stopped_ || what.pushback.kind == policy::Pushback::Kind::kStop;
  if (stopped_ && decision.kind == Kind::kAfter) decision = {Kind::kNoMore, {}, kStopped};
  const bool alone = running_ == 0 && !starting_;
  switch (decision.kind) {
    case Kind::kNo:
      return EndFor(decision.why_not);
    case Kind::kNoMore:
      hedge_at_ = base::kNever;
      if (alone) return EndFor(decision.why_not);
      why_no_more_ = decision.why_not;
      return {Next::kNothing};
    case Kind::kByItself:
      return alone ? RepeatByItself() : RepeatBeside();
    case Kind::kAfter:
      return alone
                 ? Retry(decision.wait)
                 : HedgeInstead(decision.wait, what.pushback.kind == policy::Pushback::Kind::kWait);
  }
  return {Next::kEnd};
}

Call::Step Call::EndFor(const char* why) {
  why_no_more_ = why;
  return {Next::kEnd};
}

int Call::RepeatsByItself() const {
  return static_cast<int>(std::count_if(attempts_.begin(), attempts_.end(), [](const auto& made) {
    return made->why == AttemptInfo::Why::kByItself;
  }));
}

Call::Step Call::RepeatByItself() {
  if (!MayBeginAnew()) return EndFor(kCommitted);
  base::MonoDuration wait{0};
  if (const int before = RepeatsByItself(); before >= kRepeatsWithoutPause) {
    wait = retry().Backoff(before - kRepeatsWithoutPause + 1, target_->random.Chance());
    if (wait >= deadline_ - target_->clock->Now()) return EndFor(kTooLate);
  }
  target_->counters->transparent_retries.Add();
  why_ = AttemptInfo::Why::kByItself;
  return {wait > base::MonoDuration::zero() ? Next::kBackOff : Next::kPick, wait};
}

Call::Step Call::RepeatBeside() {
  if (starting_ || RepeatsByItself() >= kRepeatsWithoutPause || !MayBeginAnew())
    return {Next::kNothing};
  target_->counters->transparent_retries.Add();
  return {Next::kRepeatBeside};
}

Call::Step Call::Retry(base::MonoDuration wait) {
  if (!MayBeginAnew()) return EndFor(kCommitted);
  const base::MonoTime now = target_->clock->Now();
  // Better now than at the deadline.
  if (wait >= deadline_ - now) return EndFor(kTooLate);
  const bool throttled = Throttle() != nullptr && !Throttle()->Allows();
  if (throttled || !target_->budget.TryWithdraw(policy::RetryBudget::Use::kRetry, now)) {
    target_->counters->retries_refused_by_budget.Add();
    return EndFor(throttled ? "the tokens of retryThrottling are used up"
                            : "the budget is used up");
  }
  target_->counters->retries.Add();
  why_ = AttemptInfo::Why::kRetry;
  ++counted_attempts_;
  return {wait > base::MonoDuration::zero() ? Next::kBackOff : Next::kPick, wait};
}

// Nothing is retried while another attempt runs; the next hedge does not wait for its time.
Call::Step Call::HedgeInstead(base::MonoDuration wait, bool pushed_back) {
  if (starting_ || !MayHedge()) return {Next::kNothing};
  if (!pushed_back) return {Next::kHedge};
  hedge_at_ = base::After(target_->clock->Now(), absl::FromChrono(wait));
  return {Next::kLook};
}

void Call::BackOff(base::MonoDuration wait) {
  const base::MonoTime until = base::After(target_->clock->Now(), absl::FromChrono(wait));
  if (absl::Status status = target_->cluster->Sleep(this, until); !status.ok()) {
    End({std::move(status), Origin::kLocal, Processed::kNotSent});
    return;
  }
  StopWaitingIfCancelled();
}

}  // namespace weft::inline v0::call
