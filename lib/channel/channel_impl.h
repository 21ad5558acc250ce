// ChannelImpl: one target: its resolver, its cluster, and how the one feeds the other.
#ifndef WEFT_LIB_CHANNEL_CHANNEL_IMPL_H_
#define WEFT_LIB_CHANNEL_CHANNEL_IMPL_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "call/target.h"
#include "channel/endpoint_intake.h"
#include "channel/factory_impl.h"
#include "channel/health_watch.h"
#include "channel/load_prober.h"
#include "channel/service_config_source.h"
#include "net/tls.h"
#include "registry/service_watch.h"
#include "weft/channel.h"
#include "weft/host_info.h"
#include "weft/resolver.h"

namespace weft::inline v0::channel {

class ChannelImpl final : public call::Target, public std::enable_shared_from_this<ChannelImpl> {
 public:
  static absl::StatusOr<std::shared_ptr<ChannelImpl>> Create(std::shared_ptr<FactoryImpl> factory,
                                                             std::string_view target,
                                                             ChannelOptions options);
  ~ChannelImpl();

  absl::Status Refusal() const override { return factory_->Refusal(); }
  bool HasLoops() const override { return !factory_->Forked(); }
  // The first caller asks the registry. Cheap afterwards.
  void EnsureStarted() {
    if (!started_.load(std::memory_order_acquire)) Start();
  }
  absl::Status WaitForReady(absl::Duration timeout);
  absl::Status SetServiceConfig(std::string_view json);
  ChannelState State() const;
  void WhenStateIsNot(ChannelState from, absl::Duration timeout,
                      absl::AnyInvocable<void(bool) &&> done);
  // Whoever waits for a host ends with `why`; nothing is resolved any more. Any thread.
  void Close(const absl::Status& why);
  std::string DebugString() const;
  std::vector<HostInfo> Hosts() const;

 private:
  class Sink;

  ChannelImpl(std::shared_ptr<FactoryImpl> factory, std::string_view target,
              ChannelOptions options);
  void Start();
  absl::Status Join(std::string_view target);
  // From the watch, any thread.
  void OnEndpoints(const EndpointSet& endpoints);
  void OnError(absl::Status status);
  std::shared_ptr<cluster::Host> AcquireHost(const net::Address& address);
  BalancerFactory BalancerFor(const call::CallConfig* config) const;
  void OpenHealthWatch();
  void OpenLoadProber();

  const std::shared_ptr<FactoryImpl> factory_;
  ChannelOptions options_;
  std::shared_ptr<net::TlsContext> tls_;
  ServiceConfigSource service_config_;
  std::atomic<bool> started_{false};

  std::shared_ptr<HealthWatch> health_;  // null: no active checks
  base::Ref<LoadProber> prober_;         // null: no probes

  mutable std::mutex update_mutex_;  // one set at a time
  EndpointIntake intake_;
  std::string warning_;  // of the last one
  std::mutex watch_mutex_;
  std::shared_ptr<registry::ServiceWatch> watch_;
  std::shared_ptr<Sink> sink_;
  bool closed_ = false;
};

}  // namespace weft::inline v0::channel

#endif  // WEFT_LIB_CHANNEL_CHANNEL_IMPL_H_
