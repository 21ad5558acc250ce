// WatchTable: the watches of a factory's targets, each once, however many channels have the target:
// this is where "a client watches only the services it calls" comes from.
#ifndef WEFT_LIB_CHANNEL_WATCH_TABLE_H_
#define WEFT_LIB_CHANNEL_WATCH_TABLE_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "base/pending_count.h"
#include "event/loop.h"
#include "registry/service_watch.h"
#include "telemetry/counters.h"
#include "weft/registry_options.h"
#include "weft/resolver.h"

namespace weft::inline v0::channel {

// Thread-safe. Made with std::make_shared.
class WatchTable : public std::enable_shared_from_this<WatchTable> {
 public:
  using OpenResolver = absl::AnyInvocable<absl::StatusOr<std::unique_ptr<Resolver>>() &&>;

  // Watches that close keep `factory` alive and are counted in `closing`; it and `counters` are
  // parts of it.
  WatchTable(std::weak_ptr<void> factory, base::PendingCount& closing,
             telemetry::Counters& counters)
      : factory_(std::move(factory)), closing_(closing), counters_(counters) {}

  // The watch of `target`, joined: the caller has to Leave it. Where it is new, `open` gives its
  // resolver, for `loop`, or the error that is returned.
  absl::StatusOr<std::shared_ptr<registry::ServiceWatch>> Join(const std::string& target,
                                                               const RegistryOptions& options,
                                                               event::Loop& loop,
                                                               OpenResolver open);

  // Closes all of them. Nothing may be joined any more.
  void Shutdown();

 private:
  std::shared_ptr<registry::ServiceWatch> Find(const std::string& target);
  void OnIdle(const std::string& target);

  const std::weak_ptr<void> factory_;
  base::PendingCount& closing_;
  telemetry::Counters& counters_;
  std::mutex mutex_;  // before those of watches
  std::map<std::string, std::shared_ptr<registry::ServiceWatch>> watches_;
};

}  // namespace weft::inline v0::channel

#endif  // WEFT_LIB_CHANNEL_WATCH_TABLE_H_
