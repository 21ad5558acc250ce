// Target: what a call needs to know of the channel that makes it.
#ifndef WEFT_LIB_CALL_TARGET_H_
#define WEFT_LIB_CALL_TARGET_H_

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/ref.h"
#include "base/shared_random.h"
#include "base/snapshot.h"
#include "cluster/cluster.h"
#include "event/clock.h"
#include "policy/hedge_policy.h"
#include "policy/retry_budget.h"
#include "policy/retry_policy.h"
#include "policy/retry_throttle.h"
#include "policy/service_config.h"
#include "telemetry/counters.h"

namespace weft::inline v0::call {

// A service config that holds, and the tokens of its retryThrottling, if it has that.
struct CallConfig {
  // `before`: the one whose place it takes, or null.
  CallConfig(std::shared_ptr<const policy::ServiceConfig> parsed, const CallConfig* before)
      : service(std::move(parsed)) {
    if (service->retry_throttling().has_value()) {
      throttle = std::make_unique<policy::RetryThrottle>(
          *service->retry_throttling(), before != nullptr ? before->throttle.get() : nullptr);
    }
  }
  std::shared_ptr<const policy::ServiceConfig> service;
  std::unique_ptr<policy::RetryThrottle> throttle;
};

// Told of each call that begins, on the thread that makes it.
class BeginListener {
 public:
  virtual void OnCallBegun() = 0;

 protected:
  ~BeginListener() = default;
};

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
  // Null: there is none, and nothing to look up.
  std::shared_ptr<const CallConfig> config() const {
    return has_config_.load(std::memory_order_acquire) ? config_.Get() : nullptr;
  }
  base::Ref<cluster::Cluster> cluster;
  policy::RetryBudget budget;
  policy::HedgePolicy hedge;
  policy::HedgePolicy hedge_by_call;       // whose delay is the call's
  std::atomic<size_t> kept_for_replay{0};  // bytes of request bodies that were sent
  base::SharedRandom random;
  const event::Clock* clock = nullptr;
  telemetry::Counters* counters = nullptr;
  BeginListener* begin_listener = nullptr;  // null: nobody

 protected:
  Target(const RetryOptions& retries, const HedgeOptions& hedges)
      : retry(retries),
        budget({.ratio = retries.budget_ratio,
                .reserve_per_second = retries.budget_reserve_per_second}),
        hedge(hedges),
        hedge_by_call(
            {.when = HedgeOptions::When::kAfterDelay, .max_attempts = hedges.max_attempts}) {}
  ~Target() = default;
  void SetConfig(std::shared_ptr<const CallConfig> config) {
    const bool there = config != nullptr;
    config_.Set(std::move(config));
    has_config_.store(there, std::memory_order_release);
  }

 private:
  base::Snapshot<CallConfig> config_;
  std::atomic<bool> has_config_{false};
};

}  // namespace weft::inline v0::call

#endif  // WEFT_LIB_CALL_TARGET_H_
