// Ring hash: calls with the same key go to the same host (consistent hashing, Karger et al. 1997;
// ring_hash of gRFC A42 and Envoy).
//
//   entries of a host    max(1, round(weight * 2^j)), each at the XXH64 of address and number
//   j                    the largest for which sum(weight) * 2^j <= 4096
//   a key's host         that of the first entry at or after the key, around the ring
//
// So there are between 2048 and 4096 entries, within the bounds of A42, but one for each host where
// there are more hosts. A42 has each host's entries depend on its share of the sum: each host that
// comes or goes changes everybody's number, and moves about twice the keys that it has to.
// Here the numbers change only where the sum of the weights passes a power of two.
//
// Where a host cannot take a call, the next one on the ring has it, as A42 has it for hosts in
// back-off; calls do not wait for one that is being dialled.
//
// Cost of a pick: O(1), as places are as good as random: it begins at the first entry of the key's
// part of the ring, one of 4096, and goes on to the key's own.
#ifndef WEFT_LIB_BALANCE_RING_HASH_H_
#define WEFT_LIB_BALANCE_RING_HASH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "balance/keyed_picker.h"
#include "weft/balancers.h"

namespace weft::inline v0::balance {

// Immutable.
class HashRing {
 public:
  static constexpr size_t kMaxEntries = 4096;

  explicit HashRing(const std::vector<PickerHost>& hosts);
  // Not of an empty set.
  size_t Owner(uint64_t key, int step) const;
  size_t entries() const { return places_.size(); }

 private:
  static constexpr int kPartBits = 12;

  std::vector<uint64_t> places_;  // sorted
  std::vector<uint32_t> owners_;  // of each place
  std::vector<uint32_t> parts_;   // the first entry at or after the start of each part
};

using RingHashBalancer = KeyedBalancer<HashRing>;

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_RING_HASH_H_
