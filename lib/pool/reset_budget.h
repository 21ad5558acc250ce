// ResetBudget: how many streams of one connection this side may reset before the peer takes it for
// an attacker (rapid reset, CVE-2023-44487) and closes the connection.
//
// Resets that nobody can do without (a cancelled call, a deadline) are only counted; those that can
// be avoided, at the price of discarding an answer, ask first.
//
// The generic cell rate algorithm (ITU-T I.371): one word, the time at which the budget is whole
// again, moves on by 1/rate with each reset, and may be ahead of now by burst/rate. It is never
// further ahead, however much was spent unasked: the peers known count the same way, so there is no
// debt.
#ifndef WEFT_LIB_POOL_RESET_BUDGET_H_
#define WEFT_LIB_POOL_RESET_BUDGET_H_

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace weft::inline v0::pool {

// Whole when it is made. Not thread-safe: it belongs to a connection.
class ResetBudget {
 public:
  // Neither is negative or NaN. A burst of 0 allows none, a rate of 0 gives nothing back.
  ResetBudget(int burst, double per_second)
      : cost_(CostOf(burst, per_second)), depth_(burst * cost_) {}

  bool Allows(base::MonoTime now) const { return std::max(whole_at_, now) - now + cost_ <= depth_; }
  void Spend(base::MonoTime now) {
    whole_at_ = std::min(std::max(whole_at_, now) + cost_, now + depth_);
  }

 private:
  // At least a nanosecond, and so little that `depth_` stays within 73 years.
  static base::MonoDuration CostOf(int burst, double per_second) {
    const int64_t most = (int64_t{1} << 61) / std::max(burst, 1);
    const double cost = 1e9 / per_second;
    if (!(cost < static_cast<double>(most))) return base::MonoDuration(most);
    return base::MonoDuration(std::max<int64_t>(static_cast<int64_t>(cost), 1));
  }

  const base::MonoDuration cost_;
  const base::MonoDuration depth_;
  base::MonoTime whole_at_ = base::MonoTime::min();
};

}  // namespace weft::inline v0::pool

#endif  // WEFT_LIB_POOL_RESET_BUDGET_H_
