// StaticResolver: endpoints that are known from the start and never change.
#ifndef WEFT_LIB_REGISTRY_STATIC_RESOLVER_H_
#define WEFT_LIB_REGISTRY_STATIC_RESOLVER_H_

#include <memory>
#include <vector>

#include "weft/endpoint.h"
#include "weft/resolver.h"

namespace weft::inline v0::registry {

class StaticResolver final : public Resolver {
 public:
  explicit StaticResolver(std::vector<Endpoint> endpoints);
  // Delivers within the call.
  void Start(std::shared_ptr<ResolverSink> sink) override;

 private:
  std::vector<Endpoint> endpoints_;
};

}  // namespace weft::inline v0::registry

#endif  // WEFT_LIB_REGISTRY_STATIC_RESOLVER_H_
