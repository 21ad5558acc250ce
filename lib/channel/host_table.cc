#include "channel/host_table.h"

#include <algorithm>

namespace weft::inline v0::channel {

std::shared_ptr<cluster::Host> HostTable::Acquire(const net::Address& address,
                                                  const std::string& identity, Make make) {
  Key key(address.text(), identity);
  base::Ref<pool::HostPool> host;
  absl::Status shutdown;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    shutdown = shutdown_;
    if (shutdown.ok()) {
      Entry& entry = hosts_[key];
      if (!entry.host) entry.host = std::move(make)();
      ++entry.users;
      host = entry.host;
    } else {
      host = std::move(make)();
    }
  }
  if (!shutdown.ok()) Close(host, pool::HostPool::How::kNow, shutdown);
  pool::HostPool* const raw = host.get();
  return std::shared_ptr<cluster::Host>(
      raw, [table = shared_from_this(), key = std::move(key),
            host = std::move(host)](cluster::Host*) { table->Release(key, host.get()); });
}

void HostTable::Release(const Key& key, pool::HostPool* host) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = hosts_.find(key);
  if (found == hosts_.end() || found->second.host.get() != host) return;  // shut down already
  if (--found->second.users > 0) return;
  found->second.drain_at = base::After(loop_.clock().Now(), kLinger);
  EnsureBy(found->second.drain_at);
}

void HostTable::OnAlarm() {
  std::vector<base::Ref<pool::HostPool>> unused;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    base::MonoTime next = base::kNever;
    for (auto it = hosts_.begin(); it != hosts_.end();) {
      Entry& entry = it->second;
      if (entry.users == 0 && entry.drain_at <= loop_.now()) {
        unused.push_back(std::move(entry.host));
        it = hosts_.erase(it);
        continue;
      }
      if (entry.users == 0) next = std::min(next, entry.drain_at);
      ++it;
    }
    EnsureBy(next);
  }
  for (auto& host : unused) {
    Close(std::move(host), pool::HostPool::How::kDrain,
          absl::UnavailableError("is not an endpoint of the service any more"));
  }
}

void HostTable::Close(base::Ref<pool::HostPool> host, pool::HostPool::How how, absl::Status why) {
  closing_count_.Begin();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closing_.push_back(host);
  }
  pool::HostPool* const raw = host.get();
  raw->Shutdown(how, std::move(why),
                [table = shared_from_this(), raw, factory = factory_.lock()]() mutable {
                  table->OnClosed(raw);
                  base::PendingCount& count = table->closing_count_;
                  // First: where the factory's owner waits for the count, it and not this thread is
                  // to be the last to let go. Where this is the last, the factory still lives to
                  // the end of the turn.
                  factory.reset();
                  count.End();
                });
}

void HostTable::OnClosed(pool::HostPool* host) {
  std::vector<base::Ref<pool::HostPool>> drop;  // after the lock
  const event::Loop& here = host->strand().loop();
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(closing_.begin(), closing_.end(),
                                  [host](const auto& entry) { return entry.get() == host; });
  dead_.push_back(std::move(*found));
  closing_.erase(found);
  for (size_t i = 0; i < dead_.size();) {
    if (&dead_[i]->strand().loop() == &here && dead_[i]->unique()) {
      drop.push_back(std::move(dead_[i]));
      dead_.erase(dead_.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

void HostTable::Shutdown(absl::Status why) {
  std::vector<base::Ref<pool::HostPool>> live;
  std::vector<base::Ref<pool::HostPool>> draining;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    shutdown_ = why;
    for (auto& [key, entry] : hosts_) live.push_back(std::move(entry.host));
    hosts_.clear();
    draining = closing_;
  }
  for (auto& host : draining) host->EndDrain(why);
  for (auto& host : live) Close(std::move(host), pool::HostPool::How::kNow, why);
  closing_count_.Begin();
  loop_.PostFunction([table = shared_from_this(), factory = factory_.lock()]() mutable {
    table->Stop();
    base::PendingCount& count = table->closing_count_;
    table.reset();
    factory.reset();  // before the count, as Close does
    count.End();
  });
}

}  // namespace weft::inline v0::channel
