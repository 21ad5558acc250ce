#include "registry/joined_resolver.h"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "weft/registries.h"

namespace weft::inline v0::registry {

// What the sources have said. Its lock is held while the sink is told, so that what it hears last
// is what holds.
class JoinedResolver::Joint {
 public:
  Joint(Kind kind, size_t sources, std::shared_ptr<ResolverSink> sink)
      : kind_(kind), sink_(std::move(sink)), sources_(sources) {}

  void OnEndpoints(size_t source, const EndpointSet& endpoints) {
    std::lock_guard<std::mutex> lock(mutex_);
    sources_[source].endpoints = endpoints;
    sink_->OnEndpoints(kind_ == Kind::kFirst ? First() : All());
  }
  void OnError(absl::Status status) {
    std::lock_guard<std::mutex> lock(mutex_);
    sink_->OnError(std::move(status));
  }
  void OnServiceConfig(size_t source, absl::StatusOr<std::string> json) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!json.ok()) {
      sink_->OnServiceConfig(json.status());
      return;
    }
    sources_[source].config = *std::move(json);
    const auto has_config = [](const Source& known) { return !known.config.empty(); };
    const auto first = std::find_if(sources_.begin(), sources_.end(), has_config);
    sink_->OnServiceConfig(first == sources_.end() ? std::string() : first->config);
  }

 private:
  struct Source {
    EndpointSet endpoints;
    std::string config;
  };

  EndpointSet First() const {
    for (const Source& source : sources_) {
      if (!source.endpoints.empty()) return source.endpoints;
    }
    return {};
  }
  EndpointSet All() const {
    EndpointSet all;
    std::unordered_set<std::string_view> addresses;
    for (const Source& source : sources_) {
      for (const auto& endpoint : source.endpoints) {
        if (endpoint != nullptr && addresses.insert(endpoint->address).second)
          all.push_back(endpoint);
      }
    }
    return all;
  }

  const Kind kind_;
  const std::shared_ptr<ResolverSink> sink_;
  std::mutex mutex_;
  std::vector<Source> sources_;
};

class JoinedResolver::Part final : public ResolverSink {
 public:
  Part(std::shared_ptr<Joint> joint, size_t source) : joint_(std::move(joint)), source_(source) {}
  void OnEndpoints(const EndpointSet& endpoints) override {
    joint_->OnEndpoints(source_, endpoints);
  }
  void OnError(absl::Status status) override { joint_->OnError(std::move(status)); }
  void OnServiceConfig(absl::StatusOr<std::string> json) override {
    joint_->OnServiceConfig(source_, std::move(json));
  }

 private:
  const std::shared_ptr<Joint> joint_;
  const size_t source_;
};

JoinedResolver::JoinedResolver(Kind kind, std::vector<std::unique_ptr<Resolver>> sources)
    : kind_(kind), sources_(std::move(sources)) {}

JoinedResolver::~JoinedResolver() = default;

void JoinedResolver::Start(std::shared_ptr<ResolverSink> sink) {
  const auto joint = std::make_shared<Joint>(kind_, sources_.size(), std::move(sink));
  for (size_t i = 0; i < sources_.size(); ++i) sources_[i]->Start(std::make_shared<Part>(joint, i));
}

namespace {

Registry Joined(JoinedResolver::Kind kind, std::vector<Registry> registries) {
  return [kind, registries = std::move(registries)](
             std::string_view name) -> absl::StatusOr<std::unique_ptr<Resolver>> {
    std::vector<std::unique_ptr<Resolver>> sources;
    absl::Status refused = absl::InvalidArgumentError("there is no registry to ask");
    for (size_t i = 0; i < registries.size(); ++i) {
      absl::StatusOr<std::unique_ptr<Resolver>> source = registries[i](name);
      if (source.ok()) {
        sources.push_back(*std::move(source));
      } else if (i == 0) {
        refused = source.status();
      }
    }
    if (sources.empty()) return refused;
    return std::make_unique<JoinedResolver>(kind, std::move(sources));
  };
}

}  // namespace
}  // namespace weft::inline v0::registry

namespace weft::inline v0 {

Registry FallbackRegistry(std::vector<Registry> registries) {
  return registry::Joined(registry::JoinedResolver::Kind::kFirst, std::move(registries));
}

Registry MergedRegistry(std::vector<Registry> registries) {
  return registry::Joined(registry::JoinedResolver::Kind::kAll, std::move(registries));
}

}  // namespace weft::inline v0
