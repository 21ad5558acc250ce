#include "policy/retry_throttle.h"

#include <algorithm>
#include <cmath>

namespace weft::inline v0::policy {
namespace {

constexpr int64_t kToken = 1000;
constexpr double kMostTokens = 1000;

}  // namespace

int64_t Thousandths(double tokens) {
  if (!(tokens > 0)) return 0;
  // 0.57 · 1000 is a little less than 570.
  constexpr double kSlack = 1e-6;
  return static_cast<int64_t>(std::floor(std::min(tokens, kMostTokens) * kToken + kSlack));
}

RetryThrottle::RetryThrottle(const RetryThrottling& throttling, const RetryThrottle* before)
    : max_(std::max<int64_t>(Thousandths(throttling.max_tokens), 1)),
      ratio_(std::max<int64_t>(Thousandths(throttling.token_ratio), 1)),
      // At most a million thousandths each: the product fits.
      count_(before == nullptr
                 ? max_
                 : max_ * before->count_.load(std::memory_order_relaxed) / before->max_) {}

void RetryThrottle::OnFailure() { Add(-kToken); }
void RetryThrottle::OnSuccess() { Add(ratio_); }

void RetryThrottle::Add(int64_t change) {
  int64_t present = count_.load(std::memory_order_relaxed);
  int64_t next = 0;
  do {
    next = std::clamp<int64_t>(present + change, 0, max_);
    // Full is what it mostly is: successes then write nothing, and threads share the line.
    if (next == present) return;
  } while (!count_.compare_exchange_weak(present, next, std::memory_order_relaxed));
}

}  // namespace weft::inline v0::policy
