// The power of two choices (Mitzenmacher 2001): of two hosts drawn at random, the one with the
// lower score. As good as looking at all of them, nearly; and clients that all see the same scores
// do not run to the same host.
//
// The two are different hosts where `draw` finds two that can take the call; of equal scores the
// first has it, so that among hosts that are alike each has the share that it is drawn with.
#ifndef WEFT_LIB_BALANCE_TWO_CHOICES_H_
#define WEFT_LIB_BALANCE_TWO_CHOICES_H_

#include <cstddef>
#include <cstdint>

#include "balance/host_set.h"
#include "balance/weighted_draw.h"
#include "base/mix.h"
#include "weft/balancer.h"

namespace weft::inline v0::balance {

// `score(index)`: any type with <.
template <class Score>
PickResult PickBetterOfTwo(const HostSet& hosts, const WeightedDraw& draw, const PickFacts& facts,
                           const Score& score) {
  const size_t none = hosts.size();
  size_t first = none;
  uint64_t random = facts.random;
  for (int left = hosts.empty() ? 0 : HostSet::kDraws; left > 0; --left) {
    random = base::NextRandom(random);
    const size_t index = draw(random);
    if (index == first || !hosts.Fresh(index, facts)) continue;
    if (first == none) {
      first = index;
      if (hosts.size() == 1) break;
      continue;
    }
    return PickResult::Host(score(index) < score(first) ? index : first);
  }
  if (first != none) return PickResult::Host(first);
  return hosts.PickByCount(facts, random, draw.weights());
}

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_TWO_CHOICES_H_
