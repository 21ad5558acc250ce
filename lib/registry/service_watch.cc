#include "registry/service_watch.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace weft::inline v0::registry {
namespace {

// Without a word of the registry, a snapshot is as good as nothing else.
constexpr base::MonoDuration kFirstSetWithin = std::chrono::seconds(1);
constexpr base::MonoDuration kBetweenSaves = std::chrono::seconds(10);

absl::Status CheckRange(std::string_view field, absl::Duration value, absl::Duration most,
                        std::string_view range) {
  // Written so that an infinite one is out of range where `most` is not.
  if (value >= absl::ZeroDuration() && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("RegistryOptions::", base::V(field), " must be ", base::V(range)));
}

}  // namespace

absl::Status Validate(const RegistryOptions& options) {
  for (const absl::Status& status :
       {CheckRange("coalesce", options.coalesce, absl::Minutes(1), "from 0 to 1 min"),
        CheckRange("empty_hold", options.empty_hold, absl::InfiniteDuration(), "0 or more"),
        CheckRange("linger", options.linger, absl::Hours(1), "from 0 to 1 h")}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// What the resolver delivers to; it may keep it for longer than the watch lives.
class ServiceWatch::Input final : public ResolverSink {
 public:
  explicit Input(std::weak_ptr<ServiceWatch> watch) : watch_(std::move(watch)) {}
  void OnEndpoints(const EndpointSet& endpoints) override {
    if (const auto watch = watch_.lock()) watch->OnEndpoints(endpoints);
  }
  void OnError(absl::Status status) override {
    if (const auto watch = watch_.lock()) watch->OnError(std::move(status));
  }
  void OnServiceConfig(absl::StatusOr<std::string> json) override {
    if (const auto watch = watch_.lock()) watch->OnServiceConfig(std::move(json));
  }

 private:
  const std::weak_ptr<ServiceWatch> watch_;
};

ServiceWatch::ServiceWatch(event::Loop& loop, std::unique_ptr<Resolver> resolver, Setup setup)
    : Alarm(loop),
      loop_(loop),
      options_(std::move(setup.options)),
      counters_(*setup.counters),
      on_idle_(std::move(setup.on_idle)),
      resolver_(std::move(resolver)) {
  if (!options_.snapshot_directory.empty())
    snapshot_.emplace(options_.snapshot_directory, setup.name);
}

ServiceWatch::~ServiceWatch() = default;

void ServiceWatch::Join() {
  std::lock_guard<std::mutex> lock(mutex_);
  ++users_;
  idle_at_ = base::kNever;
}

void ServiceWatch::Leave(const ResolverSink* sink) {
  std::shared_ptr<ResolverSink> gone;  // after the lock
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(sinks_.begin(), sinks_.end(),
                                  [sink](const auto& known) { return known.get() == sink; });
  if (found != sinks_.end()) {
    gone = std::move(*found);
    sinks_.erase(found);
  }
  if (--users_ > 0) return;
  idle_at_ = base::After(loop_.clock().Now(), options_.linger);
  EnsureByNext();
}

bool ServiceWatch::idle() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return users_ == 0;
}

void ServiceWatch::Subscribe(std::shared_ptr<ResolverSink> sink) {
  bool start = false;
  {
    std::lock_guard<std::mutex> delivery(delivery_mutex_);
    SetPointer set;
    std::optional<absl::StatusOr<std::string>> config;
    absl::Status error;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (closed_) return;
      start = !std::exchange(started_, true);
      if (start && snapshot_.has_value())
        load_at_ = base::After(loop_.clock().Now(), kFirstSetWithin);
      sinks_.push_back(sink);
      set = set_;
      config = config_;
      error = error_;
      EnsureByNext();
    }
    if (config.has_value()) sink->OnServiceConfig(*std::move(config));
    if (set != nullptr) {
      sink->OnEndpoints(*set);
    } else if (!error.ok()) {
      sink->OnError(std::move(error));
    }
  }
  if (!start) return;
  // It may deliver within the call, so only what Close needs is locked.
  std::lock_guard<std::mutex> lock(resolver_mutex_);
  if (resolver_ != nullptr) resolver_->Start(std::make_shared<Input>(weak_from_this()));
}

void ServiceWatch::OnEndpoints(const EndpointSet& endpoints) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return;
    error_ = absl::OkStatus();
    const bool had_some = set_ != nullptr && !set_->empty();
    if (endpoints.empty() && had_some && options_.empty_hold > absl::ZeroDuration()) {
      if (std::exchange(holds_empty_, true)) return;
      counters_.empty_sets_held.Add();
      believe_empty_at_ = base::After(loop_.clock().Now(), options_.empty_hold);
      EnsureByNext();
      return;
    }
    // The same objects: a registry that flaps costs no more than to look.
    const bool same = set_ != nullptr && *set_ == endpoints;
    Take(same ? set_ : std::make_shared<const EndpointSet>(endpoints), /*of_registry=*/true);
    if (same) return;
  }
  Deliver();
}

