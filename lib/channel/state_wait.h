// StateWait: somebody who waits for a channel to be in another state.
#ifndef WEFT_LIB_CHANNEL_STATE_WAIT_H_
#define WEFT_LIB_CHANNEL_STATE_WAIT_H_

#include <functional>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/ref.h"
#include "base/time.h"
#include "cluster/cluster.h"
#include "weft/channel.h"

namespace weft::inline v0::channel {

// What the hosts of a cluster that has been started are in together.
ChannelState StateOf(const cluster::Cluster& cluster);

class StateWait final : public base::RefCounted, private cluster::PickWaiter {
 public:
  // `done` is given OK once `wanted` says yes to the state, DEADLINE_EXCEEDED, or why nobody may
  // wait any more: on the cluster's loop or, from within Begin, at once. Wants no lock and does not
  // block.
  StateWait(base::Ref<cluster::Cluster> cluster, std::function<bool(ChannelState)> wanted,
            base::MonoTime deadline, absl::AnyInvocable<void(absl::Status) &&> done)
      : cluster_(std::move(cluster)),
        wanted_(std::move(wanted)),
        deadline_(deadline),
        done_(std::move(done)) {}

  // Once. It lives on by itself until it is done.
  void Begin();

 private:
  void Ask();
  void OnPickAgain() override { Ask(); }
  void OnWaitOver(absl::Status why) override;
  void Keep() override { Retain(); }
  void Drop() override { Release(); }

  const base::Ref<cluster::Cluster> cluster_;
  const std::function<bool(ChannelState)> wanted_;
  const base::MonoTime deadline_;
  absl::AnyInvocable<void(absl::Status) &&> done_;
};

}  // namespace weft::inline v0::channel

#endif  // WEFT_LIB_CHANNEL_STATE_WAIT_H_
