// Monotonic time. All of Weft counts in it; the wall clock is read only to turn a user's absolute
// deadline into it.
#ifndef WEFT_LIB_BASE_TIME_H_
#define WEFT_LIB_BASE_TIME_H_

#include <chrono>

#include "absl/time/time.h"

namespace weft::inline v0::base {

using MonoDuration = std::chrono::nanoseconds;
using MonoTime = std::chrono::time_point<std::chrono::steady_clock, MonoDuration>;

// Later than every deadline.
inline constexpr MonoTime kNever = MonoTime::max();

// `start + length`, kNever where that is out of range.
inline MonoTime After(MonoTime start, absl::Duration length) {
  if (length >= absl::FromChrono(kNever - start)) return kNever;
  if (length <= absl::ZeroDuration()) return start;
  return start + absl::ToChronoNanoseconds(length);
}
inline MonoTime After(MonoTime start, MonoDuration length) {
  return length >= kNever - start ? kNever : start + length;
}

}  // namespace weft::inline v0::base

#endif  // WEFT_LIB_BASE_TIME_H_
