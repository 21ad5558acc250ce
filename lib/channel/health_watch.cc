#include "channel/health_watch.h"

#include <utility>

#include "channel/grpc_watch.h"
#include "channel/http_check.h"

namespace weft::inline v0::channel {

HealthWatch::HealthWatch(HostCheck::Common common, uint64_t seed)
    : common_(std::make_shared<const HostCheck::Common>(std::move(common))), random_(seed) {}

base::Ref<HostCheck> HealthWatch::NewCheck(base::Ref<pool::HostPool> host) {
  using Check = base::Ref<HostCheck>;
  const base::MonoTime now = common_->loop.clock().Now();
  if (common_->options.kind == HealthCheckOptions::Kind::kGrpc)
    return Check::Adopt(new GrpcWatch(common_, std::move(host), random_.Fork(), now));
  return Check::Adopt(new HttpCheck(common_, std::move(host), random_.Fork(), now));
}

void HealthWatch::SetHosts(std::vector<base::Ref<pool::HostPool>> hosts) {
  // To the end, so that what is posted is in the order of the sets.
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return;
  Checks come;
  Checks gone = std::exchange(checks_, {});
  const auto before = std::exchange(index_, {});
  for (base::Ref<pool::HostPool>& host : hosts) {
    if (!index_.emplace(host.get(), checks_.size()).second) continue;
    const auto known = before.find(host.get());
    if (known != before.end()) {
      checks_.push_back(std::move(gone[known->second]));
    } else {
      checks_.push_back(NewCheck(std::move(host)));
      come.push_back(checks_.back());
    }
  }
  common_->loop.PostFunction([come = std::move(come), gone = std::move(gone)] {
    for (const base::Ref<HostCheck>& check : gone) {
      if (check) check->End();
    }
    for (const base::Ref<HostCheck>& check : come) check->Begin();
  });
}

HealthWatch::State HealthWatch::StateOf(const cluster::Host& host) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = index_.find(&host);
  return found == index_.end() ? State::kUnknown : checks_[found->second]->state();
}

void HealthWatch::Close() {
  Checks gone;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    gone.swap(checks_);
    index_.clear();
  }
  for (const base::Ref<HostCheck>& check : gone) check->End();
}

}  // namespace weft::inline v0::channel
