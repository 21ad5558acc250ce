// The registries that Weft has, for ChannelFactory::Options::registry. A registry of one's own is a
// function that opens a Resolver (weft/resolver.h).
#ifndef WEFT_REGISTRIES_H_
#define WEFT_REGISTRIES_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "weft/endpoint.h"
#include "weft/resolver.h"

namespace weft::inline v0 {

// A registry of JSON files, one a service: `directory`/<name>.json, in this form (all but "address"
// may be left out):
//   {"endpoints": [{"address": "10.0.0.7:80", "weight": 1, "priority": 0, "draining": false,
//                   "locality": {"region": "eu", "zone": "a", "sub_zone": ""},
//                   "metadata": {"k": "v"}}]}
// Beside it may stand the service's config, `directory`/<name>.service_config.json, in the form of
// Channel::SetServiceConfig; it holds before ChannelOptions'. Where there is no such file (any
// more), there is no such config. Both are read again when they change; replace them by rename. A
// file that cannot be read or has an unknown field keeps the old set or config, and the channel's
// DebugString says why. No service's name may end with ".service_config".
Registry FileRegistry(std::string directory);

// A registry in this process: of the program itself, which learns of endpoints in its own way, or
// of a test. Thread-safe. What registry() gives may outlive it and then goes on with what was said
// last. None of its functions may be called by a ResolverSink that is being told something.
class LocalRegistry {
 public:
  LocalRegistry();

  Registry registry() const;
  // What holds for a service from now on, for channels that are there and those to come. Until
  // something is said of a service, its channels have the error NOT_FOUND.
  void SetEndpoints(std::string_view service, EndpointSet endpoints);
  // Empty: it has none any more.
  void SetServiceConfig(std::string_view service, std::string json);
  // That nothing new can be had, and why; not OK.
  void SetError(std::string_view service, absl::Status why);

 private:
  class State;
  std::shared_ptr<State> state_;
};

// Of several registries the first that knows endpoints of the service; the others stand in until it
// does: an etcd, and files for the time that it cannot be reached. The service's config is that of
// the first one that has any. A registry that refuses the name is passed over; where all do, the
// first one's reason is the error.
Registry FallbackRegistry(std::vector<Registry> registries);

// The endpoints of all of them together: of two that name the same address, the first one's. Else
// as FallbackRegistry.
Registry MergedRegistry(std::vector<Registry> registries);

}  // namespace weft::inline v0

#endif  // WEFT_REGISTRIES_H_
