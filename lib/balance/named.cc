#include "balance/named.h"

#include "weft/reported_load.h"

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
  if (name == "prequal") return Prequal();
  if (name == "fresh_load") return FreshLoad();
  return nullptr;
}

}  // namespace weft::inline v0::balance

namespace weft::inline v0 {

BalancerFactory DefaultBalancer() { return FreshLoad(); }

}  // namespace weft::inline v0
