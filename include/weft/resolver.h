// Resolver: the seam through which a service's endpoints come, and its service config.
//
// A resolver delivers complete sets; the core compares them, keeps the connections of what stayed,
// drains what left. What it cannot resolve it reports as an error, and the last good set stays in
// force.
#ifndef WEFT_RESOLVER_H_
#define WEFT_RESOLVER_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/endpoint.h"

namespace weft::inline v0 {

// Where a resolver delivers to. Thread-safe; calls after the resolver's destruction are ignored.
class ResolverSink {
 public:
  virtual ~ResolverSink() = default;
  // The complete set. Entries that cannot be used (null, no parsable address, weight ≤ 0) are
  // skipped and counted. Of 10,000 endpoints of which a hundred are new objects and the others the
  // same as the last time, it costs some milliseconds. A set of which nothing can be used changes
  // nothing; an empty one is believed when it has lasted (RegistryOptions::empty_hold).
  virtual void OnEndpoints(const EndpointSet& endpoints) = 0;
  // Why there is no new set. Until the first set arrived, calls fail with it (or wait, if they are
  // wait_for_ready).
  virtual void OnError(absl::Status status) = 0;
  // The service's config as gRPC's JSON (see Channel::SetServiceConfig), or why it cannot be had;
  // empty: it has none any more. It holds before the one that the program gave. A config that is
  // not valid, like an error, leaves the one in force that was there, is counted
  // (FactoryStats::service_configs_refused) and shown by the channel's DebugString: what is wrong
  // with it is not for the resolver to find. Deliver it before the endpoints that came with it: a
  // program that waited for a host (Channel::WaitForReady) then calls by it.
  virtual void OnServiceConfig(absl::StatusOr<std::string> json) = 0;
};

class Resolver {
 public:
  // Stops. May be called on any thread.
  virtual ~Resolver() = default;
  // Called once. May deliver within the call.
  virtual void Start(std::shared_ptr<ResolverSink> sink) = 0;
};

// Opens a resolver for a name: "payments" of GetChannel("payments"), or what follows the scheme of
// a URI. Called on the thread of GetChannel, at the same time for different names; an error is
// GetChannel's answer.
using Registry = std::function<absl::StatusOr<std::unique_ptr<Resolver>>(std::string_view name)>;

}  // namespace weft::inline v0

#endif  // WEFT_RESOLVER_H_
