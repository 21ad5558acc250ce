// HostCheck: the active health checks of one host, of one channel.
#ifndef WEFT_LIB_CHANNEL_HOST_CHECK_H_
#define WEFT_LIB_CHANNEL_HOST_CHECK_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/ref.h"
#include "cluster/health_checker.h"
#include "event/loop.h"
#include "event/timer_heap.h"
#include "pool/host_pool.h"
#include "weft/health_check_options.h"

namespace weft::inline v0::channel {

class HostCheck : public base::RefCounted, protected event::Timer {
 public:
  // Of all checks of a channel.
  struct Common {
    event::Loop& loop;
    HealthCheckOptions options = {};  // valid, and of a kind
    std::string authority = {};       // empty: the host's
    // Keeps the loops: what runs keeps it in turn.
    std::shared_ptr<void> factory = {};
    // A host's state has changed. On `loop`, no lock held; not after End.
    std::function<void()> on_change = {};
  };

  // Any thread.
  cluster::HealthState state() const { return state_.load(std::memory_order_relaxed); }

  // On the loop, each at most once; nothing begins after End.
  void Begin() {
    if (ended_) return;
    begun_ = true;
    OnBegin();
  }
  // What runs is cancelled, and nothing is said any more.
  void End() {
    ended_ = true;
    if (!begun_) return;
    loop().Disarm(this);
    OnEnd();
  }

 protected:
  virtual void OnBegin() = 0;
  virtual void OnEnd() = 0;

  HostCheck(std::shared_ptr<const Common> common, base::Ref<pool::HostPool> host)
      : common_(std::move(common)), host_(std::move(host)) {}

  const Common& common() const { return *common_; }
  const std::shared_ptr<const Common>& shared_common() const { return common_; }
  event::Loop& loop() const { return common_->loop; }
  const base::Ref<pool::HostPool>& host() const { return host_; }
  // On the loop.
  bool ended() const { return ended_; }
  void SetState(cluster::HealthState state) {
    if (state_.exchange(state, std::memory_order_relaxed) != state) common_->on_change();
  }

 private:
  const std::shared_ptr<const Common> common_;
  const base::Ref<pool::HostPool> host_;
  std::atomic<cluster::HealthState> state_{cluster::HealthState::kUnknown};
  // The loop's.
  bool begun_ = false;
  bool ended_ = false;
};

}  // namespace weft::inline v0::channel

#endif  // WEFT_LIB_CHANNEL_HOST_CHECK_H_
