// Endpoint: one address of a service as a resolver gives it. A plain value.
#ifndef WEFT_ENDPOINT_H_
#define WEFT_ENDPOINT_H_

#include <map>
#include <string>
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

// The whole set of a service at one time; the core computes what changed.
using EndpointSet = std::vector<Endpoint>;

}  // namespace weft::inline v0

#endif  // WEFT_ENDPOINT_H_
