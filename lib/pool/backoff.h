// Backoff: how long to wait before dialling again. Decorrelated jitter: pause = min(cap, U(base, 3
// · previous pause)), which spreads a fleet that lost the same host at the same moment. A success
// begins anew. Source: M. Brooker, "Exponential Backoff And Jitter", 2015.
#ifndef WEFT_LIB_POOL_BACKOFF_H_
#define WEFT_LIB_POOL_BACKOFF_H_

#include <algorithm>

#include "absl/time/time.h"
#include "base/random.h"

namespace weft::inline v0::pool {

class Backoff {
 public:
  Backoff(absl::Duration base, absl::Duration cap) : base_(base), cap_(cap), previous_(base) {}

  absl::Duration Next(base::Random& random) {
    const double low = absl::ToDoubleSeconds(base_);
    const double high = std::max(low, 3 * absl::ToDoubleSeconds(previous_));
    previous_ = std::min(cap_, absl::Seconds(random.Uniform(low, high)));
    return previous_;
  }
  void Reset() { previous_ = base_; }

 private:
  const absl::Duration base_;
  const absl::Duration cap_;
  absl::Duration previous_;
};

}  // namespace weft::inline v0::pool

#endif  // WEFT_LIB_POOL_BACKOFF_H_
