// RetryPolicy: RetryOptions, checked and ready to be asked. Decides nothing about calls by itself:
// which codes, how long a pause, what a host says about it.
#ifndef WEFT_LIB_POLICY_RETRY_POLICY_H_
#define WEFT_LIB_POLICY_RETRY_POLICY_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/time.h"
#include "weft/headers.h"
#include "weft/retry_options.h"

namespace weft::inline v0::policy {

// INVALID_ARGUMENT names the field that is out of range.
absl::Status Validate(const RetryOptions& options);

// What a host says about another attempt.
struct Pushback {
  enum class Kind { kNothing, kWait, kStop };
  Kind kind = Kind::kNothing;
  base::MonoDuration wait{0};
};

// How an attempt ended, as far as another one depends on it.
struct AttemptEnd {
  enum class What {
    kNotSent,   // no byte of it left this process
    kGoaway,    // the peer left it out when it went away
    kRefused,   // the peer refused it, unprocessed
    kLost,      // ended with its connection, or with its time; may have been processed
    kAnswered,  // with `code` and `pushback`
    kOther,     // reset by the peer, a limit of this side's, the end of the call
  };
  What what = What::kOther;
  absl::StatusCode code = absl::StatusCode::kOk;
  Pushback pushback = {};
};

// Of the call so far.
struct CallFacts {
  bool idempotent = false;
  bool grpc = false;
  bool refused_before = false;
  int attempts = 1;  // without those that were repeated by themselves
};

struct RetryDecision {
  enum class Kind {
    kNo,        // that is how the call ends
    kNoMore,    // it could be bettered, but not by another attempt
    kByItself,  // at once; counts for nothing
    kAfter,     // after `wait`, if the budget has it
  };
  Kind kind = Kind::kNo;
  base::MonoDuration wait{0};
  const char* why_not = "";  // with kNo, kNoMore; empty where the code is not retryable
};

class RetryPolicy {
 public:
  RetryPolicy() : RetryPolicy(RetryOptions()) {}
  explicit RetryPolicy(const RetryOptions& options);  // valid

  int max_attempts() const { return max_attempts_; }
  base::MonoDuration attempt_timeout() const { return attempt_timeout_; }
  bool IsRetryable(absl::StatusCode code) const {
    return (codes_ >> static_cast<unsigned>(code) & 1) != 0;
  }
  // `max_attempts` in place of the policy's own; `chance` from 0 to 1.
  RetryDecision Decide(const AttemptEnd& end, const CallFacts& call, int max_attempts,
                       double chance) const;
  // Before the n-th retry, n >= 1; `chance` from 0 to 1.
  base::MonoDuration Backoff(int n, double chance) const;

 private:
  int max_attempts_;
  uint32_t codes_ = 0;
  double initial_ns_;
  double multiplier_;
  double max_ns_;
  base::MonoDuration attempt_timeout_;
};

// Of an answer's headers and trailers: `grpc-retry-pushback-ms` (gRFC A6: milliseconds; negative or
// unreadable: stop) goes before `retry-after` (RFC 9110 section 10.2.3: seconds, or a date;
// unreadable: nothing). What lies further away than a year counts as a year.
Pushback PushbackOf(const Headers& headers, const Headers& trailers, absl::Time now);

}  // namespace weft::inline v0::policy

#endif  // WEFT_LIB_POLICY_RETRY_POLICY_H_
