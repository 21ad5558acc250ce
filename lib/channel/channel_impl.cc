#include "channel/channel_impl.h"

#include <algorithm>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "balance/named.h"
#include "base/strings.h"
#include "channel/state_wait.h"
#include "event/loop.h"
#include "event/wait_table.h"
#include "registry/file_resolver.h"
#include "registry/open.h"
#include "registry/static_resolver.h"
#include "registry/target.h"

namespace weft::inline v0::channel {
namespace {

absl::StatusOr<std::unique_ptr<Resolver>> OpenResolver(std::string_view text,
                                                       registry::Target target,
                                                       const Registry& registry,
                                                       event::Loop& loop) {
  switch (target.kind) {
    case registry::Target::Kind::kEndpoints:
      return std::make_unique<registry::StaticResolver>(std::move(target.endpoints));
    case registry::Target::Kind::kFile:
      return std::make_unique<registry::FileResolver>(loop, std::move(target.path));
    case registry::Target::Kind::kName:
      break;
  }
  if (registry == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("target \"", base::V(text),
                     "\" is a name, and the ChannelFactory has no registry (Options::registry) to "
                     "look it up in"));
  }
  return registry::OpenOnLoop(registry, target.name, loop);
}

SubsetOptions Named(SubsetOptions subset, FactoryImpl& factory) {
  if (subset.size > 0 && subset.client_name.empty())
    subset.client_name = absl::StrCat(factory.NewSeed());
  return subset;
}

}  // namespace

// What the watch delivers to; it may outlive the channel, and the channel does not live for it.
class ChannelImpl::Sink final : public ResolverSink {
 public:
  explicit Sink(std::weak_ptr<ChannelImpl> channel) : channel_(std::move(channel)) {}
  void OnEndpoints(const EndpointSet& endpoints) override {
    if (const auto channel = channel_.lock()) channel->OnEndpoints(endpoints);
  }
  void OnError(absl::Status status) override {
    if (const auto channel = channel_.lock()) channel->OnError(std::move(status));
  }
  void OnServiceConfig(absl::StatusOr<std::string> json) override {
    if (const auto channel = channel_.lock())
      channel->service_config_.SetOfRegistry(std::move(json));
  }

 private:
  const std::weak_ptr<ChannelImpl> channel_;
};

absl::StatusOr<std::shared_ptr<ChannelImpl>> ChannelImpl::Create(
    std::shared_ptr<FactoryImpl> factory, std::string_view target, ChannelOptions options) {
  if (absl::Status status = policy::Validate(options.retry); !status.ok()) return status;
  if (absl::Status status = policy::Validate(options.hedge); !status.ok()) return status;
  if (absl::Status status = cluster::Validate(options.outlier); !status.ok()) return status;
  if (absl::Status status = cluster::Validate(options.slow_start); !status.ok()) return status;
  if (absl::Status status = Validate(options.subset); !status.ok()) return status;
  if (absl::Status status = cluster::Validate(options.health_check); !status.ok()) return status;
  if (absl::Status status = Validate(options.load_probes); !status.ok()) return status;
  std::shared_ptr<ChannelImpl> channel(
      new ChannelImpl(std::move(factory), target, std::move(options)));
  if (channel->options_.tls.has_value()) {
    auto tls = channel->factory_->TlsContextFor(*channel->options_.tls);
    if (!tls.ok()) return tls.status();
    channel->tls_ = *std::move(tls);
  }
  channel->OpenHealthWatch();
  channel->OpenLoadProber();
  if (absl::Status status = channel->Join(target); !status.ok()) return status;
  absl::Status status =
      channel->service_config_.Open(channel->options_, channel->cluster->loop(), channel);
  if (!status.ok()) return status;
  return channel;
}

ChannelImpl::ChannelImpl(std::shared_ptr<FactoryImpl> factory, std::string_view target,
                         ChannelOptions options)
    : Target(options.retry, options.hedge),
      factory_(std::move(factory)),
      options_(std::move(options)),
      service_config_(factory_->counters(),
                      [this](auto config) {
                        // Its own is a program's last word.
                        if (options_.balancer == nullptr)
                          cluster->SetBalancer(BalancerFor(config.get()));
                        SetConfig(std::move(config));
                      }),
      intake_(Named(options_.subset, *factory_)) {
  name = std::string(target);
  authority = options_.authority;
  timeout = options_.timeout;
  cluster = base::MakeRef<cluster::Cluster>(
      name, factory_->NextLoop(),
      cluster::Membership::Options{.balancer = BalancerFor(nullptr),
                                   .seed = factory_->NewSeed(),
                                   .outlier = options_.outlier,
                                   .slow_start = options_.slow_start,
                                   .locality = factory_->options().locality,
                                   .counters = &factory_->counters()});
  clock = &factory_->clock();
  counters = &factory_->counters();
  random.Seed(factory_->NewSeed());
}

