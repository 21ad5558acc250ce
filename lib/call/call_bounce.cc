// Bounces: a host that has more in flight than its picker wished for refuses an attempt, and it
// goes to another one at once (weft/serving.h has what both sides say). The third host has to take
// it, so that a service whose hosts are all busy does not pass its calls around.
#include <atomic>

#include "call/call.h"
#include "http/answer_code.h"

namespace weft::inline v0::call {
namespace {

constexpr int kMaxBounces = 2;

}  // namespace

bool Call::MayBounce() const { return bounces_.load(std::memory_order_relaxed) < kMaxBounces; }

bool Call::SaysBounced(const Attempt& attempt) const {
  if (attempt.bounce_above == 0) return false;
  const std::optional<http::Answer> answer = AnswerOf(attempt);
  return answer.has_value() &&
         http::CodeOf(*answer, options_.protocol) == absl::StatusCode::kUnavailable &&
         (answer->headers["weft-bounced"] == "1" || answer->trailers["weft-bounced"] == "1");
}

void Call::MarkBounce(Attempt& attempt) {
  if (!attempt.end.status.ok() || !SaysBounced(attempt)) return;
  attempt.bounced = true;
  attempt.end.processed = Processed::kRefused;
  bounces_.fetch_add(1, std::memory_order_relaxed);
  target_->counters->bounces.Add();
}

Call::Step Call::RepeatBounced() {
  const bool alone = running_ == 0 && !starting_;
  if (!MayBeginAnew()) {
    if (!alone) return {Next::kNothing};
    return EndFor("something of an answer, or too much of the request, has passed");
  }
  if (!alone) {
    if (starting_) return {Next::kNothing};
    return {.next = Next::kRepeatBeside, .why = AttemptInfo::Why::kBounce};
  }
  why_ = AttemptInfo::Why::kBounce;
  return {Next::kPick};
}

}  // namespace weft::inline v0::call
