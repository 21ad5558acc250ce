// HostSet: the hosts of one Update as a picker needs them, and what all balancers do alike when
// some of them are down.
//
// A balancer has its own way to draw a host, and each host has its share by it. A host that cannot
// take the call (not connected, or this call tried it before) is drawn again, up to kDraws times:
// so the others take over its calls in proportion to their shares. Going on to its neighbour
// instead would give the host after a dead one twice its share, and the host after a dead rack the
// whole rack's. Where all draws miss, the hosts are counted, and the answer is, in this order:
//
//   one that is connected and was not tried     drawn by weight
//   one that is connected                       likewise: better the same again than none
//   kQueue                                      where one is idle or being dialled
//   kFail, UNAVAILABLE                          saying how many are in back-off
//
// Cost: O(1) while at least about half of the hosts are up, O(n) where most of them are down.
#ifndef WEFT_LIB_BALANCE_HOST_SET_H_
#define WEFT_LIB_BALANCE_HOST_SET_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/mix.h"
#include "weft/balancer.h"

namespace weft::inline v0::balance {

class HostSet {
 public:
  // Half of the hosts down: one call in 256 has to count them.
  static constexpr int kDraws = 8;

  explicit HostSet(const std::vector<PickerHost>& hosts);

  size_t size() const { return hosts_.size(); }
  bool empty() const { return hosts_.empty(); }
  const HostView& operator[](size_t index) const { return *hosts_[index]; }

  // It is connected, and this call has not tried it.
  bool Fresh(size_t index, const PickFacts& facts) const {
    return UseOf(index, facts) == Use::kFresh;
  }

  // One that is fresh, of up to kDraws that `draw(random)` gives. `weights` as in PickByCount.
  template <class Draw>
  PickResult PickDrawn(const PickFacts& facts, uint64_t random, const Draw& draw,
                       std::span<const double> weights = {}) const {
    for (int left = empty() ? 0 : kDraws; left > 0; --left, random = base::NextRandom(random)) {
      const size_t index = draw(random);
      if (Fresh(index, facts)) return PickResult::Host(index);
    }
    return PickByCount(facts, random, weights);
  }
  // What is left when draws miss: see above. `weights`: one for each host, or none where all are
  // equal.
  PickResult PickByCount(const PickFacts& facts, uint64_t random,
                         std::span<const double> weights = {}) const;

 private:
  // What a host can do for one call.
  enum class Use { kFresh, kTried, kHopeful, kBackoff, kClosed };
  static constexpr int kUses = 5;

  Use UseOf(size_t index, const PickFacts& facts) const {
    const HostView* const host = hosts_[index];
    switch (host->state()) {
      case HostState::kReady:
        return std::find(facts.tried.begin(), facts.tried.end(), host) == facts.tried.end()
                   ? Use::kFresh
                   : Use::kTried;
      case HostState::kIdle:
      case HostState::kConnecting:
        return Use::kHopeful;
      case HostState::kBackoff:
        return Use::kBackoff;
      case HostState::kClosed:
        break;
    }
    return Use::kClosed;
  }

  std::vector<const HostView*> hosts_;
};

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_HOST_SET_H_
