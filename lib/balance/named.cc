#include "balance/named.h"

namespace weft::inline v0::balance {

BalancerFactory Named(std::string_view name) {
  if (name == "round_robin") return RoundRobin();
  if (name == "weighted_round_robin") return WeightedRoundRobin();
  if (name == "random") return Random();
  if (name == "least_request") return LeastRequest();
  if (name == "peak_ewma") return PeakEwma();
  if (name == "pick_first") return PickFirst();
  if (name == "ring_hash") return RingHash();
  if (name == "maglev") return Maglev();
  return nullptr;
}

}  // namespace weft::inline v0::balance

namespace weft::inline v0 {

BalancerFactory DefaultBalancer() { return RoundRobin(); }

}  // namespace weft::inline v0
