#include "registry/static_resolver.h"

#include <utility>

namespace weft::inline v0::registry {

StaticResolver::StaticResolver(std::vector<Endpoint> endpoints)
    : endpoints_(std::move(endpoints)) {}

void StaticResolver::Start(std::shared_ptr<ResolverSink> sink) {
  sink->OnEndpoints(MakeEndpointSet(std::move(endpoints_)));
}

}  // namespace weft::inline v0::registry
