// Balancers that go by what hosts report of their load with their answers (weft/load_report.h; see
// weft/serving.h for how a server does that). Which hosts they look at is said in lib/balance, with
// the reasons. Both fall back to a local policy where hosts do not report.
#ifndef WEFT_REPORTED_LOAD_H_
#define WEFT_REPORTED_LOAD_H_

#include <chrono>

#include "weft/balancer.h"

namespace weft::inline v0 {

struct FreshLoadOptions {
  // A host whose load is more than so many times the mean that this client knows may refuse a call
  // at once; the call goes to another host then, twice at most. It does what no client can, act on
  // the load that a host has now; worth it where hundreds of clients share the hosts, as each
  // refusal costs a round trip. 2 is a good value; hosts without weft/serving.h ignore it. 0:
  // never.
  double bounce_at = 0;
};
// To that host among two drawn at random and the last 16 that reported which has the least load.
// Where no host has reported yet: PeakEwma().
BalancerFactory FreshLoad(FreshLoadOptions options = {});

struct PrequalOptions {
  // Older reports are not used. > 0.
  std::chrono::nanoseconds max_age = std::chrono::seconds(1);
  // How many reports come for each call: one, where each answer carries it; with probes
  // (ChannelOptions::load_probes) their per_call more, or alone. What does not come is made up for
  // by using each report more often. > 0.
  double reports_per_call = 1;
};
// Prequal (Wydrowski et al., "Load is not what you should balance", NSDI 2024): of a pool of the
// last reports, hosts with few requests in flight by their latency, else by requests in flight.
// With less than two reports: LeastRequest(). Reports come with answers, and where these are few in
// number, better also from probes as in the paper (weft/load_probe_options.h).
BalancerFactory Prequal(PrequalOptions options = {});

}  // namespace weft::inline v0

#endif  // WEFT_REPORTED_LOAD_H_
