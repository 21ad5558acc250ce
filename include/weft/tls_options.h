// TlsOptions: how connections of a channel are secured (TLS 1.2 and 1.3, ALPN h2, RFC 9113
// section 9.2).
#ifndef WEFT_TLS_OPTIONS_H_
#define WEFT_TLS_OPTIONS_H_

#include <string>

namespace weft::inline v0 {

// A host is always verified: its chain against the roots, its name or address against the
// certificate's subject alternative names (never the common name). A failure names the reason, and
// no byte of a request is sent.
struct TlsOptions {
  // PEM file of root certificates; empty: the system's (SSL_CERT_FILE and SSL_CERT_DIR are
  // honoured).
  std::string ca_file = {};
  // PEM text of root certificates; used beside ca_file.
  std::string ca_pem = {};
  // Name that the certificate must carry, also sent as SNI. Empty: the channel's authority, or else
  // the endpoint's address (then the certificate must carry that IP address).
  std::string server_name = {};
  // Client certificate chain and key, PEM files; both or none.
  std::string certificate_file = {};
  std::string key_file = {};

  bool operator==(const TlsOptions&) const = default;
};

}  // namespace weft::inline v0

#endif  // WEFT_TLS_OPTIONS_H_
