// PushedRegistry: a registry with one service, whose endpoints and service config the test gives.
//
//   PushedRegistry pushed;
//   pushed.endpoints = {{.address = "10.0.0.1:80"}};  // delivered by Start
//   SimClient client(env, "service", {.registry = pushed.registry()});
//   // Once the channel was used:
//   pushed.sink->OnEndpoints(MakeEndpointSet({{.address = "10.0.0.2:80"}}));
#ifndef WEFT_TEST_SUPPORT_PUSHED_REGISTRY_H_
#define WEFT_TEST_SUPPORT_PUSHED_REGISTRY_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "weft/resolver.h"

namespace weft::inline v0::testing {

struct PushedRegistry {
  // Its resolvers refer to this.
  Registry registry() {
    return [this](std::string_view) -> absl::StatusOr<std::unique_ptr<Resolver>> {
      return std::make_unique<Pushing>(*this);
    };
  }

  std::vector<Endpoint> endpoints;
  std::optional<std::string> service_config;  // unset: none is delivered
  std::shared_ptr<ResolverSink> sink;         // of the channel that started last

 private:
  class Pushing final : public Resolver {
   public:
    explicit Pushing(PushedRegistry& pushed) : pushed_(pushed) {}
    void Start(std::shared_ptr<ResolverSink> to) override {
      pushed_.sink = std::move(to);
      if (pushed_.service_config) pushed_.sink->OnServiceConfig(*pushed_.service_config);
      pushed_.sink->OnEndpoints(MakeEndpointSet(pushed_.endpoints));
    }

   private:
    PushedRegistry& pushed_;
  };
};

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_SUPPORT_PUSHED_REGISTRY_H_
