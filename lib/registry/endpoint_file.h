// The JSON form of an endpoint set. channel_factory.h (FileRegistry) has its definition.
//
// Strict, because a field with a slip in its name would otherwise be a default that nobody asked
// for: fields that are not known, fields given twice and values of another type are errors.
// Addresses are only looked at for being there: whether they can be used is for the core to say,
// which skips a bad one and keeps the others.
#ifndef WEFT_LIB_REGISTRY_ENDPOINT_FILE_H_
#define WEFT_LIB_REGISTRY_ENDPOINT_FILE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "weft/endpoint.h"

namespace weft::inline v0::registry {

inline constexpr size_t kMaxEndpointFileBytes = size_t{64} << 20;
inline constexpr size_t kMaxEndpointsPerFile = 100'000;
inline constexpr int kMaxPriority = 127;

// INVALID_ARGUMENT names the field ("endpoints[3].weight: must be above 0"), or line and column
// where it is no JSON.
absl::StatusOr<std::vector<Endpoint>> ParseEndpointFile(std::string_view text);

// Such that parsing it gives the same; what is not UTF-8 is replaced by U+FFFD.
std::string FormatEndpointFile(const EndpointSet& endpoints);

}  // namespace weft::inline v0::registry

#endif  // WEFT_LIB_REGISTRY_ENDPOINT_FILE_H_
