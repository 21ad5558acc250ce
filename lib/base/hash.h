// XXH64 (Collet): the hash of what has to be the same in every process, such as the ring of
// RingHash.
#ifndef WEFT_LIB_BASE_HASH_H_
#define WEFT_LIB_BASE_HASH_H_

#include <cstdint>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace weft::inline v0::base {

inline uint64_t Hash(std::string_view bytes, uint64_t seed = 0) {
  return XXH64(bytes.data(), bytes.size(), seed);
}

}  // namespace weft::inline v0::base

#endif  // WEFT_LIB_BASE_HASH_H_
