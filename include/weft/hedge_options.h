// Hedging: another attempt of a call on another host while the first one still runs; whichever is
// answered first is the answer, and the others are cancelled.
//
// It cuts the tail of latency where slowness is a host's, or a connection's, for a while: a pause,
// a slow disk, a lost packet. It costs the servers work, so it is off until it is asked for, hedges
// are few (of all calls so many, and only while the budget that retries take from is more than half
// full, RetryOptions::budget_ratio), and only calls that are idempotent are hedged. A hedge goes to
// a host that the call has not tried. An attempt that ends with a retryable code
// (RetryOptions::retryable), or with its connection, does not end the call while another one runs.
//
// Kinds (Dean and Barroso, "The Tail at Scale", 2013; gRFC A6; Finagle's backup requests):
//   kAfterDelay    a hedge starts when there is no answer after `delay`
//   kAtPercentile  … after the time that `percentile` of the channel's calls took lately
//   kAdaptive      … after a percentile that depends on how many hedges there may be, and on how
//                  many of them are of use; where servers report their load, hedges go only to
//                  hosts that have room, and become fewer as all hosts fill up
#ifndef WEFT_HEDGE_OPTIONS_H_
#define WEFT_HEDGE_OPTIONS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace weft::inline v0 {

struct HedgeOptions {
  enum class When : uint8_t { kNever, kAfterDelay, kAtPercentile, kAdaptive };
  When when = When::kNever;
  // A call is hedged up to so many attempts, 2 … 5, retries among them.
  int max_attempts = 2;
  // With kAfterDelay: from the call's start to the first hedge, and from one hedge to the next; 0:
  // all at once.
  absl::Duration delay = absl::Milliseconds(50);
  // With kAtPercentile: 0.5 … 0.999.
  double percentile = 0.95;
  // With kAtPercentile and kAdaptive: the share of calls that may be hedged at most, 0.001 … 0.5.
  double ratio = 0.05;
};

}  // namespace weft::inline v0

#endif  // WEFT_HEDGE_OPTIONS_H_
