// Target: what a call needs to know of the channel that makes it.
#ifndef WEFT_LIB_CALL_TARGET_H_
#define WEFT_LIB_CALL_TARGET_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/ref.h"
#include "base/shared_random.h"
#include "cluster/cluster.h"
#include "event/clock.h"
#include "policy/retry_budget.h"
#include "policy/retry_policy.h"
#include "telemetry/counters.h"

namespace weft::inline v0::call {

// Its one subclass is channel::ChannelImpl. Shared by the channel and its calls; keeps the loops
// alive. Thread-safe.
class Target {
 public:
  // Not OK: no call may be made any more, and why (the factory is gone; this is a forked child).
  virtual absl::Status Refusal() const = 0;
  // Whether the loops have threads: not so in a forked child.
  virtual bool HasLoops() const = 0;

  std::string name;       // as given to GetChannel, for errors
  std::string authority;  // empty: the host's address
  absl::Duration timeout;
  const policy::RetryPolicy retry;
  base::Ref<cluster::Cluster> cluster;
  policy::RetryBudget budget;
  base::SharedRandom random;
  const event::Clock* clock = nullptr;
  telemetry::Counters* counters = nullptr;

 protected:
  explicit Target(const RetryOptions& options)
      : retry(options),
        budget({.ratio = options.budget_ratio,
                .reserve_per_second = options.budget_reserve_per_second}) {}
  ~Target() = default;
};

}  // namespace weft::inline v0::call

#endif  // WEFT_LIB_CALL_TARGET_H_
