// Tells a process from its forked child, where threads, and with them loops, are gone.
#ifndef WEFT_LIB_BASE_FORK_H_
#define WEFT_LIB_BASE_FORK_H_

#include <cstdint>

namespace weft::inline v0::base {

// A number that differs between a process and its children, from the first call in the parent on.
// One relaxed load.
uint64_t ForkGeneration();

}  // namespace weft::inline v0::base

#endif  // WEFT_LIB_BASE_FORK_H_
