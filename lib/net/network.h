// Network: makes byte streams. PosixNetwork is the real one; tests have a simulated one.
#ifndef WEFT_LIB_NET_NETWORK_H_
#define WEFT_LIB_NET_NETWORK_H_

#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "event/loop.h"
#include "net/address.h"
#include "net/byte_stream.h"

namespace weft::inline v0::net {

// An attempt to connect. Destroying it (on the loop's thread, not within `done`: use DeleteLater
// there) gives it up.
class Dial : public event::Deferred {};

// Called once on the loop's thread, never within the call that takes it. An error is UNAVAILABLE
// (refused, unreachable, reset) or RESOURCE_EXHAUSTED (descriptors, ports), and says so in words
// fit for "10.0.0.7:8080 …": "refused the connection".
using DialDone = absl::AnyInvocable<void(absl::StatusOr<std::unique_ptr<ByteStream>>) &&>;

struct ConnectOptions {
  // Bytes unacknowledged for that long end the connection (TCP_USER_TIMEOUT); zero: the kernel's
  // default.
  base::MonoDuration user_timeout{0};
};

class Network {
 public:
  virtual ~Network() = default;
  // On the loop's thread. No time limit of its own.
  virtual std::unique_ptr<Dial> Connect(event::Loop& loop, const Address& address,
                                        const ConnectOptions& options, DialDone done) = 0;
};

}  // namespace weft::inline v0::net

#endif  // WEFT_LIB_NET_NETWORK_H_