void ServiceWatch::OnError(absl::Status status) {
  counters_.resolver_errors.Add();
  std::lock_guard<std::mutex> delivery(delivery_mutex_);
  Sinks sinks;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return;
    error_ = status;
    if (load_at_ != base::kNever) {  // the snapshot may be better to tell than this
      load_at_ = loop_.clock().Now();
      EnsureByNext();
      return;
    }
    sinks = sinks_;
  }
  for (const auto& sink : sinks) sink->OnError(status);
}

void ServiceWatch::OnServiceConfig(absl::StatusOr<std::string> json) {
  std::lock_guard<std::mutex> delivery(delivery_mutex_);
  Sinks sinks;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return;
    config_ = json;
    sinks = sinks_;
    if (json.ok()) SaveSoon();
    EnsureByNext();
  }
  for (const auto& sink : sinks) sink->OnServiceConfig(json);
}

void ServiceWatch::Take(SetPointer set, bool of_registry) {
  holds_empty_ = false;
  believe_empty_at_ = base::kNever;
  load_at_ = base::kNever;
  of_registry_ = of_registry;
  if (set == set_) return;
  set_ = std::move(set);
  deliver_at_ = std::max(loop_.clock().Now(), earliest_);
  if (of_registry && !set_->empty()) SaveSoon();
}

void ServiceWatch::Deliver() {
  std::lock_guard<std::mutex> delivery(delivery_mutex_);
  SetPointer set;
  Sinks sinks;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return;
    const base::MonoTime now = loop_.clock().Now();
    const bool due = deliver_at_ <= now;
    if (due) {
      deliver_at_ = base::kNever;
      earliest_ = base::After(now, options_.coalesce);
      set = set_;
      sinks = sinks_;
    }
    EnsureByNext();
  }
  for (const auto& sink : sinks) sink->OnEndpoints(*set);
}

void ServiceWatch::OnAlarm() {
  const std::shared_ptr<ServiceWatch> until_return = shared_from_this();
  bool load = false;
  bool save = false;
  bool idle = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return;
    const base::MonoTime now = loop_.now();
    if (believe_empty_at_ <= now) Take(std::make_shared<const EndpointSet>(), /*of_registry=*/true);
    load = TakeDue(load_at_, now);
    save = TakeDue(save_at_, now);
    idle = TakeDue(idle_at_, now) && users_ == 0;
  }
  if (load) LoadSnapshot();
  Deliver();
  if (save) SaveSnapshot();
  if (idle) on_idle_();
}

bool ServiceWatch::TakeDue(base::MonoTime& at, base::MonoTime now) {
  if (at > now) return false;
  at = base::kNever;
  return true;
}

void ServiceWatch::LoadSnapshot() {
  absl::StatusOr<SnapshotFile::Content> content = snapshot_->Load();
  std::lock_guard<std::mutex> delivery(delivery_mutex_);
  Sinks sinks;
  absl::Status error;
  bool tells_config = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_ || set_ != nullptr) return;  // the registry has spoken meanwhile
    sinks = sinks_;
    if (content.ok()) {
      counters_.snapshots_used.Add();
      tells_config = !content->service_config.empty() && !config_.has_value();
      if (tells_config) config_ = content->service_config;
      Take(std::make_shared<const EndpointSet>(MakeEndpointSet(std::move(content->endpoints))),
           /*of_registry=*/false);
    } else {
      snapshot_status_ = content.status();
      error = error_;
    }
  }
  for (const auto& sink : sinks) {
    if (tells_config) sink->OnServiceConfig(content->service_config);
    if (!error.ok()) sink->OnError(error);
  }
}

void ServiceWatch::SaveSoon() {
  if (!snapshot_.has_value() || !of_registry_) return;
  save_at_ = saved_.has_value() ? base::After(*saved_, kBetweenSaves) : loop_.clock().Now();
}

void ServiceWatch::SaveSnapshot() {
  SetPointer set;
  std::string config;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (set_ == nullptr || set_->empty()) return;
    saved_ = loop_.now();
    set = set_;
    if (config_.has_value() && config_->ok()) config = **config_;
  }
  absl::Status status = snapshot_->Save(*set, config);
  if (!status.ok()) counters_.snapshot_failures.Add();
  std::lock_guard<std::mutex> lock(mutex_);
  snapshot_status_ = std::move(status);
}

absl::Status ServiceWatch::snapshot_status() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return snapshot_status_;
}

void ServiceWatch::EnsureByNext() {
  EnsureBy(std::min({deliver_at_, believe_empty_at_, load_at_, save_at_, idle_at_}));
}

void ServiceWatch::Close() {
  std::unique_ptr<Resolver> resolver;
  Sinks sinks;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (std::exchange(closed_, true)) return;
    sinks.swap(sinks_);
    Stop();
  }
  {
    std::lock_guard<std::mutex> lock(resolver_mutex_);
    resolver = std::move(resolver_);
  }
}

}  // namespace weft::inline v0::registry
