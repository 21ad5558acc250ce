// Maglev: calls with the same key go to the same host, by one look into a table (Eisenbud et al.,
// "Maglev: A Fast and Reliable Software Network Load Balancer", NSDI 2016, section 3.4).
//
// Each host has a permutation of the table's M slots of its own,
//   (offset + j * skip) mod M,   offset = h(address) mod M, skip = h'(address) mod (M - 1) + 1,
// and in turns the hosts take the next slot of theirs that is free, until none is. M = 65,537, a
// prime. Turns go by the hash of the address, so every client has the same table whatever the order
// of its set. With weights, a host has had floor(round * weight / mean weight) turns after each
// round, which is one per round where they are equal.
//
// Shares are more even than a ring's. Where a host leaves, its keys go to all others, and a few
// others change hands too. Where a host cannot take a call, a slot drawn by the key has it, so the
// keys of a host that is down are spread over all others.
//
// Building it costs some ms. Of more than 65,537 hosts some have no slot.
#ifndef WEFT_LIB_BALANCE_MAGLEV_H_
#define WEFT_LIB_BALANCE_MAGLEV_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "balance/keyed_picker.h"
#include "base/mix.h"
#include "weft/balancers.h"

namespace weft::inline v0::balance {

// Immutable.
class MaglevTable {
 public:
  static constexpr size_t kSlots = 65537;

  explicit MaglevTable(const std::vector<PickerHost>& hosts);
  // Not of an empty set.
  size_t Owner(uint64_t key, int step) const {
    for (; step > 0; --step) key = base::NextRandom(key);
    return owners_[key % kSlots];
  }

 private:
  std::vector<uint32_t> owners_;  // of each slot
};

using MaglevBalancer = KeyedBalancer<MaglevTable>;

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_MAGLEV_H_
