#include "channel/health_watch.h"

#include <algorithm>
#include <utility>

namespace weft::inline v0::channel {

HealthWatch::HealthWatch(event::Loop& loop, Setup setup)
    : Alarm(loop),
      loop_(loop),
      options_(std::make_shared<const HealthCheckOptions>(std::move(setup.options))),
      authority_(std::move(setup.authority)),
      factory_(std::move(setup.factory)),
      on_change_(std::move(setup.on_change)),
      random_(setup.seed) {}

void HealthWatch::SetHosts(std::vector<base::Ref<pool::HostPool>> hosts) {
  std::vector<Entry> gone;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return;
    gone.swap(hosts_);
    const auto before = std::exchange(index_, {});
    const base::MonoTime now = loop_.clock().Now();
    for (base::Ref<pool::HostPool>& host : hosts) {
      if (!index_.emplace(host.get(), hosts_.size()).second) continue;
      const auto known = before.find(host.get());
      if (known != before.end()) {
        hosts_.push_back(std::move(gone[known->second]));
      } else {
        hosts_.push_back({std::move(host), {*options_, random_.Fork(), now}});
      }
    }
    Arm();
  }
  for (const Entry& entry : gone) {
    if (entry.running) entry.running->Cancel();
  }
}

HealthWatch::State HealthWatch::StateOf(const cluster::Host& host) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = index_.find(&host);
  return found == index_.end() ? State::kUnknown : hosts_[found->second].checker.state();
}

void HealthWatch::Close() {
  std::vector<Entry> gone;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    gone.swap(hosts_);
    index_.clear();
    Stop();
  }
  for (const Entry& entry : gone) {
    if (entry.running) entry.running->Cancel();
  }
}

void HealthWatch::OnAlarm() {
  Checks due;
  std::vector<const pool::HostPool*> hosts;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (Entry& entry : hosts_) {
      if (entry.checker.next() > loop_.now()) continue;
      entry.checker.OnStart();
      entry.running = base::MakeRef<HealthCheck>(options_, entry.host, authority_);
      due.push_back(entry.running);
      hosts.push_back(entry.host.get());
    }
    Arm();
  }
  for (size_t i = 0; i < due.size(); ++i) Run(*due[i], hosts[i]);
}

void HealthWatch::Run(HealthCheck& check, const pool::HostPool* host) {
  // The check, and with it the host, lives until its end was heard of here: whatever drops its last
  // reference does so outside the strand.
  check.Run(loop_.now(), [watch = weak_from_this(), factory = factory_, &loop = loop_,
                          kept = base::Ref<HealthCheck>::Share(&check),
                          host](cluster::CheckResult result) mutable {
    loop.PostFunction([watch = std::move(watch), factory = std::move(factory),
                       kept = std::move(kept), host, result] {
      if (const auto alive = watch.lock()) alive->OnCheckEnd(kept.get(), host, result);
    });
  });
}

void HealthWatch::OnCheckEnd(const HealthCheck* check, const pool::HostPool* host,
                             cluster::CheckResult result) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = index_.find(host);
    if (found == index_.end()) return;
    Entry& entry = hosts_[found->second];
    if (entry.running.get() != check) return;  // the host has left and come again
    entry.running = nullptr;
    const bool changed = entry.checker.OnEnd(result, loop_.now());
    Arm();
    if (!changed) return;
  }
  on_change_();
}

void HealthWatch::Arm() {
  base::MonoTime next = base::kNever;
  for (const Entry& entry : hosts_) next = std::min(next, entry.checker.next());
  EnsureBy(next);
}

}  // namespace weft::inline v0::channel
