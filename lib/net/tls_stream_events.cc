// TlsStream: what OpenSSL tells meanwhile, and what its failures mean.
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "net/tls_error.h"
#include "net/tls_stream.h"

namespace weft::inline v0::net {

int TlsStream::OnVerify(int ok, X509_STORE_CTX* store) {
  if (ok == 1) return 1;
  auto* ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* self = ssl != nullptr ? static_cast<TlsStream*>(SSL_get_app_data(ssl)) : nullptr;
  if (self != nullptr && self->certificate_problem_.empty()) {
    self->certificate_problem_ = DescribeVerifyFailure(store, self->identity_);
  }
  return 0;
}

int TlsStream::OnNewSession(SSL* ssl, SSL_SESSION* session) {
  auto* self = static_cast<TlsStream*>(SSL_get_app_data(ssl));
  if (self == nullptr || self->sessions_ == nullptr) return 0;
  self->sessions_->Put(session);
  return 1;  // the reference is the cache's now
}

void TlsStream::OnMessage(int sent, int, int type, const void* data, size_t size, SSL*,
                          void* self) {
  if (sent != 0 || type != SSL3_RT_HANDSHAKE || size == 0 || self == nullptr) return;
  static_cast<TlsStream*>(self)->OnHandshakeMessage(*static_cast<const uint8_t*>(data));
}

// OpenSSL refuses a protocol that was not offered with "bad extension" only; this is where its name
// can still be seen.
void TlsStream::OnExtension(SSL* ssl, int received, int type, const uint8_t* data, int size,
                            void*) {
  constexpr int kHeader = 3;  // the sizes of the list and of its only name
  if (received == 0 || type != TLSEXT_TYPE_application_layer_protocol_negotiation || size < kHeader)
    return;
  auto* self = static_cast<TlsStream*>(SSL_get_app_data(ssl));
  if (self == nullptr) return;
  self->alpn_ = std::string(reinterpret_cast<const char*>(data) + kHeader,
                            static_cast<size_t>(size - kHeader));
}

void TlsStream::OnHandshakeMessage(uint8_t type) {
  // OpenSSL only says no to this, and goes on. A request for a certificate, and whatever else does
  // not belong after the handshake, it takes for an error by itself.
  if (established_ && type == SSL3_MT_HELLO_REQUEST) return Refuse("asked for a TLS renegotiation");
  if (message_credit_ == 0) {
    return Refuse(established_ ? "flooded the connection with TLS key updates or session tickets"
                               : "flooded the TLS handshake with messages");
  }
  --message_credit_;
}

void TlsStream::Refuse(std::string_view violation) {
  if (violation_.empty()) violation_ = std::string(violation);
  transport_.RefuseReads();
}

IoResult TlsStream::Fail(int ssl_error) {
  tls_broken_ = ssl_error == SSL_ERROR_SSL;
  if (!violation_.empty()) {
    ERR_clear_error();
    return FailWith(absl::UnavailableError(violation_));
  }
  if (!certificate_problem_.empty()) {
    ERR_clear_error();
    return FailWith(
        absl::UnauthenticatedError(absl::StrCat("failed verification: ", certificate_problem_)));
  }
  if (!transport_.failure().ok()) {
    ERR_clear_error();
    return FailWith(transport_.failure());
  }
  if (transport_.ended()) {
    ERR_clear_error();
    return FailWith(absl::UnavailableError(established_
                                               ? "closed the connection without TLS close_notify"
                                               : "closed the connection during the TLS handshake"));
  }
  if (ssl_error == SSL_ERROR_ZERO_RETURN) {
    ERR_clear_error();
    return FailWith(absl::UnavailableError("closed the connection during the TLS handshake"));
  }
  if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_BAD_EXTENSION && !alpn_.empty() && !established_) {
    ERR_clear_error();
    return FailWithoutHttp2();
  }
  return FailWith(absl::UnavailableError(TakeTlsProblem()));
}

IoResult TlsStream::FailWithoutHttp2() {
  const std::string selected = alpn_.empty() ? "none" : Printable(alpn_, 32);
  return FailWith(absl::UnavailableError(
      absl::StrCat("does not offer HTTP/2 over TLS (ALPN: ", selected, ")")));
}

IoResult TlsStream::FailWith(absl::Status status) {
  failure_ = std::move(status);
  return IoResult::Failed(failure_);
}

}  // namespace weft::inline v0::net
