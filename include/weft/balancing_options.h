// What is decided before a balancer is asked: which hosts it may choose among, and how much each of
// them may be given.
//
// Localities and priorities: endpoints of the lowest Endpoint::priority are used first; where less
// than 72 % of them are healthy (connected or being dialled, not ejected), the next priority takes
// over what they cannot take, in proportion (Envoy's rule, with its factor of 1.4). In the same way
// hosts in the client's own zone (ChannelFactory::Options::locality) go before the others of their
// priority.
#ifndef WEFT_BALANCING_OPTIONS_H_
#define WEFT_BALANCING_OPTIONS_H_

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

}  // namespace weft::inline v0

#endif  // WEFT_BALANCING_OPTIONS_H_
