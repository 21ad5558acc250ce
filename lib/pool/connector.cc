#include "pool/connector.h"

#include <utility>

namespace weft::inline v0::pool {

Connector::Connector(event::Loop& loop, const net::Address& address, ConnectorOptions options,
                     net::DialDone done)
    : loop_(loop),
      options_(std::move(options)),
      done_(std::move(done)),
      began_(loop.clock().Now()) {
  dial_ = options_.network->Connect(loop_, address, options_.connect,
                                    [this](auto stream) { OnTransport(std::move(stream)); });
}

void Connector::OnTransport(absl::StatusOr<std::unique_ptr<net::ByteStream>> stream) {
  // This turn's time is nearer to the packet's arrival than the clock's, the work before it was not
  // the network's.
  connect_time_ = loop_.now() - began_;
  if (!stream.ok() || options_.tls == nullptr) {
    std::move(done_)(std::move(stream));
    return;
  }
  loop_.DeleteLater(std::move(dial_));
  dial_ = options_.tls->Handshake(loop_, *std::move(stream), options_.server_name,
                                  options_.sessions, std::move(done_));
}

}  // namespace weft::inline v0::pool
