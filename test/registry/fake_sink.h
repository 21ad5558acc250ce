// FakeSink: keeps what a resolver delivers.
#ifndef WEFT_TEST_REGISTRY_FAKE_SINK_H_
#define WEFT_TEST_REGISTRY_FAKE_SINK_H_

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/resolver.h"

namespace weft::inline v0::registry {

// Thread-safe, but for `on_delivery`, which is set before.
class FakeSink final : public ResolverSink {
 public:
  void OnEndpoints(const EndpointSet& endpoints) override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      std::vector<Endpoint>& set = sets_.emplace_back();
      for (const auto& endpoint : endpoints) set.push_back(*endpoint);
    }
    if (on_delivery) on_delivery();
  }
  void OnError(absl::Status status) override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      errors_.push_back(std::move(status));
    }
    if (on_delivery) on_delivery();
  }
  void OnServiceConfig(absl::StatusOr<std::string> json) override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      service_configs_.push_back(std::move(json));
      sets_at_service_config_ = sets_.size();
    }
    if (on_delivery) on_delivery();
  }
  std::vector<std::vector<Endpoint>> sets() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return sets_;
  }
  std::vector<absl::Status> errors() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return errors_;
  }
  std::vector<absl::StatusOr<std::string>> service_configs() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return service_configs_;
  }
  // How many sets had come before the last service config.
  size_t sets_at_service_config() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return sets_at_service_config_;
  }

  std::function<void()> on_delivery;

 private:
  mutable std::mutex mutex_;
  std::vector<std::vector<Endpoint>> sets_;
  std::vector<absl::Status> errors_;
  std::vector<absl::StatusOr<std::string>> service_configs_;
  size_t sets_at_service_config_ = 0;
};

}  // namespace weft::inline v0::registry

#endif  // WEFT_TEST_REGISTRY_FAKE_SINK_H_
