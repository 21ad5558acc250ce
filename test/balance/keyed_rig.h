// What RingHash and Maglev are asked alike.
#ifndef WEFT_TEST_BALANCE_KEYED_RIG_H_
#define WEFT_TEST_BALANCE_KEYED_RIG_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "balance/rig.h"
#include "base/hash.h"

namespace weft::inline v0::balance {

inline constexpr size_t kKeys = 50'000;

// The address that each of kKeys keys goes to.
inline std::vector<std::string> Owners(Rig& rig) {
  std::vector<std::string> owners;
  for (size_t key = 0; key < kKeys; ++key) {
    const size_t host = rig.PickHost({.hash_key = base::Hash(std::to_string(key))});
    owners.push_back(rig.hosts[host].host->address());
  }
  return owners;
}

struct Moves {
  double of_it = 0;   // share of keys that were the leaving host's
  double others = 0;  // share of keys that moved though their host stayed
};
// One host leaves.
inline Moves MovesWithout(Rig& rig, size_t index) {
  const std::vector<std::string> before = Owners(rig);
  const std::string gone = rig.hosts[index].host->address();
  rig.Remove(index);
  rig.Update();
  const std::vector<std::string> after = Owners(rig);
  Moves moves;
  for (size_t key = 0; key < kKeys; ++key) {
    if (before[key] == gone) {
      moves.of_it += 1.0 / kKeys;
    } else if (before[key] != after[key]) {
      moves.others += 1.0 / kKeys;
    }
  }
  return moves;
}

// The keys that each host has, over the mean.
inline std::vector<double> Shares(Rig& rig) {
  std::vector<double> shares(rig.hosts.size());
  for (size_t key = 0; key < kKeys; ++key) {
    const size_t host = rig.PickHost({.hash_key = base::Hash(std::to_string(key))});
    shares[host] += static_cast<double>(rig.hosts.size()) / kKeys;
  }
  return shares;
}

}  // namespace weft::inline v0::balance

#endif  // WEFT_TEST_BALANCE_KEYED_RIG_H_
