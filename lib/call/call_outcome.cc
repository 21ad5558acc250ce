// What an attempt says of its host (cluster/outcome.h), whatever becomes of the call.
#include "call/call.h"

namespace weft::inline v0::call {
namespace {

using Kind = cluster::Outcome::Kind;

// Of plain HTTP by its status, since 404 and 429 are no gRPC codes of their own.
Kind KindOfStatus(int status) {
  if (status == 429) return Kind::kOverloaded;
  return status >= 500 ? Kind::kError : Kind::kSuccess;
}

Kind KindOfCode(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDataLoss:
      return Kind::kError;
    case absl::StatusCode::kResourceExhausted:
      return Kind::kOverloaded;
    default:
      return Kind::kSuccess;
  }
}

}  // namespace

cluster::Outcome Call::OutcomeOf(const Attempt& attempt) const {
  cluster::Outcome outcome;
  if (attempt.lost) {  // its strand may still be at it: only what the mutex guards is read
    outcome.kind = Kind::kCensored;
    outcome.took = attempt.ended - attempt.started;
    return outcome;
  }
  outcome.kind = KindOf(attempt);
  // How long a stream runs is its user's affair, however it ends; what tells of the host is its
  // first answer.
  const bool answered = attempt.answered != base::MonoTime();
  outcome.took = (answered ? attempt.answered : attempt.ended) - attempt.started;
  outcome.noticed_late =
      outcome.kind == Kind::kTimeout && cluster::NoticedLate(attempt.deadline, attempt.ended);
  return outcome;
}

Kind Call::KindOf(const Attempt& attempt) const {
  if (attempt.bounced) return Kind::kUnprocessed;
  const http::StreamEnd& end = attempt.end;
  if (end.status.ok()) {
    return options_.protocol == Protocol::kHttp ? KindOfStatus(attempt.answer.status)
                                                : KindOfCode(attempt.code);
  }
  if (attempt.timed_out) return Kind::kTimeout;
  if (end.origin == Origin::kLocal) return KindOfLocalEnd(attempt);
  switch (end.processed) {
    case Processed::kNotSent:
      return attempt.host->state() == HostState::kBackoff ? Kind::kNotConnected
                                                          : Kind::kUnprocessed;
    case Processed::kRefused:
      return Kind::kUnprocessed;
    case Processed::kMaybeProcessed:
      break;
  }
  return Kind::kLost;
}

// A call's deadline is the host's failure where the host had most of the time; a stream's is not
// once it was answered.
Kind Call::KindOfLocalEnd(const Attempt& attempt) const {
  const bool had_time = 2 * (attempt.ended - attempt.started) >= attempt.ended - started_;
  const bool answered = attempt.answered != base::MonoTime();
  return absl::IsDeadlineExceeded(attempt.end.status) && had_time && !answered ? Kind::kTimeout
                                                                               : Kind::kCensored;
}

}  // namespace weft::inline v0::call
