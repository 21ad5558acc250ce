// Poll: has a loop look at something again and again.
//
// Files are polled because notifications of the kernel miss what happens on network file systems
// and to symbolic links.
#ifndef WEFT_LIB_REGISTRY_POLL_H_
#define WEFT_LIB_REGISTRY_POLL_H_

#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "event/loop.h"

namespace weft::inline v0::registry {

inline constexpr absl::Duration kPollInterval = absl::Seconds(1);

// Start and the destructor on any thread, those of the loop among them, and while a look is under
// way; a look may destroy the Poll. `loop` outlives it; what the destructor leaves to be disarmed
// is freed by the loop, in its next turn or with it.
class Poll {
 public:
  // `interval`: at least a millisecond.
  Poll(event::Loop& loop, absl::Duration interval);
  ~Poll();
  Poll(const Poll&) = delete;
  Poll& operator=(const Poll&) = delete;

  // Once. `look` is called on the loop only: in its next turn, then each `interval`. The destructor
  // destroys it, or, where it is just being called, the loop does so after it.
  void Start(absl::AnyInvocable<void()> look);

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace weft::inline v0::registry

#endif  // WEFT_LIB_REGISTRY_POLL_H_
