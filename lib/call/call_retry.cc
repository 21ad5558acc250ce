// What follows the end of an attempt: the end of the call, or another attempt.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "call/call.h"
#include "weft/error.h"

namespace weft::inline v0::call {
namespace {

constexpr char kCommitted[] = "something of an answer, or too much of the request, has passed";

}  // namespace

void Call::OnAttemptEnd(Attempt& attempt, http::StreamEnd end) {
  attempt.host->Exit();
  processed_ = std::max(processed_, end.processed);
  const bool timed_out = attempt_deadline_ < deadline_ && end.origin == Origin::kLocal &&
                         absl::IsDeadlineExceeded(end.status) && target_->clock->Now() < deadline_;
  if (timed_out) {
    end.status = absl::UnavailableError(absl::StrCat(
        "no answer within the attempt timeout of ",
        absl::FormatDuration(absl::FromChrono(attempt_deadline_ - last_attempt_started_))));
  }
  if (options_.log != nullptr) Log(attempt, end);
  base::MonoDuration wait{0};
  if (!MayRepeat(end, timed_out, wait)) {
    End(std::move(end), &attempt.host->strand().wakes());
    return;
  }
  last_end_ = std::move(end);
  if (wait > base::MonoDuration::zero()) {
    BackOff(wait);
    return;
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    state_ = State::kPicking;
  }
  Pick();
}

void Call::Log(const Attempt& attempt, const http::StreamEnd& end) {
  AttemptInfo info;
  info.why = why_;
  info.host = attempt.host->address();
  info.started = absl::FromChrono(last_attempt_started_ - started_);
  info.took = absl::FromChrono(target_->clock->Now() - last_attempt_started_);
  info.http_status = attempt.http_status;
  info.code = end.status.code();
  info.error = std::string(end.status.message());
  if (end.status.ok()) {
    if (const std::optional<http::Answer> answer = this->answer())
      info.code = http::CodeOf(*answer, options_.protocol);
  }
  options_.log->attempts.push_back(std::move(info));
}

bool Call::NoMore(const char* why) {
  if (options_.log != nullptr) options_.log->why_no_more = why;
  return false;
}

policy::AttemptEnd Call::Classify(const http::StreamEnd& end, bool timed_out) const {
  using What = policy::AttemptEnd::What;
  if (end.status.ok()) {
    const std::optional<http::Answer> answer = this->answer();
    if (!answer.has_value()) return {What::kOther};
    const absl::StatusCode code = http::CodeOf(*answer, options_.protocol);
    if (code == absl::StatusCode::kOk) return {What::kOther};
    return {What::kAnswered, code,
            policy::PushbackOf(answer->headers, answer->trailers, target_->clock->WallNow())};
  }
  if (timed_out) return {What::kLost};
  if (end.origin == Origin::kLocal) return {What::kOther};
  if (end.processed == Processed::kNotSent) return {What::kNotSent};
  if (end.processed == Processed::kRefused)
    return {end.origin == Origin::kConnection ? What::kGoaway : What::kRefused};
  const bool lost = end.origin == Origin::kConnection &&
                    (absl::IsUnavailable(end.status) || absl::IsInternal(end.status));
  return {lost ? What::kLost : What::kOther};
}

bool Call::MayRepeat(const http::StreamEnd& end, bool timed_out, base::MonoDuration& wait) {
  const policy::AttemptEnd what = Classify(end, timed_out);
  if (policy::RetryThrottle* const throttle = Throttle()) {
    // gRFC A6: what a retry policy names, and a host that asks for no further attempt. What ended
    // here says nothing of the host.
    const bool failed =
        what.what == policy::AttemptEnd::What::kAnswered
            ? retry().IsRetryable(what.code) || what.pushback.kind == policy::Pushback::Kind::kStop
            : !end.status.ok();
    if (!failed) {
      throttle->OnSuccess();
    } else if (timed_out || end.origin != Origin::kLocal) {
      throttle->OnFailure();
    }
  }
  const bool good = end.status.ok() && what.what == policy::AttemptEnd::What::kOther;
  if (good) return false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (cancelled_) return NoMore("the call was cancelled");
  }
  const policy::CallFacts facts = {.idempotent = idempotent_,
                                   .grpc = options_.protocol == Protocol::kGrpc,
                                   .refused_before = refused_before_,
                                   .attempts = counted_attempts_};
  if (what.what == policy::AttemptEnd::What::kRefused) refused_before_ = true;
  const policy::RetryDecision decision =
      retry().Decide(what, facts, options_.max_attempts.value_or(retry().max_attempts()),
                     target_->random.Chance());
  switch (decision.kind) {
    case policy::RetryDecision::Kind::kNo:
      return NoMore(decision.why_not);
    case policy::RetryDecision::Kind::kByItself:
      if (!CanRewind()) return NoMore(kCommitted);
      target_->counters->transparent_retries.Add();
      why_ = AttemptInfo::Why::kByItself;
      break;
    case policy::RetryDecision::Kind::kAfter: {
      if (!CanRewind()) return NoMore(kCommitted);
      const base::MonoTime now = target_->clock->Now();
      // Better now than at the deadline.
      if (decision.wait >= deadline_ - now) return NoMore("the pause would outlast the deadline");
      const bool throttled = Throttle() != nullptr && !Throttle()->Allows();
      if (throttled || !target_->budget.TryWithdraw(policy::RetryBudget::Use::kRetry, now)) {
        target_->counters->retries_refused_by_budget.Add();
        return NoMore(throttled ? "the tokens of retryThrottling are used up"
                                : "the budget is used up");
      }
      target_->counters->retries.Add();
      why_ = AttemptInfo::Why::kRetry;
      ++counted_attempts_;
      wait = decision.wait;
      break;
    }
  }
  repeats_ = true;
  return true;
}

void Call::BackOff(base::MonoDuration wait) {
  const base::MonoTime until = target_->clock->Now() + wait;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    state_ = State::kBackingOff;
  }
  if (absl::Status status = target_->cluster->Sleep(this, until); !status.ok()) {
    End({std::move(status), Origin::kLocal, Processed::kNotSent}, nullptr);
    return;
  }
  StopWaitingIfCancelled();
}

}  // namespace weft::inline v0::call
