// Clock: the only source of time. Only `event` reads the system's.
#ifndef WEFT_LIB_EVENT_CLOCK_H_
#define WEFT_LIB_EVENT_CLOCK_H_

#include "absl/time/time.h"
#include "base/time.h"

namespace weft::inline v0::event {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual base::MonoTime Now() const = 0;
  // Only for what a person or another machine wrote down: absolute deadlines, dates in headers.
  virtual absl::Time WallNow() const = 0;
};

class SystemClock final : public Clock {
 public:
  base::MonoTime Now() const override;
  absl::Time WallNow() const override;
};

}  // namespace weft::inline v0::event

#endif  // WEFT_LIB_EVENT_CLOCK_H_
