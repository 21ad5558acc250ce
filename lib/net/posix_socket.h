// What is asked of sockets in more than one place, and what the kernel's error numbers mean for a
// connection, in words fit for "10.0.0.7:8080 …".
#ifndef WEFT_LIB_NET_POSIX_SOCKET_H_
#define WEFT_LIB_NET_POSIX_SOCKET_H_

#include "absl/status/status.h"

namespace weft::inline v0::net {

// Of making one: RESOURCE_EXHAUSTED where this process or machine ran out of something, UNAVAILABLE
// for all else.
absl::Status ConnectError(int error);
// Of reading or writing: UNAVAILABLE.
absl::Status TransferError(int error);

enum class ConnectState {
  kConnecting,
  kConnected,
  kFailed,
  // Where nobody listens on a port of this machine, and it is an ephemeral one, the kernel may
  // choose it for our side too; then TCP's simultaneous open connects the socket with itself.
  kToItself,
};
// Of a non-blocking connect. `error` is the reason of kFailed.
ConnectState GetConnectState(int fd, int* error);

}  // namespace weft::inline v0::net

#endif  // WEFT_LIB_NET_POSIX_SOCKET_H_
