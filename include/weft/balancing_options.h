// What is decided before a balancer is asked: which hosts it may choose among, and how much each of
// them may be given.
//
// Localities and priorities: endpoints of the lowest Endpoint::priority are used first; where less
// than 72 % of them are healthy (connected or being dialled, not ejected), the next priority takes
// over what they cannot take, in proportion (Envoy's rule, with its factor of 1.4). In the same way
// hosts in the client's own zone (ChannelFactory::Options::locality) go before the others of their
// priority.
//
// Both go by what is left of the endpoints after subsetting.
#ifndef WEFT_BALANCING_OPTIONS_H_
#define WEFT_BALANCING_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"

namespace weft::inline v0 {

// A host that is new among others, that could not be reached for a while, or that was ejected, gets
// its full weight only by and by: max(10 %, (t / window)^(1 / aggression)) of it, as its caches are
// cold. Balancers that go by weights heed it; the hosts of a channel's first set begin with all of
// theirs.
struct SlowStartOptions {
  absl::Duration window = absl::Seconds(10);  // 0: off; at most 1 h
  double aggression = 1;                      // 1: linear; above: more at first; 0.1 … 10
};

// Subsetting: of a large service a client connects to some endpoints only, or a fleet of many
// clients would open as many connections to each endpoint. Which ones, each client works out by
// itself, for each priority apart; an endpoint that comes or goes changes one entry of a subset, or
// two.
struct SubsetOptions {
  // So many endpoints; at least 12. 0: all of them.
  size_t size = 0;
  // Clients that are numbered from 0 on are spread evenly over a ring of the endpoints; their
  // number need not be known. (Ward et al., "Reinventing Backend Subsetting at Google", 2022.)
  std::optional<uint32_t> client_number = {};
  // Others by rendezvous hashing with this name, which should be the same after a restart. Empty:
  // a random one.
  std::string client_name = {};
};

}  // namespace weft::inline v0

#endif  // WEFT_BALANCING_OPTIONS_H_
