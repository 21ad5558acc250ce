// Endpoint: one address of a service as a resolver gives it. A plain value; sets of them share it.
#ifndef WEFT_ENDPOINT_H_
#define WEFT_ENDPOINT_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weft::inline v0 {

struct Locality {
  std::string region = {};
  std::string zone = {};
  std::string sub_zone = {};
  bool operator==(const Locality&) const = default;
};

struct Endpoint {
  // "10.0.0.7:8080", "[::1]:8080" or "unix:/run/svc.sock".
  std::string address = {};
  double weight = 1.0;  // > 0; relative to the others
  Locality locality = {};
  int priority = 0;       // failover tier; 0 is used first
  bool draining = false;  // gets no new calls
  std::map<std::string, std::string> metadata = {};
  bool operator==(const Endpoint&) const = default;
};

// The whole set of a service at one time; the core computes what changed. An endpoint that is the
// same object as in the set before costs a comparison of pointers, so a resolver of large sets
// keeps the objects of what has not changed; others are compared whole, which is as good, but about
// a microsecond each.
using EndpointSet = std::vector<std::shared_ptr<const Endpoint>>;

inline EndpointSet MakeEndpointSet(std::vector<Endpoint> endpoints) {
  EndpointSet set;
  set.reserve(endpoints.size());
  for (Endpoint& endpoint : endpoints)
    set.push_back(std::make_shared<const Endpoint>(std::move(endpoint)));
  return set;
}

}  // namespace weft::inline v0

#endif  // WEFT_ENDPOINT_H_
