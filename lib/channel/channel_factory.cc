#include "weft/channel_factory.h"

#include <utility>

#include "channel/channel_impl.h"
#include "channel/factory_impl.h"
#include "event/loop.h"

namespace weft::inline v0 {

absl::StatusOr<std::shared_ptr<ChannelFactory>> ChannelFactory::Create(Options options) {
  absl::StatusOr<std::shared_ptr<channel::FactoryImpl>> impl =
      channel::FactoryImpl::Create(std::move(options));
  if (!impl.ok()) return impl.status();
  return std::shared_ptr<ChannelFactory>(new ChannelFactory(*std::move(impl)));
}

ChannelFactory::ChannelFactory(std::shared_ptr<channel::FactoryImpl> impl)
    : impl_(std::move(impl)) {}

ChannelFactory::~ChannelFactory() {
  event::WeftCode weft;
  impl_->Shutdown();
  impl_.reset();
}

absl::StatusOr<std::shared_ptr<Channel>> ChannelFactory::GetChannel(std::string_view target) {
  return GetChannel(target, impl_->options().channel);
}

absl::StatusOr<std::shared_ptr<Channel>> ChannelFactory::GetChannel(std::string_view target,
                                                                    ChannelOptions options) {
  event::WeftCode weft;
  absl::StatusOr<std::shared_ptr<channel::ChannelImpl>> channel =
      impl_->Open(target, std::move(options));
  if (!channel.ok()) return channel.status();
  return std::make_shared<Channel>(*std::move(channel));
}

FactoryStats ChannelFactory::Stats() const {
  const telemetry::Counters& c = impl_->counters();
  FactoryStats stats;
  stats.dials = c.dials.value();
  stats.dial_failures = c.dial_failures.value();
  stats.connections_opened = c.connections_opened.value();
  stats.connections_lost = c.connections_lost.value();
  stats.streams_opened = c.streams_opened.value();
  stats.transparent_retries = c.transparent_retries.value();
  stats.bounces = c.bounces.value();
  stats.retries = c.retries.value();
  stats.retries_refused_by_budget = c.retries_refused_by_budget.value();
  stats.hedges = c.hedges.value();
  stats.hedges_refused_by_budget = c.hedges_refused_by_budget.value();
  stats.hedges_won = c.hedges_won.value();
  stats.resets_sent = c.resets_sent.value();
  stats.losers_drained = c.losers_drained.value();
  stats.keepalive_timeouts = c.keepalive_timeouts.value();
  stats.protocol_errors = c.protocol_errors.value();
  stats.ejections = c.ejections.value();
  stats.ejections_spared = c.ejections_spared.value();
  stats.panics = c.panics.value();
  stats.load_probes = c.load_probes.value();
  stats.load_probes_failed = c.load_probes_failed.value();
  stats.resolver_errors = c.resolver_errors.value();
  stats.empty_sets_held = c.empty_sets_held.value();
  stats.snapshots_used = c.snapshots_used.value();
  stats.snapshot_failures = c.snapshot_failures.value();
  stats.endpoints_skipped = c.endpoints_skipped.value();
  stats.service_configs_refused = c.service_configs_refused.value();
  stats.slow_callbacks = c.slow_turns.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace weft::inline v0
