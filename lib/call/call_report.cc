// What is told of a call: in its error, in CallInfo and in the log of its attempts.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "call/call.h"
#include "weft/error.h"

namespace weft::inline v0::call {

absl::Status Call::Describe(http::StreamEnd end) const {
  end.processed = std::max(end.processed, processed_);
  std::string message = absl::StrCat(target_->name, ": ");
  CallError error{.origin = end.origin,
                  .processed = end.processed,
                  .host = "",
                  .attempts = static_cast<int>(attempts_.size()),
                  .log = Log()};
  const std::string took = absl::FormatDuration(
      absl::Trunc(absl::FromChrono(ended_ - started_), absl::Microseconds(100)));
  if (last_ended_ == nullptr) {
    absl::StrAppend(&message, end.status.message());
    if (ended_ - started_ >= std::chrono::milliseconds(1))
      absl::StrAppend(&message, " (after ", took, ")");
  } else {
    error.host = last_ended_->host->address();
    absl::StrAppend(
        &message, attempts_.size(), attempts_.size() == 1 ? " attempt in " : " attempts in ", took,
        ", last: ", error.host, end.origin == Origin::kLocal ? ": " : " ", end.status.message());
  }
  absl::StrAppend(&message, "; ", base::V(ProcessedName(end.processed)));
  absl::Status status(end.status.code(), message);
  SetCallError(status, error);
  return status;
}

CallInfo Call::Info() const {
  CallInfo info;
  info.attempts = static_cast<int>(attempts_.size());
  if (last_ended_ != nullptr) {
    info.host = last_ended_->host->address();
    info.waited = absl::FromChrono(last_ended_->started - started_);
  }
  info.took = absl::FromChrono(ended_ - started_);
  if (attempts_.size() > 1 || *why_no_more_ != '\0') info.log = Log();
  return info;
}

AttemptLog Call::Log() const {
  AttemptLog log;
  log.attempts.reserve(attempts_.size());
  for (const auto& attempt : attempts_) log.attempts.push_back(LogOf(*attempt));
  log.why_no_more = why_no_more_;
  return log;
}

AttemptInfo Call::LogOf(const Attempt& attempt) const {
  AttemptInfo info;
  info.why = attempt.why;
  info.host = attempt.host->address();
  info.started = absl::FromChrono(attempt.started - started_);
  info.took = absl::FromChrono(attempt.ended - attempt.started);
  info.lost = attempt.lost;
  info.code = attempt.lost ? absl::StatusCode::kCancelled : attempt.code;
  info.error = std::string(attempt.end.status.message());
  if (!attempt.lost) info.http_status = attempt.answer.status;  // else it may still be receiving
  return info;
}

}  // namespace weft::inline v0::call
