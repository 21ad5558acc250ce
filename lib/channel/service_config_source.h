// ServiceConfigSource: which service config holds for a channel, and why another does not.
//
// There are two that give one. The registry's holds while it gives one, and the program's is the
// default, as with gRPC's channel arguments: who runs a service knows more about calling it than
// who wrote a client. One that is refused changes nothing, whoever gave it.
#ifndef WEFT_LIB_CHANNEL_SERVICE_CONFIG_SOURCE_H_
#define WEFT_LIB_CHANNEL_SERVICE_CONFIG_SOURCE_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "call/target.h"
#include "event/loop.h"
#include "policy/service_config.h"
#include "registry/poll.h"
#include "telemetry/counters.h"
#include "weft/channel.h"

namespace weft::inline v0::channel {

// Thread-safe, but for Open, Close and Leak.
class ServiceConfigSource {
 public:
  // Given each config that comes to hold, null where none does any more; in order, with a lock
  // held.
  using Publish = std::function<void(std::shared_ptr<const call::CallConfig>)>;

  ServiceConfigSource(telemetry::Counters& counters, Publish publish)
      : counters_(counters), publish_(std::move(publish)) {}

  // What `options` say, before all else. Their file is looked at on `loop` from then on; `owner`
  // keeps this alive.
  absl::Status Open(const ChannelOptions& options, event::Loop& loop, std::weak_ptr<void> owner);

  // Not OK: it is refused.
  absl::Status SetOfProgram(std::string_view json);
  // Empty: the registry has none.
  void SetOfRegistry(absl::StatusOr<std::string> json);

  // Nothing is looked at any more.
  void Close() { poll_.reset(); }
  // Instead of Close, in a child of the process whose thread the loop has.
  void Leak() { (void)poll_.release(); }

  // Lines for Channel::DebugString: what holds, and the refusals that nothing good followed on.
  std::string DebugString() const;

 private:
  using Parsed = absl::StatusOr<std::shared_ptr<const policy::ServiceConfig>>;
  struct Given {
    std::shared_ptr<const policy::ServiceConfig> config;  // the last that was not refused
    absl::Status refusal;                                 // OK: none since then
  };

  absl::Status TakeFile(const std::string& path, const absl::StatusOr<std::string>& content);
  absl::Status Take(Given& from, Parsed config);

  telemetry::Counters& counters_;
  const Publish publish_;
  std::unique_ptr<registry::Poll> poll_;

  mutable std::mutex mutex_;
  Given registry_;
  Given program_;
  std::shared_ptr<const call::CallConfig> in_force_;
};

}  // namespace weft::inline v0::channel

#endif  // WEFT_LIB_CHANNEL_SERVICE_CONFIG_SOURCE_H_
