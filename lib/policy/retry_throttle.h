// RetryThrottle: gRFC A6's retryThrottling, a count of tokens that stops retries and hedges while
// too many calls fail.
//
// A server that is in trouble answers many calls with errors that may be retried, and retries are
// what it has least to spare for. So each such failure takes a token, each success gives a part of
// one back, and there are extra attempts only while more than half of the tokens are there. It
// stands beside RetryBudget: an extra attempt needs both.
//
// What counts as a failure is the caller's to say: a status that the policy names as retryable or
// not fatal, or a host that asks for no further attempt.
#ifndef WEFT_LIB_POLICY_RETRY_THROTTLE_H_
#define WEFT_LIB_POLICY_RETRY_THROTTLE_H_

#include <atomic>
#include <cstdint>

namespace weft::inline v0::policy {

// Three decimals count; the others are cut off.
struct RetryThrottling {
  double max_tokens = 0;   // more than 0, at most 1000
  double token_ratio = 0;  // more than 0: tokens that a success gives back
};

// Of a token: 0.5466 is 546, as in gRFC A6. From 0 to a million; NaN is 0.
int64_t Thousandths(double tokens);

// Thread-safe and lock-free.
class RetryThrottle {
 public:
  // As full as `before` was, or full where that is null: a new config is no reason to forget that
  // calls fail. Values out of range count as the nearest in it.
  explicit RetryThrottle(const RetryThrottling& throttling, const RetryThrottle* before = nullptr);
  RetryThrottle(const RetryThrottle&) = delete;
  RetryThrottle& operator=(const RetryThrottle&) = delete;

  void OnFailure();
  void OnSuccess();
  // Whether there may be an extra attempt now.
  bool Allows() const { return 2 * count_.load(std::memory_order_relaxed) > max_; }

  double tokens() const {
    return static_cast<double>(count_.load(std::memory_order_relaxed)) / 1000;
  }

 private:
  // In thousandths of a token.
  void Add(int64_t change);

  const int64_t max_;
  const int64_t ratio_;
  std::atomic<int64_t> count_;
};

}  // namespace weft::inline v0::policy

#endif  // WEFT_LIB_POLICY_RETRY_THROTTLE_H_
