// Lingering: losers that have ended and still count as requests in flight.
//
// A host that stalls loses its calls to hedges elsewhere. Were the cancelled attempts forgotten at
// once, it would look idle, and a balancer that goes by requests in flight would send it the more.
#ifndef WEFT_LIB_POOL_LINGERING_H_
#define WEFT_LIB_POOL_LINGERING_H_

#include <cstddef>
#include <functional>
#include <queue>
#include <vector>

#include "base/time.h"

namespace weft::inline v0::pool {

// One entry for each loser: the time at which it is forgotten. Not thread-safe.
class Lingering {
 public:
  static constexpr base::MonoDuration kLongest = std::chrono::seconds(2);

  // Until kLongest from now, or until `deadline` if that is sooner; up to kGrain later, so that
  // many share a wake-up.
  void Add(base::MonoTime now, base::MonoTime deadline) {
    const base::MonoTime until = std::min(deadline, now + kLongest);
    ends_.push(std::chrono::ceil<Grain>(until));
  }
  // How many are over; they are forgotten.
  size_t TakeDue(base::MonoTime now) {
    size_t due = 0;
    for (; !ends_.empty() && ends_.top() <= now; ++due) ends_.pop();
    return due;
  }
  size_t TakeAll() { return TakeDue(base::kNever); }
  base::MonoTime next() const { return ends_.empty() ? base::kNever : ends_.top(); }

 private:
  using Grain = std::chrono::duration<int64_t, std::ratio<1, 128>>;
  std::priority_queue<base::MonoTime, std::vector<base::MonoTime>, std::greater<>> ends_;
};

}  // namespace weft::inline v0::pool

#endif  // WEFT_LIB_POOL_LINGERING_H_
