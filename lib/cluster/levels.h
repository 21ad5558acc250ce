// Levels: what part of the calls each group of hosts gets. A group is the hosts of one priority
// that are in the client's own zone, or those that are not.
//
// Between priorities (Envoy's rule): a priority can take min(1, 1.4 h) of all calls, where h is the
// healthy share of its hosts; the first one gets what it can take, the next what is left, and so
// on. So priority 0 keeps all calls until fewer than 72 % of its hosts are healthy. Where all
// together cannot take everything, each gets in proportion.
//
// Within a priority the client's own zone gets min(1, 1.4 h) in the same way, with its own h, and
// the other zones the rest.
//
// Panic: where less than `panic_threshold` of a priority is healthy, and the priorities together
// cannot take everything, its hosts are used whether healthy or not: the few that are left would
// only be overrun, and when most look ill it is more often the view of them that is wrong. Zones
// are then passed over.
#ifndef WEFT_LIB_CLUSTER_LEVELS_H_
#define WEFT_LIB_CLUSTER_LEVELS_H_

#include <cstddef>
#include <span>
#include <vector>

namespace weft::inline v0::cluster {

struct Level {
  int priority = 0;
  bool own_zone = false;
  size_t hosts = 0;    // > 0
  size_t healthy = 0;  // of which
};

struct LevelShare {
  double share = 0;    // of all calls; they add up to 1
  bool panic = false;  // hosts that are not healthy are used too
  bool operator==(const LevelShare&) const = default;
};

// One for each level. `levels`: in the order of their priorities, each pair once.
std::vector<LevelShare> SharesOf(std::span<const Level> levels, double panic_threshold);

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_LEVELS_H_
