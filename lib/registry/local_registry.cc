// LocalRegistry: what the program says of its services, and who wants to hear it.
#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "weft/registries.h"

namespace weft::inline v0 {

// Its lock is held while sinks are told, so that all hear the same in the same order.
class LocalRegistry::State : public std::enable_shared_from_this<State> {
 public:
  std::unique_ptr<Resolver> Open(std::string_view service) {
    return std::make_unique<Opened>(shared_from_this(), std::string(service));
  }

  void SetEndpoints(std::string_view service, EndpointSet endpoints) {
    std::lock_guard<std::mutex> lock(mutex_);
    Service& known = ServiceOf(service);
    known.endpoints = std::move(endpoints);
    known.error = absl::OkStatus();
    for (const auto& sink : known.sinks) sink->OnEndpoints(*known.endpoints);
  }
  void SetServiceConfig(std::string_view service, std::string json) {
    std::lock_guard<std::mutex> lock(mutex_);
    Service& known = ServiceOf(service);
    known.config = std::move(json);
    for (const auto& sink : known.sinks) sink->OnServiceConfig(*known.config);
  }
  void SetError(std::string_view service, absl::Status why) {
    std::lock_guard<std::mutex> lock(mutex_);
    Service& known = ServiceOf(service);
    known.error = std::move(why);
    for (const auto& sink : known.sinks) sink->OnError(known.error);
  }

 private:
  struct Service {
    std::optional<EndpointSet> endpoints;
    std::optional<std::string> config;
    absl::Status error;
    std::vector<std::shared_ptr<ResolverSink>> sinks;
  };

  class Opened final : public Resolver {
   public:
    Opened(std::shared_ptr<State> state, std::string service)
        : state_(std::move(state)), service_(std::move(service)) {}
    ~Opened() override { state_->Remove(service_, sink_.get()); }
    void Start(std::shared_ptr<ResolverSink> sink) override {
      sink_ = sink;
      state_->Add(service_, std::move(sink));
    }

   private:
    const std::shared_ptr<State> state_;
    const std::string service_;
    std::shared_ptr<ResolverSink> sink_;
  };

  void Add(const std::string& name, std::shared_ptr<ResolverSink> sink) {
    std::lock_guard<std::mutex> lock(mutex_);
    Service& service = ServiceOf(name);
    if (service.config.has_value()) sink->OnServiceConfig(*service.config);
    if (service.endpoints.has_value()) sink->OnEndpoints(*service.endpoints);
    if (!service.error.ok()) sink->OnError(service.error);
    service.sinks.push_back(std::move(sink));
  }
  void Remove(const std::string& name, const ResolverSink* sink) {
    std::lock_guard<std::mutex> lock(mutex_);
    std::erase_if(ServiceOf(name).sinks, [sink](const auto& known) { return known.get() == sink; });
  }

  Service& ServiceOf(std::string_view name) {
    const auto [at, is_new] = services_.try_emplace(std::string(name));
    if (is_new) {
      at->second.error = absl::NotFoundError(
          absl::StrCat("nothing was said of the service \"", base::V(name), "\" yet"));
    }
    return at->second;
  }

  std::mutex mutex_;
  std::map<std::string, Service> services_;
};

LocalRegistry::LocalRegistry() : state_(std::make_shared<State>()) {}

Registry LocalRegistry::registry() const {
  return [state = state_](std::string_view service) -> absl::StatusOr<std::unique_ptr<Resolver>> {
    return state->Open(service);
  };
}

void LocalRegistry::SetEndpoints(std::string_view service, EndpointSet endpoints) {
  state_->SetEndpoints(service, std::move(endpoints));
}

void LocalRegistry::SetServiceConfig(std::string_view service, std::string json) {
  state_->SetServiceConfig(service, std::move(json));
}

void LocalRegistry::SetError(std::string_view service, absl::Status why) {
  state_->SetError(service, std::move(why));
}

}  // namespace weft::inline v0
