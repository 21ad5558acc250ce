// TLS for byte streams, through OpenSSL: client side, TLS 1.2 and 1.3, ALPN h2, always verified.
#ifndef WEFT_LIB_NET_TLS_H_
#define WEFT_LIB_NET_TLS_H_

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "net/network.h"
#include "weft/tls_options.h"

struct ssl_ctx_st;
struct ssl_session_st;

namespace weft::inline v0::net {

// The last session that a host gave us, to resume with. Thread-safe.
class TlsSessionCache {
 public:
  TlsSessionCache() = default;
  TlsSessionCache(const TlsSessionCache&) = delete;
  TlsSessionCache& operator=(const TlsSessionCache&) = delete;
  ~TlsSessionCache();
  void Put(ssl_session_st* session);  // takes over one reference
  ssl_session_st* Take();             // gives one reference away; null where there is none

 private:
  std::mutex mutex_;
  ssl_session_st* session_ = nullptr;
};

// Certificates and rules, read once. Thread-safe.
class TlsContext : public std::enable_shared_from_this<TlsContext> {
 public:
  // INVALID_ARGUMENT names the file that cannot be read or parsed, or the key that does not belong
  // to the certificate.
  static absl::StatusOr<std::shared_ptr<TlsContext>> Create(const TlsOptions& options);
  ~TlsContext();

  // On the loop's thread. Takes a connected stream and does the handshake; `done` gets the TLS
  // stream, or UNAUTHENTICATED (the certificate: which rule), UNAVAILABLE (the transport, the
  // protocol version, an alert, no ALPN h2), in words fit for "10.0.0.7:8080 …". `server_name` is a
  // DNS name (sent as SNI) or an IP address. `sessions` outlives the stream.
  std::unique_ptr<Dial> Handshake(event::Loop& loop, std::unique_ptr<ByteStream> raw,
                                  const std::string& server_name,
                                  std::shared_ptr<TlsSessionCache> sessions, DialDone done);

 private:
  TlsContext(ssl_ctx_st* context, std::string id) : context_(context), id_(std::move(id)) {}
  ssl_ctx_st* const context_;
  const std::string
      id_;  // random: sessions of other contexts, with other rules, are not resumed in this one
};

}  // namespace weft::inline v0::net

#endif  // WEFT_LIB_NET_TLS_H_
