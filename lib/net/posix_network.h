// PosixNetwork: TCP and Unix sockets of the kernel.
#ifndef WEFT_LIB_NET_POSIX_NETWORK_H_
#define WEFT_LIB_NET_POSIX_NETWORK_H_

#include <memory>

#include "net/network.h"

namespace weft::inline v0::net {

// TCP_NODELAY on; SIGPIPE is never raised.
class PosixNetwork final : public Network {
 public:
  std::unique_ptr<Dial> Connect(event::Loop& loop, const Address& address,
                                const ConnectOptions& options, DialDone done) override;
};

}  // namespace weft::inline v0::net

#endif  // WEFT_LIB_NET_POSIX_NETWORK_H_
