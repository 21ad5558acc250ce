// RetryBudget: bounds the extra attempts of a cluster, retries and hedges alike, by the calls that
// there are.
//
// Without it a failure multiplies load just when servers have least to spare. A limit of attempts
// per call does not help: all calls fail at once, and three attempts each are three times the load.
// Finagle's answer (RetryBudget.scala): each call deposits 1, each extra attempt withdraws 1/ratio,
// both count for `window`, and a reserve lets clients with few calls retry at all. A withdrawal
// that the balance does not cover is refused.
//
//   balance = calls - extra attempts / ratio, of the last `window`
//   reserve = reserve_per_second * window / ratio
//   retry: allowed where balance + reserve >= 1/ratio
//   hedge: allowed where balance - 1/ratio >= calls / 2; it takes nothing from the reserve
//
// So in each window, and in total: extra attempts <= ratio * calls + reserve_per_second * window,
// and hedges alone <= ratio * calls / 2. The other half is for retries: a joint budget that hedges
// may empty leaves nothing for them when a host fails. A retry that the reserve paid for makes the
// balance negative until it leaves the window.
//
// The window moves in 16 steps. Depositing is one atomic addition; withdrawing takes a mutex that
// deposits do not meet but once in a step. Times may come a little out of order, as loops' times
// do: what is late counts as now.
#ifndef WEFT_LIB_POLICY_RETRY_BUDGET_H_
#define WEFT_LIB_POLICY_RETRY_BUDGET_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "absl/time/time.h"
#include "base/time.h"

namespace weft::inline v0::policy {

// Thread-safe.
class RetryBudget {
 public:
  struct Options {
    // Extra attempts per call, up to 1000; 0 (or less than a millionth): only the reserve.
    double ratio = 0.2;
    // Retries per second without any calls; 0: none. At most a million in a window.
    double reserve_per_second = 10;
    // From 1 s to 60 s.
    absl::Duration window = absl::Seconds(10);
  };
  enum class Use { kRetry, kHedge };

  RetryBudget() : RetryBudget(Options()) {}
  // Values out of range count as the nearest that is in it, NaN as 0.
  explicit RetryBudget(const Options& options);
  RetryBudget(const RetryBudget&) = delete;
  RetryBudget& operator=(const RetryBudget&) = delete;

  // Once for each call, not for its attempts.
  void Deposit(base::MonoTime now);
  // Whether one more attempt may start; it is then paid for.
  bool TryWithdraw(Use use, base::MonoTime now);
  // How many withdrawals for that use would be granted now.
  int64_t Available(Use use, base::MonoTime now);

 private:
  // A power of two, so that steps before time 0 fall in order too.
  static constexpr size_t kSteps = 16;

  int64_t StepOf(base::MonoTime now) const { return now.time_since_epoch().count() / step_ns_; }
  // What came in and what went out in one step.
  struct Slot {
    std::atomic<int64_t> deposited{0};
    std::atomic<int64_t> withdrawn{0};
  };
  Slot& SlotOf(int64_t step) { return slots_[static_cast<size_t>(step) % kSteps]; }
  void MoveTo(int64_t step);
  void MoveToLocked(int64_t step);
  // What may be withdrawn for that use.
  int64_t BalanceLocked(Use use) const;

  // In units of a millionth of a deposit.
  int64_t deposit_ = 0;
  int64_t cost_ = 0;
  int64_t reserve_ = 0;
  int64_t step_ns_ = 0;

  std::mutex mutex_;
  // Written with the mutex held. The slots before it belong to the steps before it.
  std::atomic<int64_t> step_;
  std::array<Slot, kSteps> slots_{};
};

}  // namespace weft::inline v0::policy

#endif  // WEFT_LIB_POLICY_RETRY_BUDGET_H_
