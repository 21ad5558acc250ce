// HealthWatch: the active health checks of a channel's hosts: makes them when they are due
// (cluster/health_checker says when), and tells its owner when a host's health has changed.
#ifndef WEFT_LIB_CHANNEL_HEALTH_WATCH_H_
#define WEFT_LIB_CHANNEL_HEALTH_WATCH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "base/ref.h"
#include "channel/health_check.h"
#include "cluster/health_checker.h"
#include "event/alarm.h"
#include "event/loop.h"
#include "pool/host_pool.h"
#include "weft/health_check_options.h"

namespace weft::inline v0::channel {

class HealthWatch final : public std::enable_shared_from_this<HealthWatch>, private event::Alarm {
 public:
  using State = cluster::HealthChecker::State;

  struct Setup {
    HealthCheckOptions options = {};  // valid, and of a kind
    std::string authority = {};       // empty: the host's
    uint64_t seed = 0;
    // Keeps the loops: a check that runs keeps it in turn.
    std::shared_ptr<void> factory = {};
    // A host's state has changed. On `loop`, no lock held; not after Close.
    std::function<void()> on_change = {};
  };

  // Made with std::make_shared; destroyed after Close.
  HealthWatch(event::Loop& loop, Setup setup);

  // Any thread. The hosts to check from now on; those that were there before keep their state.
  void SetHosts(std::vector<base::Ref<pool::HostPool>> hosts);
  // Any thread. Unknown for hosts that are not in the set.
  State StateOf(const cluster::Host& host) const;
  // On the loop. What runs is cancelled.
  void Close();

 private:
  struct Entry {
    base::Ref<pool::HostPool> host;
    cluster::HealthChecker checker;
    base::Ref<HealthCheck> running = {};
  };
  using Checks = std::vector<base::Ref<HealthCheck>>;

  void OnAlarm() override;
  void Run(HealthCheck& check, const pool::HostPool* host);
  void OnCheckEnd(const HealthCheck* check, const pool::HostPool* host,
                  cluster::CheckResult result);
  // With mutex_.
  void Arm();

  event::Loop& loop_;
  const std::shared_ptr<const HealthCheckOptions> options_;
  const std::string authority_;
  const std::shared_ptr<void> factory_;
  const std::function<void()> on_change_;

  mutable std::mutex mutex_;
  base::Random random_;
  bool closed_ = false;
  std::vector<Entry> hosts_;
  std::unordered_map<const cluster::Host*, size_t> index_;  // in hosts_
};

}  // namespace weft::inline v0::channel

#endif  // WEFT_LIB_CHANNEL_HEALTH_WATCH_H_
