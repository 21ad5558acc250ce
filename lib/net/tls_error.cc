#include "net/tls_error.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace weft::inline v0::net {
namespace {

std::string ReasonText(unsigned long error) {
  if (error == 0) return "unknown error";
  // Not strerror, which is not thread-safe.
  if (ERR_SYSTEM_ERROR(error)) return std::generic_category().message(ERR_GET_REASON(error));
  const char* reason = ERR_reason_error_string(error);
  if (reason != nullptr) return reason;
  return absl::StrCat("OpenSSL error 0x", absl::Hex(error));
}

}  // namespace

std::string TakeOpenSslReason() {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  return ReasonText(error);
}

std::string TakeTlsProblem() {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  const std::string reason = ReasonText(error);
  if (error == 0 || ERR_GET_LIB(error) != ERR_LIB_SSL) return absl::StrCat("broke TLS: ", reason);
  switch (ERR_GET_REASON(error)) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
      return "does not speak TLS";
    case SSL_R_UNSUPPORTED_PROTOCOL:
      return "offers no TLS version from 1.2 up";
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      return "offers no TLS version from 1.2 up (TLS alert \"protocol version\")";
    case SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL:
      return "does not offer HTTP/2 over TLS (TLS alert \"no application protocol\")";
    default:
      break;
  }
  if (ERR_GET_REASON(error) > SSL_AD_REASON_OFFSET) {
    // "sslv3 alert handshake failure": the version in it says when the alert was invented, not what
    // is spoken.
    constexpr std::string_view kAlert = "alert ";
    const size_t at = reason.find(kAlert);
    return absl::StrCat("sent the TLS alert \"",
                        at == std::string::npos ? reason : reason.substr(at + kAlert.size()), "\"");
  }
  return absl::StrCat("broke TLS: ", reason);
}

std::string Printable(std::string_view text, size_t limit) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (char c : text.substr(0, limit)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '"') {
      out.push_back(c);
    } else {
      out.append({'\\', 'x', kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  if (text.size() > limit) out.append("...");
  return out;
}

}  // namespace weft::inline v0::net
