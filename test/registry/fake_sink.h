// FakeSink: keeps what a resolver delivers.
#ifndef WEFT_TEST_REGISTRY_FAKE_SINK_H_
#define WEFT_TEST_REGISTRY_FAKE_SINK_H_

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "weft/resolver.h"

namespace weft::inline v0::registry {

// Thread-safe, but for `on_delivery`, which is set before.
class FakeSink final : public ResolverSink {
 public:
  void OnEndpoints(EndpointSet endpoints) override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      sets_.push_back(std::move(endpoints));
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
  std::vector<EndpointSet> sets() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return sets_;
  }
  std::vector<absl::Status> errors() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return errors_;
  }

  std::function<void()> on_delivery;

 private:
  mutable std::mutex mutex_;
  std::vector<EndpointSet> sets_;
  std::vector<absl::Status> errors_;
};

}  // namespace weft::inline v0::registry

#endif  // WEFT_TEST_REGISTRY_FAKE_SINK_H_
