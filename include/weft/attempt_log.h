// AttemptLog: what a call did, attempt by attempt: CallInfo::log of a response, CallError::log of
// an error.
#ifndef WEFT_ATTEMPT_LOG_H_
#define WEFT_ATTEMPT_LOG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace weft::inline v0 {

struct AttemptInfo {
  enum class Why : uint8_t {
    kFirst,
    kByItself,  // nothing of the one before was processed
    kRetry,     // by RetryOptions or a service config, paid for by the budget
    kHedge,     // by HedgeOptions or a service config, beside others that ran; likewise
    kBounce,    // the host of the one before refused it because of its load (weft/serving.h)
  };
  Why why = Why::kFirst;
  std::string host;
  absl::Duration started;  // after the call's start
  absl::Duration took;
  // Another one was answered first, and this one was given up.
  bool lost = false;
  // How it ended: with an error, or with an answer, whose code and status these are.
  absl::StatusCode code = absl::StatusCode::kOk;
  int http_status = 0;  // 0: no answer
  std::string error = {};
};

struct AttemptLog {
  std::vector<AttemptInfo> attempts;
  // Why none followed the last one, or why there was no hedge; empty where the last one was good,
  // or ended with a code that is not retryable.
  std::string why_no_more;
};

}  // namespace weft::inline v0

#endif  // WEFT_ATTEMPT_LOG_H_
