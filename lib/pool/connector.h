// Connector: makes one connected byte stream: the transport, then TLS where it is wanted.
#ifndef WEFT_LIB_POOL_CONNECTOR_H_
#define WEFT_LIB_POOL_CONNECTOR_H_

#include <memory>
#include <string>

#include "base/time.h"
#include "event/loop.h"
#include "net/network.h"
#include "net/tls.h"

namespace weft::inline v0::pool {

struct ConnectorOptions {
  net::Network* network = nullptr;
  net::ConnectOptions connect;
  std::shared_ptr<net::TlsContext> tls;  // null: plain
  std::string server_name;
  std::shared_ptr<net::TlsSessionCache> sessions;
};

// On the loop's thread. Destroying it gives up (not within `done`: DeleteLater).
class Connector final : public event::Deferred {
 public:
  // `done` is called once, never within the constructor.
  Connector(event::Loop& loop, const net::Address& address, ConnectorOptions options,
            net::DialDone done);

  // Of the transport (TCP), once that is connected.
  base::MonoDuration connect_time() const { return connect_time_; }

 private:
  void OnTransport(absl::StatusOr<std::unique_ptr<net::ByteStream>> stream);

  event::Loop& loop_;
  const ConnectorOptions options_;
  net::DialDone done_;
  const base::MonoTime began_;
  base::MonoDuration connect_time_{0};
  std::unique_ptr<net::Dial> dial_;
};

}  // namespace weft::inline v0::pool

#endif  // WEFT_LIB_POOL_CONNECTOR_H_
