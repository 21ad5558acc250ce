#include "channel/watch_table.h"

#include <utility>

namespace weft::inline v0::channel {

using registry::ServiceWatch;

std::shared_ptr<ServiceWatch> WatchTable::Find(const std::string& target) {
  const auto found = watches_.find(target);
  if (found == watches_.end()) return nullptr;
  found->second->Join();
  return found->second;
}

absl::StatusOr<std::shared_ptr<ServiceWatch>> WatchTable::Join(const std::string& target,
                                                               const RegistryOptions& options,
                                                               event::Loop& loop,
                                                               OpenResolver open) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (auto watch = Find(target)) return watch;
  }
  // A registry of the user's own may come back here.
  absl::StatusOr<std::unique_ptr<Resolver>> resolver = std::move(open)();
  if (!resolver.ok()) return resolver.status();
  std::lock_guard<std::mutex> lock(mutex_);
  if (auto watch = Find(target)) return watch;
  auto watch = std::make_shared<ServiceWatch>(
      loop, *std::move(resolver),
      ServiceWatch::Setup{.name = target,
                          .options = options,
                          .counters = &counters_,
                          .on_idle = [table = weak_from_this(), target] {
                            if (const auto alive = table.lock()) alive->OnIdle(target);
                          }});
  watch->Join();
  watches_.emplace(target, watch);
  return watch;
}

// On the watch's loop.
void WatchTable::OnIdle(const std::string& target) {
  std::shared_ptr<ServiceWatch> idle;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = watches_.find(target);
    // Shut down, or joined in the meantime.
    if (found == watches_.end() || !found->second->idle()) return;
    idle = std::move(found->second);
    watches_.erase(found);
  }
  idle->Close();
}

void WatchTable::Shutdown() {
  std::map<std::string, std::shared_ptr<ServiceWatch>> watches;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    watches.swap(watches_);
  }
  for (auto& [target, watch] : watches) {
    closing_.Begin();
    event::Loop& loop = watch->loop();
    loop.PostFunction(
        [watch = std::move(watch), factory = factory_.lock(), &closing = closing_]() mutable {
          watch->Close();
          watch.reset();
          factory.reset();  // before the count, as HostTable::Close does
          closing.End();
        });
  }
}

}  // namespace weft::inline v0::channel
