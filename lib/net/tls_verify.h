// Whom a TLS peer must prove to be, and words for a proof that fails.
#ifndef WEFT_LIB_NET_TLS_VERIFY_H_
#define WEFT_LIB_NET_TLS_VERIFY_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

struct ssl_st;
struct x509_store_ctx_st;

namespace weft::inline v0::net {

// A DNS name or an IP address.
struct TlsIdentity {
  std::string name;
  bool is_address = false;

  // UNAUTHENTICATED for what no certificate can be checked for (empty, a leading dot, blanks,
  // control characters): OpenSSL would take an empty name for "do not check" and a leading dot for
  // "any name below".
  static absl::StatusOr<TlsIdentity> Parse(std::string_view server_name);
};

// Makes OpenSSL check the certificate's subject alternative names (RFC 9525: never the common name,
// a wildcard only as the whole first label and above at least two more) and send SNI (RFC 6066:
// names only). False without memory.
bool RequireIdentity(ssl_st* ssl, const TlsIdentity& identity);

// In a verify callback that was told of a failure: which rule, which certificate. At most a few
// hundred bytes, printable.
std::string DescribeVerifyFailure(x509_store_ctx_st* store, const TlsIdentity& identity);

}  // namespace weft::inline v0::net

#endif  // WEFT_LIB_NET_TLS_VERIFY_H_
