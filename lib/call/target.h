// Target: what a call needs to know of the channel that makes it.
#ifndef WEFT_LIB_CALL_TARGET_H_
#define WEFT_LIB_CALL_TARGET_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/ref.h"
#include "cluster/cluster.h"
#include "event/clock.h"
#include "policy/retry_budget.h"
#include "telemetry/counters.h"
#include "telemetry/span_ids.h"

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
  int max_attempts = 3;
  base::Ref<cluster::Cluster> cluster;
  policy::RetryBudget budget;
  const event::Clock* clock = nullptr;
  telemetry::Counters* counters = nullptr;
  mutable telemetry::SpanIds span_ids;

 protected:
  ~Target() = default;
};

}  // namespace weft::inline v0::call

#endif  // WEFT_LIB_CALL_TARGET_H_
