// ServiceWatch: one resolver, and all who want to hear what it says of its service: what
// weft/registry_options.h promises, for every registry.
//
//   resolver ─▶ config, error              ─▶ at once ───────────────▶ sinks
//            ─▶ set ─▶ coalesced ───────────▶ now or a little later ─▶ sinks, snapshot
//            ─▶ empty set ─▶ held back, unless something else comes ─▶ sinks
//   snapshot ─▶ where the resolver has no first set ─────────────────▶ sinks
#ifndef WEFT_LIB_REGISTRY_SERVICE_WATCH_H_
#define WEFT_LIB_REGISTRY_SERVICE_WATCH_H_

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "event/alarm.h"
#include "event/loop.h"
#include "registry/snapshot_file.h"
#include "telemetry/counters.h"
#include "weft/registry_options.h"
#include "weft/resolver.h"

namespace weft::inline v0::registry {

// INVALID_ARGUMENT names the field that is out of range.
absl::Status Validate(const RegistryOptions& options);

// Thread-safe. Made with std::make_shared; destroyed after Close. All sinks are told the same
// things in the same order, one at a time.
class ServiceWatch final : public std::enable_shared_from_this<ServiceWatch>, private event::Alarm {
 public:
  struct Setup {
    std::string name = {};                    // of the service: its snapshot's
    RegistryOptions options = {};             // valid
    telemetry::Counters* counters = nullptr;  // not null
    // It has lingered with nobody to use it. On the loop; who hears it may Close the watch.
    std::function<void()> on_idle = [] {};
  };

  ServiceWatch(event::Loop& loop, std::unique_ptr<Resolver> resolver, Setup setup);
  ~ServiceWatch();

  // Somebody uses it from now on, or does not any more; `sink`: what was given to Subscribe, if
  // anything was. A sink may hear one thing more that was being said.
  void Join();
  void Leave(const ResolverSink* sink);
  bool idle() const;

  // The first one starts the resolver. What is known is delivered within the call.
  void Subscribe(std::shared_ptr<ResolverSink> sink);

  event::Loop& loop() const { return loop_; }
  // What went wrong with the snapshot the last time.
  absl::Status snapshot_status() const;
  // On the loop. The resolver is destroyed; sinks hear nothing any more.
  void Close();

 private:
  class Input;
  using SetPointer = std::shared_ptr<const EndpointSet>;
  using Sinks = std::vector<std::shared_ptr<ResolverSink>>;

  // From the resolver, any thread.
  void OnEndpoints(const EndpointSet& endpoints);
  void OnError(absl::Status status);
  void OnServiceConfig(absl::StatusOr<std::string> json);

  void OnAlarm() override;
  // Tells the sinks the latest set, where that is due.
  void Deliver();
  void LoadSnapshot();
  void SaveSnapshot();
  // With mutex_.
  void Take(SetPointer set, bool of_registry);
  void SaveSoon();
  void EnsureByNext();
  static bool TakeDue(base::MonoTime& at, base::MonoTime now);

  event::Loop& loop_;
  const RegistryOptions options_;
  telemetry::Counters& counters_;
  const std::function<void()> on_idle_;
  std::optional<SnapshotFile> snapshot_;  // its files are the loop's

  std::mutex resolver_mutex_;  // while it is started
  std::mutex delivery_mutex_;  // while sinks are told; before mutex_

  mutable std::mutex mutex_;
  std::unique_ptr<Resolver> resolver_;  // resolver_mutex_'s
  bool started_ = false;
  bool closed_ = false;
  size_t users_ = 0;
  Sinks sinks_;
  SetPointer set_;            // the latest that is believed; null: none yet
  bool of_registry_ = false;  // and not of the snapshot
  bool holds_empty_ = false;  // the registry says that there are none
  std::optional<absl::StatusOr<std::string>> config_;
  absl::Status error_;  // since the last set
  absl::Status snapshot_status_;
  base::MonoTime earliest_{};  // the next delivery
  std::optional<base::MonoTime> saved_;
  // When something is due; kNever: it is not.
  base::MonoTime deliver_at_ = base::kNever;
  base::MonoTime believe_empty_at_ = base::kNever;
  base::MonoTime load_at_ = base::kNever;
  base::MonoTime save_at_ = base::kNever;
  base::MonoTime idle_at_ = base::kNever;
};

}  // namespace weft::inline v0::registry

#endif  // WEFT_LIB_REGISTRY_SERVICE_WATCH_H_
