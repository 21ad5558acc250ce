#include "registry/static_resolver.h"

#include <utility>

namespace weft::inline v0::registry {

StaticResolver::StaticResolver(EndpointSet endpoints) : endpoints_(std::move(endpoints)) {}

void StaticResolver::Start(std::shared_ptr<ResolverSink> sink) {
  sink->OnEndpoints(std::move(endpoints_));
}

}  // namespace weft::inline v0::registry
