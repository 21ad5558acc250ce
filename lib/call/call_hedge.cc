// Hedges: attempts beside attempts that still run.
#include <algorithm>
#include <utility>

#include "call/call.h"
#include "cluster/load_report_header.h"

namespace weft::inline v0::call {
namespace {

// What a host says when it could not do its work: how fast it says so is no measure of the work.
bool IsFailure(absl::StatusCode code) {
  return code == absl::StatusCode::kUnavailable || code == absl::StatusCode::kInternal ||
         code == absl::StatusCode::kUnknown || code == absl::StatusCode::kResourceExhausted;
}

}  // namespace

void Call::ArmHedge() {
  hedge_ = nullptr;
  policy::HedgePolicy* policy = &target_->hedge;
  // A method's policy, of either kind, stands for both.
  if (method_ != nullptr && method_->retry.has_value()) policy = nullptr;
  if (method_ != nullptr && method_->hedging.has_value()) policy = method_->hedging->beside.get();
  if (options_.hedge_delay.has_value()) {
    const bool never = *options_.hedge_delay == absl::InfiniteDuration();
    policy = never ? nullptr : &target_->hedge_by_call;
  }
  if (policy == nullptr || !policy->armed() || !idempotent_) return;
  hedge_max_ = std::min(options_.max_attempts.value_or(5), policy->max_attempts());
  max_attempts_ = std::max(max_attempts_, hedge_max_);
  if (hedge_max_ < 2) return;
  hedge_ = policy;
  hedge_delay_ = hedge_->OnCall(started_);
  if (options_.hedge_delay.has_value())
    hedge_delay_ = absl::ToChronoNanoseconds(*options_.hedge_delay);
}

base::MonoTime Call::NextHedge(const Attempt& attempt, base::MonoTime from) const {
  if (counted_attempts_ >= hedge_max_) return base::kNever;
  base::MonoDuration delay = hedge_delay_;
  // What one way there and back takes anyway is not slow yet.
  if (!hedge_->fixed()) delay = std::max(delay, 2 * attempt.host->rtt());
  return base::After(from, delay);
}

bool Call::MayHedge() const {
  return hedge_ != nullptr && !stopped_ && counted_attempts_ < hedge_max_ && MayBeginAnew();
}

base::MonoTime Call::OnLook(Attempt& attempt) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    // Where somebody is starting one, that one will look.
    if (state_ != State::kAttempting || cancelled_ || attempt.lost || starting_)
      return base::kNever;
    if (hedge_at_ > target_->clock->Now()) return hedge_at_;
    if (!MayHedge()) return base::kNever;
    starting_ = true;
  }
  if (!StartBeside(AttemptInfo::Why::kHedge)) {
    Retain();  // this attempt may have lost meanwhile, and the one that was answered have ended
    GoOnWithout(attempt, attempt.host->strand().wakes());
  }
  std::lock_guard<std::mutex> lock(mutex_);
  return hedge_at_;
}

bool Call::StartBeside(AttemptInfo::Why why) {
  const base::MonoTime now = target_->clock->Now();
  const std::vector<const HostView*> tried = Tried();
  cluster::Choice choice;
  if (why == AttemptInfo::Why::kHedge) {
    choice = PickForHedge(tried, now);
    if (choice.kind != PickResult::Kind::kHost) {
      LookAgain(now);
      return false;
    }
    if (!PayForHedge(now)) return false;
  } else {
    choice = target_->cluster->Pick(Facts(tried), /*wait_for_ready=*/false);
    if (choice.kind != PickResult::Kind::kHost) return false;
  }
  Retain();  // the attempt's
  if (StartAttempt(choice, why)) return true;
  Release();
  return false;
}

cluster::Choice Call::PickForHedge(const std::vector<const HostView*>& tried,
                                   base::MonoTime now) const {
  switch (hedge_->Place(now)) {
    case policy::HedgePlace::kHostWithRoom:
      return target_->cluster->PickWithRoom(Facts(tried), hedge_->report_age());
    case policy::HedgePlace::kAnyHost: {
      cluster::Choice choice = target_->cluster->Pick(Facts(tried), /*wait_for_ready=*/false);
      // The same host is of use only to who asked for a hedge whatever comes.
      const HostView* const host = choice.member ? choice.member->host.get() : nullptr;
      if (!hedge_->fixed() && std::find(tried.begin(), tried.end(), host) != tried.end()) return {};
      return choice;
    }
    case policy::HedgePlace::kNowhere:
      break;
  }
  return {};
}

void Call::LookAgain(base::MonoTime now) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (state_ == State::kEnded) return;  // and may be told of
  const bool again = ++looks_ <= policy::HedgePolicy::kLooks;
  hedge_at_ = again ? base::After(now, policy::HedgePolicy::kLookAgain) : base::kNever;
  if (!again) why_no_more_ = "no other host had room for a hedge";
}

bool Call::PayForHedge(base::MonoTime now) {
  const char* refusal = nullptr;
  if (Throttle() != nullptr && !Throttle()->Allows()) {
    refusal = "the tokens of retryThrottling are used up";
  } else if (!hedge_->TryStart()) {
    refusal = "as many calls are hedged as may be";
  } else if (!target_->budget.TryWithdraw(policy::RetryBudget::Use::kHedge, now)) {
    refusal = "the budget has nothing left for hedges";
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (state_ == State::kEnded) return false;  // and may be told of
  if (refusal != nullptr) {
    target_->counters->hedges_refused_by_budget.Add();
    why_no_more_ = refusal;
    hedge_at_ = base::kNever;
    return false;
  }
  target_->counters->hedges.Add();
  ++counted_attempts_;
  return true;
}

void Call::OnFirstAnswer(const Attempt& attempt) {
  TellHedgePolicy(&attempt, absl::OkStatus(), target_->clock->Now());
}

void Call::TellHedgePolicy(const Attempt* attempt, const absl::Status& end, base::MonoTime now) {
  if (hedge_ == nullptr || std::exchange(told_, true)) return;
  const bool late = absl::IsDeadlineExceeded(end);
  const bool answered = attempt != nullptr && end.ok() && !IsFailure(attempt->code);
  if (answered || late) hedge_->OnCallEnd(now - started_, now);
  const auto hedges = std::count_if(attempts_.begin(), attempts_.end(), [](const auto& made) {
    return made->why == AttemptInfo::Why::kHedge;
  });
  if (hedges == 0) return;
  const bool won = answered && attempt->why == AttemptInfo::Why::kHedge;
  hedge_->OnHedged(static_cast<int>(hedges), won);
  if (won) target_->counters->hedges_won.Add();
}

void Call::TakeReport(Attempt& attempt, const Headers& fields) {
  const std::optional<LoadReport> report = cluster::ReportOf(fields);
  if (!report.has_value()) return;
  const base::MonoTime now = target_->clock->Now();
  target_->cluster->OnReport(*attempt.member, *report, now);
  target_->hedge.OnReport(*report, now);
}

}  // namespace weft::inline v0::call
