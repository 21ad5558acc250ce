// Outcome: how one attempt ended, as far as it says something of its host.
#ifndef WEFT_LIB_CLUSTER_OUTCOME_H_
#define WEFT_LIB_CLUSTER_OUTCOME_H_

#include <cstdint>

#include "base/time.h"

namespace weft::inline v0::cluster {

struct Outcome {
  enum class Kind : uint8_t {
    kSuccess,       // answered, with anything that is not below: also 404 or NOT_FOUND
    kError,         // answered 5xx, or UNAVAILABLE, INTERNAL, UNKNOWN, DATA_LOSS
    kOverloaded,    // answered 429 or RESOURCE_EXHAUSTED
    kTimeout,       // no answer within the attempt's timeout, or the call's deadline
    kLost,          // the connection was lost, or the stream reset by the peer
    kNotConnected,  // there was no connection to be had: of local origin, nothing was sent
    kCensored,      // given up: cancelled by the user, or another attempt was answered first
    kUnprocessed,   // refused, bounced, or left behind by a GOAWAY
  };
  Kind kind = Kind::kSuccess;
  // Since it was started on the host; of a stream, to its first answer: its length is what its user
  // made of it.
  base::MonoDuration took{0};
  // This process was not running when it should have seen the end (NoticedLate).
  bool noticed_late = false;
};

// Whether what was due at one time and came at another shows that this process stood still: it was
// stopped (SIGSTOP), its machine was, or it got no processor. A loop's turn takes 20 ms at most
// (event/standby.h), the rest is the system's scheduler. For a timeout: when its timer was due, and
// when the loop ran it. Where other ends came is known the same way, from any timer that the loop
// ran in the same turn.
inline constexpr base::MonoDuration kLateAfter = std::chrono::milliseconds(50);
inline bool NoticedLate(base::MonoTime due, base::MonoTime noticed) {
  return noticed > due && noticed - due > kLateAfter;
}

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_OUTCOME_H_
