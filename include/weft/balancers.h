// The balancers that Weft has, for ChannelOptions::balancer. What they have in common:
//
// A pick goes to a host that is connected; one that this call's earlier attempts used gets it only
// where no other is connected. Where none is, calls wait while one is being dialled, and fail
// with UNAVAILABLE where all are in back-off. What one pick costs does not grow with the number of
// hosts, unless said below, as long as at least half of them are connected.
//
// A factory can be called from any thread, as often as one likes.
#ifndef WEFT_BALANCERS_H_
#define WEFT_BALANCERS_H_

#include "weft/balancer.h"

namespace weft::inline v0 {

// Each call to the next host. Weights are not used.
BalancerFactory RoundRobin();

// Of two hosts drawn at random, the one with fewer requests of this process in flight for its
// weight: the power of two choices (Mitzenmacher 2001). The two are drawn in proportion to weight,
// so an idle service is shared by weight too.
BalancerFactory LeastRequest();

}  // namespace weft::inline v0

#endif  // WEFT_BALANCERS_H_
