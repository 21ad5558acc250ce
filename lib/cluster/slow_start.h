// Slow start: a host that is new, or has come back from ejection, is given more by and by: caches
// are cold, pools are empty, code is not compiled yet; and if it still fails, few calls meet that.
//
//   factor = max(10 %, (t / window)^(1 / aggression))
//
// Aggression 1 is linear, above 1 is faster at first. The formula is Envoy's.
#ifndef WEFT_LIB_CLUSTER_SLOW_START_H_
#define WEFT_LIB_CLUSTER_SLOW_START_H_

#include <algorithm>
#include <cmath>

#include "base/time.h"

namespace weft::inline v0::cluster {

inline constexpr double kLeastSlowStart = 0.1;

// What a host's weight is multiplied with `since` it began; 1 after the window. A window of zero:
// there is none. `aggression` > 0.
inline double SlowStartFactor(base::MonoDuration since, base::MonoDuration window,
                              double aggression) {
  if (since >= window) return 1;
  const double part =
      std::max(static_cast<double>(since.count()), 0.0) / static_cast<double>(window.count());
  return std::max(kLeastSlowStart, std::pow(part, 1 / aggression));
}

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_SLOW_START_H_