absl::Status ChannelImpl::Join(std::string_view text) {
  absl::StatusOr<registry::Target> target = registry::ParseTarget(text);
  if (!target.ok()) return target.status();
  RegistryOptions options = factory_->options().registry_options;
  // A file is as near as its snapshot would be.
  if (target->kind != registry::Target::Kind::kName) options.snapshot_directory.clear();
  event::Loop& loop = cluster->loop();
  auto watch = factory_->watches().Join(std::string(text), options, loop, [&] {
    return OpenResolver(text, *std::move(target), factory_->options().registry, loop);
  });
  if (!watch.ok()) return watch.status();
  watch_ = *std::move(watch);
  return absl::OkStatus();
}

BalancerFactory ChannelImpl::BalancerFor(const call::CallConfig* config) const {
  if (options_.balancer != nullptr) return options_.balancer;
  if (config != nullptr && !config->service->balancer().empty())
    return balance::Named(config->service->balancer());
  return DefaultBalancer();
}

void ChannelImpl::OpenHealthWatch() {
  if (options_.health_check.kind == HealthCheckOptions::Kind::kNone) return;
  health_ = std::make_shared<HealthWatch>(
      HostCheck::Common{.loop = cluster->loop(),
                        .options = options_.health_check,
                        .authority = authority,
                        .factory = factory_,
                        .on_change = [cluster = cluster] { cluster->OnHealthChange(); }},
      factory_->NewSeed());
  // The watch keeps the cluster, so not the other way round.
  cluster->SetChecks([weak = std::weak_ptr<HealthWatch>(health_)](const cluster::Host& host) {
    const std::shared_ptr<HealthWatch> watch = weak.lock();
    return watch == nullptr || watch->StateOf(host) == HealthWatch::State::kHealthy;
  });
}

void ChannelImpl::OpenLoadProber() {
  if (options_.load_probes.path.empty()) return;
  prober_ = base::MakeRef<LoadProber>(LoadProber::Setup{.options = options_.load_probes,
                                                        .cluster = cluster,
                                                        .authority = authority,
                                                        .factory = factory_,
                                                        .counters = counters,
                                                        .seed = factory_->NewSeed()});
  begin_listener = prober_.get();
}

ChannelImpl::~ChannelImpl() {
  if (factory_->Forked()) {
    // They would talk to their loop, which has no thread here.
    new std::shared_ptr<registry::ServiceWatch>(std::move(watch_));
    service_config_.Leak();
    (void)cluster.Leak();
    (void)prober_.Leak();
    new EndpointIntake(std::move(intake_));
    new std::shared_ptr<HealthWatch>(std::move(health_));  // likewise
    return;
  }
  Close(absl::CancelledError("the channel is gone"));
}

void ChannelImpl::Start() {
  // Under the lock: nobody else goes on before what is known was delivered.
  if (factory_->Forked()) return;  // the lock may have been held by a thread that is not here
  std::lock_guard<std::mutex> lock(watch_mutex_);
  if (closed_ || started_.load(std::memory_order_relaxed)) return;
  sink_ = std::make_shared<Sink>(weak_from_this());
  watch_->Subscribe(sink_);
  started_.store(true, std::memory_order_release);
}

void ChannelImpl::OnEndpoints(const EndpointSet& endpoints) {
  std::lock_guard<std::mutex> lock(update_mutex_);
  EndpointIntake::Taken taken =
      intake_.Take(endpoints, [this](const net::Address& address) { return AcquireHost(address); });
  counters->endpoints_skipped.Add(taken.skipped);
  warning_ = std::move(taken.warning);
  // A set of which nothing can be used is a mistake: the last good one stays. One that is empty is
  // believed; the watch has held it back.
  if (taken.set.empty() && (!endpoints.empty() || !cluster->has_hosts())) {
    counters->resolver_errors.Add();
    cluster->SetError(absl::UnavailableError(
        absl::StrCat("the registry gave no usable endpoint (", taken.skipped, " unusable)")));
    return;
  }
  cluster->Update(std::move(taken.set));
  if (health_ == nullptr) return;
  std::vector<base::Ref<pool::HostPool>> checked;
  const cluster::HostList hosts = cluster->hosts();
  for (const PickerHost& entry : *hosts) {
    if (entry.endpoint->draining) continue;
    checked.push_back(base::Ref<pool::HostPool>::Share(static_cast<pool::HostPool*>(entry.host)));
  }
  health_->SetHosts(std::move(checked));
}

std::shared_ptr<cluster::Host> ChannelImpl::AcquireHost(const net::Address& address) {
  std::shared_ptr<cluster::Host> host =
      factory_->AcquireHost(address, options_.tls, tls_, authority);
  host->Connect();
  return host;
}

void ChannelImpl::OnError(absl::Status status) {
  // Whatever a resolver met: to a call it is that no host is known.
  cluster->SetError(absl::UnavailableError(status.message()));
}

