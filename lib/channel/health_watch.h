// HealthWatch: the active health checks of a channel's hosts, a HostCheck for each.
#ifndef WEFT_LIB_CHANNEL_HEALTH_WATCH_H_
#define WEFT_LIB_CHANNEL_HEALTH_WATCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "base/ref.h"
#include "channel/host_check.h"
#include "cluster/health_checker.h"
#include "pool/host_pool.h"

namespace weft::inline v0::channel {

class HealthWatch final : public std::enable_shared_from_this<HealthWatch> {
 public:
  using State = cluster::HealthState;

  // Made with std::make_shared; destroyed after Close.
  HealthWatch(HostCheck::Common common, uint64_t seed);

  // Any thread. The hosts to check from now on; those that were there before keep their state.
  void SetHosts(std::vector<base::Ref<pool::HostPool>> hosts);
  // Any thread. Unknown for hosts that are not in the set.
  State StateOf(const cluster::Host& host) const;
  // On the loop. What runs is cancelled.
  void Close();

 private:
  using Checks = std::vector<base::Ref<HostCheck>>;

  base::Ref<HostCheck> NewCheck(base::Ref<pool::HostPool> host);

  const std::shared_ptr<const HostCheck::Common> common_;

  mutable std::mutex mutex_;
  base::Random random_;
  bool closed_ = false;
  Checks checks_;
  std::unordered_map<const cluster::Host*, size_t> index_;  // in checks_
};

}  // namespace weft::inline v0::channel

#endif  // WEFT_LIB_CHANNEL_HEALTH_WATCH_H_
