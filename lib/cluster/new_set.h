// NewSet: the endpoints of a destination and their hosts, told by what they have of the set before.
// Sets are large and change little, and each reference to a host or an endpoint that is taken or
// given back is an atomic operation on memory that is in no cache; so what stays is only named by
// its place.
#ifndef WEFT_LIB_CLUSTER_NEW_SET_H_
#define WEFT_LIB_CLUSTER_NEW_SET_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "base/places.h"
#include "cluster/host.h"
#include "weft/endpoint.h"

namespace weft::inline v0::cluster {

struct NewSetEntry {
  size_t before = base::kNowhere;                 // its place in the set before
  std::shared_ptr<const Endpoint> endpoint = {};  // null: the one before
  std::shared_ptr<Host> host = {};                // null: likewise
};

// In its order. No place of the set before is named twice; what is named nowhere has left.
using NewSet = std::vector<NewSetEntry>;

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_NEW_SET_H_
