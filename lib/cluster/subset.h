// Subsets: which endpoints of a large service a client connects to, so that a fleet of C clients
// does not open C connections to each endpoint. Pure functions; no client asks another.
//
// RendezvousSubset, for clients that only have a name: the endpoints with the highest hash of
// client and address (highest random weight; Thaler and Ravishankar 1998). One endpoint that comes
// or goes changes at most one entry of any client's subset. The connections that an endpoint gets
// are random: C k / n on average, with a standard deviation of about the square root of that.
//
// RingSubset, for clients that are numbered 0, 1, 2, …: the endpoints, in the order of their hash,
// are equal arcs of a ring, and a client takes those from its own place on. Places follow the
// binary van der Corput sequence (0, 1/2, 1/4, 3/4, 1/8, …; as in Ward and others, "Reinventing
// Backend Subsetting at Google", ACM Queue 2022), which is even for any number of clients, so that
// nobody has to know how many there are, and a client that comes changes nobody's subset. One
// endpoint that comes or goes changes at most two entries. Connections per endpoint are even to a
// few, where the others' are random.
#ifndef WEFT_LIB_CLUSTER_SUBSET_H_
#define WEFT_LIB_CLUSTER_SUBSET_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace weft::inline v0::cluster {

// With fewer, one endpoint that is slow or down is too large a part of what a client has.
inline constexpr size_t kMinSubset = 12;

// Both return indices of `addresses`, ascending; max(size, kMinSubset) of them, or all where there
// are no more. The order of `addresses` does not matter.
std::vector<size_t> RendezvousSubset(std::span<const std::string_view> addresses,
                                     std::string_view client, size_t size = kMinSubset);
std::vector<size_t> RingSubset(std::span<const std::string_view> addresses, uint32_t client,
                               size_t size = kMinSubset);

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_SUBSET_H_
