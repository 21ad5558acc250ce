// Assertions for what only a mistake in Weft itself can break. They abort debug builds; in release
// builds they are gone, and the code around them must still do something harmless.
#ifndef WEFT_LIB_BASE_CHECK_H_
#define WEFT_LIB_BASE_CHECK_H_

#include <cassert>

#ifdef NDEBUG
// Not evaluated, but what it names counts as used.
#define WEFT_DCHECK(condition) static_cast<void>(sizeof(!(condition)))
#else
#define WEFT_DCHECK(condition) assert(condition)
#endif

#endif  // WEFT_LIB_BASE_CHECK_H_