absl::Status ChannelImpl::WaitForReady(absl::Duration wait) {
  if (event::OnAnyLoop())
    return absl::FailedPreconditionError("WaitForReady would block a loop thread");
  if (absl::Status refusal = Refusal(); !refusal.ok()) return refusal;
  EnsureStarted();
  event::Waiter waiter;
  absl::Status status;
  base::MakeRef<StateWait>(
      cluster, [](ChannelState state) { return state == ChannelState::kReady; },
      base::After(clock->Now(), wait),
      [&](absl::Status ended) {
        status = std::move(ended);
        event::WakeBatch wakes;
        waiter.Complete(wakes);
        wakes.Wake();
      })
      ->Begin();
  waiter.Wait();
  if (status.ok()) return status;
  const cluster::Choice choice = cluster->Pick({}, /*wait_for_ready=*/false);
  return absl::Status(status.code(),
                      absl::StrCat(name, ": no host was connected: ", status.message(),
                                   choice.status.ok() ? "" : "; ", choice.status.message()));
}

absl::Status ChannelImpl::SetServiceConfig(std::string_view json) {
  // In a forked child a lock may be held by a thread that is not here.
  if (factory_->Forked()) return Refusal();
  return service_config_.SetOfProgram(json);
}

ChannelState ChannelImpl::State() const {
  if (!Refusal().ok()) return ChannelState::kClosed;
  return started_.load(std::memory_order_acquire) ? StateOf(*cluster) : ChannelState::kIdle;
}

void ChannelImpl::WhenStateIsNot(ChannelState from, absl::Duration wait,
                                 absl::AnyInvocable<void(bool) &&> done) {
  if (!HasLoops()) {  // a forked child: nobody would ever tell
    std::thread([from, done = std::move(done)]() mutable {
      std::move(done)(from != ChannelState::kClosed);
    }).detach();
    return;
  }
  // Keeps the factory: without it there is no loop to tell it on.
  auto tell = [cluster = cluster, factory = factory_,
               done = std::move(done)](bool changed) mutable {
    cluster->loop().PostFunction([factory, done = std::move(done), changed]() mutable {
      event::UserCode user;
      std::move(done)(changed);
    });
  };
  if (State() != from) {
    tell(true);
    return;
  }
  EnsureStarted();
  base::MakeRef<StateWait>(
      cluster, [from](ChannelState state) { return state != from; },
      base::After(clock->Now(), wait),
      [tell = std::move(tell)](absl::Status status) mutable { tell(status.ok()); })
      ->Begin();
}

void ChannelImpl::Close(const absl::Status& why) {
  {
    std::lock_guard<std::mutex> lock(watch_mutex_);
    if (std::exchange(closed_, true)) return;
    if (watch_ != nullptr) watch_->Leave(sink_.get());
  }
  service_config_.Close();
  base::PendingCount& closing = factory_->closing();
  closing.Begin();
  cluster->loop().PostFunction([cluster = cluster, health = health_, prober = prober_,
                                factory = factory_, why, &closing]() mutable {
    cluster->Close(why);
    if (health != nullptr) health->Close();
    health.reset();
    if (prober) prober->Close();
    prober = nullptr;
    factory.reset();  // before the count, as HostTable::Close does
    closing.End();
  });
}

std::string ChannelImpl::DebugString() const {
  std::string text = absl::StrCat(name, "\n");
  if (const absl::Status error = cluster->error(); !error.ok())
    absl::StrAppend(&text, "  resolver: ", error.message(), "\n");
  if (const absl::Status status = watch_->snapshot_status(); !status.ok())
    absl::StrAppend(&text, "  snapshot: ", status.message(), "\n");
  {
    std::lock_guard<std::mutex> lock(update_mutex_);
    if (!warning_.empty()) absl::StrAppend(&text, "  endpoint skipped: ", warning_, "\n");
  }
  absl::StrAppend(&text, service_config_.DebugString());
  for (const HostInfo& host : Hosts()) {
    absl::StrAppend(&text, "  ", host.endpoint.address, "  ", base::V(HostStateName(host.state)),
                    "  in flight ", host.in_flight);
    if (host.endpoint.draining) absl::StrAppend(&text, "  draining");
    if (host.fails_checks) absl::StrAppend(&text, "  fails its health checks");
    if (host.ejected) absl::StrAppend(&text, "  ejected: ", host.why_ejected);
    if (!host.last_error.empty()) absl::StrAppend(&text, "  last: ", host.last_error);
    absl::StrAppend(&text, "\n");
  }
  return text;
}

std::vector<HostInfo> ChannelImpl::Hosts() const {
  std::vector<HostInfo> infos;
  if (factory_->Forked()) return infos;  // a lock may be held by a thread that is not here
  const base::MonoTime now = clock->Now();
  for (cluster::Membership::Standing& standing : cluster->Standings()) {
    const cluster::Host& host = *standing.host;
    const HostView::Reported reported = host.reported();
    HostInfo& info = infos.emplace_back();
    info.endpoint = *standing.endpoint;
    info.state = host.state();
    info.last_error = std::string(host.last_error().message());
    info.in_flight = host.in_flight();
    info.latency = absl::FromChrono(host.latency(now));
    info.weight = standing.weight;
    info.ejected = standing.ejected;
    info.why_ejected = std::move(standing.why);
    info.fails_checks = standing.fails_checks;
    info.report = reported.report;
    if (reported.at != base::MonoTime::min()) info.report_age = absl::FromChrono(now - reported.at);
  }
  return infos;
}

}  // namespace weft::inline v0::channel
