#include "channel/state_wait.h"

#include <cstdint>
#include <utility>

namespace weft::inline v0::channel {

ChannelState StateOf(const cluster::Cluster& cluster) {
  if (cluster.closed()) return ChannelState::kClosed;
  if (!cluster.has_hosts()) {
    return cluster.error().ok() ? ChannelState::kConnecting : ChannelState::kFailing;
  }
  ChannelState state = ChannelState::kFailing;
  const cluster::HostList hosts = cluster.hosts();
  for (const PickerHost& entry : *hosts) {
    if (entry.endpoint->draining) continue;
    switch (entry.host->state()) {
      case HostState::kReady:
        return ChannelState::kReady;
      case HostState::kIdle:
      case HostState::kConnecting:
        state = ChannelState::kConnecting;
        break;
      case HostState::kBackoff:
      case HostState::kClosed:
        break;
    }
  }
  return state;
}

void StateWait::Begin() {
  const base::Ref<StateWait> keep = base::Ref<StateWait>::Share(this);
  Ask();
}

void StateWait::Ask() {
  for (;;) {
    const uint64_t version = cluster_->version();
    if (wanted_(StateOf(*cluster_))) {
      std::move(done_)(absl::OkStatus());
      return;
    }
    const absl::Status status = cluster_->Wait(this, version, deadline_);
    if (status.ok()) return;  // it may be over already
    if (absl::IsOutOfRange(status)) continue;
    OnWaitOver(status);
    return;
  }
}

void StateWait::OnWaitOver(absl::Status why) {
  if (why.ok()) {
    why = absl::DeadlineExceededError("not in time");
  } else if (wanted_(ChannelState::kClosed)) {
    why = absl::OkStatus();
  }
  std::move(done_)(std::move(why));
}

}  // namespace weft::inline v0::channel
