// TlsHandshake: the Dial from a connected raw stream to a TLS stream.
#ifndef WEFT_LIB_NET_TLS_HANDSHAKE_H_
#define WEFT_LIB_NET_TLS_HANDSHAKE_H_

#include <memory>

#include "absl/status/status.h"
#include "event/loop.h"
#include "net/network.h"
#include "net/tls_stream.h"

namespace weft::inline v0::net {

// The loop's thread only. The outcome is told in a task of its own: neither within the creating
// call, nor within the raw stream's OnReady, where the stream could not be destroyed.
class TlsHandshake final : public Dial, private ReadyWatcher {
 public:
  TlsHandshake(event::Loop& loop, std::unique_ptr<TlsStream> stream, DialDone done);
  ~TlsHandshake() override;

 private:
  void OnReady(bool readable, bool writable) override;
  void FinishLater(absl::Status outcome);
  void Finish();

  event::Loop& loop_;
  std::unique_ptr<TlsStream> stream_;
  DialDone done_;
  bool finished_ = false;
  absl::Status outcome_;
  // What posted tasks look at before they touch this object.
  std::shared_ptr<TlsHandshake*> self_ = std::make_shared<TlsHandshake*>(this);
};

}  // namespace weft::inline v0::net

#endif  // WEFT_LIB_NET_TLS_HANDSHAKE_H_
