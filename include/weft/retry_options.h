// RetryOptions: when an attempt of a call that failed is followed by another one, on another host
// where there is one.
//
// What was provably not processed is repeated by itself, whatever is set here (a connection that
// could not be used, GOAWAY, a stream that was refused once), up to eight times at once, then with
// pauses. Beyond that, within max_attempts and the budget, an attempt is repeated that
//   - ended with its connection, or with the attempt timeout, and may have been processed: where
//   the
//     request is idempotent
//   - was refused unprocessed again
//   - was answered with a code of `retryable`: where the request is idempotent, or a gRPC call
// and never once something of an answer was handed to the user, or more than 256 KiB of a request
// body that comes piece by piece were sent.
//
// A host may say how long to wait, or not to try again: `grpc-retry-pushback-ms`, `retry-after`.
// What one host says of no other attempt holds for the call.
// Where the pause would end after the deadline the call fails at once with what it has.
#ifndef WEFT_RETRY_OPTIONS_H_
#define WEFT_RETRY_OPTIONS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace weft::inline v0 {

struct RetryOptions {
  // In all, 1 … 5.
  int max_attempts = 3;
  // Of gRPC, and for plain HTTP those that its status maps to: 429, 502, 503 and 504 UNAVAILABLE,
  // 401 UNAUTHENTICATED, 403 PERMISSION_DENIED, 404 UNIMPLEMENTED, 400 INTERNAL, other errors
  // UNKNOWN. Empty: an answer is never repeated.
  std::vector<absl::StatusCode> retryable = {};
  // The pause before the n-th retry: initial · multiplier^(n-1), at most max_backoff, times a
  // chance between 0.8 and 1.2 (gRFC A6).
  absl::Duration initial_backoff = absl::Milliseconds(10);
  double backoff_multiplier = 2;
  absl::Duration max_backoff = absl::Seconds(1);
  // The longest that one attempt may take, from its start on a host.
  absl::Duration attempt_timeout = absl::InfiniteDuration();
  // Extra attempts of the channel's calls: so many per call, and so many a second besides
  // (Finagle's budget, over 10 s). Hedges take from the same.
  double budget_ratio = 0.2;
  double budget_reserve_per_second = 10;
};

}  // namespace weft::inline v0

#endif  // WEFT_RETRY_OPTIONS_H_
