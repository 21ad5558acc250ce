#include "event/clock.h"

#include <chrono>

#include "absl/time/clock.h"

namespace weft::inline v0::event {

base::MonoTime SystemClock::Now() const { return std::chrono::steady_clock::now(); }

absl::Time SystemClock::WallNow() const { return absl::Now(); }

}  // namespace weft::inline v0::event
