// Departed: what left a cluster's set, for as long as somebody may still pick by the set before.
//
// A snapshot of the hosts, and the pickers in it, name hosts by plain pointers, or each new one
// would count 10,000 references up and down. So those that leave with an update are kept by a node
// that belongs to the set before, and each snapshot holds the node of its set. The node holds the
// one of the next set in turn: what the old snapshot names may have left much later.
//
//   snapshot of set 1 ─▶ left at 1→2 ─▶ left at 2→3 ─▶ nothing yet ◀─ membership
//                         snapshot of set 2 ─▶┘             ▲
//                                      snapshot of set 3 ───┘
#ifndef WEFT_LIB_CLUSTER_DEPARTED_H_
#define WEFT_LIB_CLUSTER_DEPARTED_H_

#include <memory>
#include <utility>
#include <vector>

#include "base/ref.h"
#include "cluster/host.h"
#include "cluster/member.h"
#include "weft/endpoint.h"

namespace weft::inline v0::cluster {

// Filled by the membership before it lets go of it, and never looked at but to be destroyed, on
// whichever thread is the last to hold it.
struct Departed final : base::RefCounted {
  std::vector<std::shared_ptr<const Endpoint>> endpoints;
  std::vector<base::Ref<Member>> members;
  std::vector<std::shared_ptr<Host>> hosts;
  base::Ref<Departed> next;

 private:
  // One after the other: after a snapshot that was held for long there may be many.
  ~Departed() override {
    base::Ref<Departed> later = std::move(next);
    while (later && later->unique()) later = std::move(later->next);
  }
};

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_DEPARTED_H_
