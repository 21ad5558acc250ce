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

#include "absl/time/time.h"
#include "weft/balancer.h"

namespace weft::inline v0 {

// What a channel has that names none: FreshLoad() (weft/reported_load.h), which goes by what hosts
// report of their load, and is PeakEwma() where they do not.
BalancerFactory DefaultBalancer();

// Each call to the next host. Weights are not used.
BalancerFactory RoundRobin();

// The names and defaults of gRFC A58.
struct WeightedRoundRobinOptions {
  // A host's own weight is used once it has reported for so long.
  absl::Duration blackout_period = absl::Seconds(10);
  // And no longer once it has not reported for so long.
  absl::Duration weight_expiration_period = absl::Minutes(3);
  // How often weights are computed; at least 100 ms.
  absl::Duration weight_update_period = absl::Seconds(1);
  // How much utilization a service that does nothing but fail would have on top; 0: errors do not
  // count.
  double error_utilization_penalty = 1.0;
};

// Turns in proportion to qps / utilization as hosts report them (ORCA; see weft/load_report.h), by
// endpoint weight while nobody has. Weights count up to ten times their mean, and down to a tenth.
// Once per update period some picks take a few microseconds longer.
BalancerFactory WeightedRoundRobin(WeightedRoundRobinOptions options = {});

// Each call to a host drawn in proportion to weight.
BalancerFactory Random();

// Of two hosts drawn at random, the one with fewer requests of this process in flight for its
// weight: the power of two choices (Mitzenmacher 2001). The two are drawn in proportion to weight,
// so an idle service is shared by weight too.
BalancerFactory LeastRequest();

// Of two hosts drawn at random, in proportion to weight, the one with the lower
// HostView::latency * (in_flight / weight + 1), weights relative to their mean (Finagle's
// PeakEwma).
BalancerFactory PeakEwma();

struct PickFirstOptions {
  // The first is the first in an order of this client's own (the balancer's seed decides), so that
  // clients with the same endpoint set do not all go to the same host.
  bool shuffle = false;
};

// All calls to the first host that is connected, until it is lost (gRPC's pick_first). Where its
// host cannot be used, a pick looks at all hosts in order.
BalancerFactory PickFirst(PickFirstOptions options = {});

// Calls with the same CallOptions::hash_key go to the same host, those without one anywhere.
// Endpoint weights count, slow start does not. Where a host cannot take its calls, the others have
// them until it is back. Where one of n comes or goes, about 1/n of the keys move. All clients with
// the same endpoint set agree.
//
// By a ring of 2,048 to 4,096 places, or as many as there are hosts (Karger et al. 1997, gRFC A42):
// keys that move go only to or from the host that comes or goes, except where the sum of all
// weights passes a power of two; shares are uneven by some 10 %, much more with hundreds of hosts.
BalancerFactory RingHash();
// By a table of 65,537 places (Maglev, NSDI 2016): shares are even to about 1 % up to some hundred
// hosts; a few other keys move too, and a change of hosts costs some milliseconds.
BalancerFactory Maglev();

}  // namespace weft::inline v0

#endif  // WEFT_BALANCERS_H_
