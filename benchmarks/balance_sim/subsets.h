// Scenario g: how evenly subsets (cluster/subset.h) spread the connections of a fleet of clients
// over the hosts of a service, and what a host that leaves or joins changes.
#ifndef WEFT_BENCHMARKS_BALANCE_SIM_SUBSETS_H_
#define WEFT_BENCHMARKS_BALANCE_SIM_SUBSETS_H_

#include <cstdint>

namespace weft::balance_sim {

enum class SubsetKind : uint8_t {
  kRendezvous,  // clients that have names
  kRing,        // clients that are numbered
};

struct SubsetSetup {
  SubsetKind kind = SubsetKind::kRendezvous;
  uint32_t clients = 100'000;
  uint32_t hosts = 1000;
  uint32_t size = 20;
  // What changes is looked at for these only: the first of all clients.
  uint32_t watched = 5000;
};

struct SubsetResult {
  // Connections of a host.
  uint32_t fewest = 0;
  uint32_t most = 0;
  double mean = 0;
  double deviation = 0;
  // Entries that are new in a client's subset: in the mean of all watched, and the most.
  struct Change {
    double mean = 0;
    uint32_t most = 0;
  };
  Change leaves;  // one host of them
  Change joins;
};

SubsetResult Measure(const SubsetSetup& setup);

// Both kinds, as a table.
void PrintSubsets();

}  // namespace weft::balance_sim

#endif  // WEFT_BENCHMARKS_BALANCE_SIM_SUBSETS_H_
