// PlacesBefore: what a new list has of the one before, for lists that change little at a time.
#ifndef WEFT_LIB_BASE_PLACES_H_
#define WEFT_LIB_BASE_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::inline v0::base {

inline constexpr size_t kNowhere = SIZE_MAX;

// For each of `now` its index in `before`, or kNowhere. Neither has an item twice. What stayed in
// order costs a comparison; only what is left over on both sides is looked up in a hash table.
std::vector<size_t> PlacesBefore(std::span<const void* const> before,
                                 std::span<const void* const> now);

}  // namespace weft::inline v0::base

#endif  // WEFT_LIB_BASE_PLACES_H_
