#include "net/tls_verify.h"

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "absl/strings/str_cat.h"
#include "net/tls_error.h"
#include "net/tls_openssl.h"

namespace weft::inline v0::net {
namespace {

constexpr size_t kMaxNames = 8;
constexpr size_t kMaxNameBytes = 80;

using GeneralNamesPtr = std::unique_ptr<GENERAL_NAMES, OpenSslFree<GENERAL_NAMES_free>>;

std::string_view TextOf(const ASN1_STRING* string) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(string)),
          static_cast<size_t>(ASN1_STRING_length(string))};
}

std::string DateText(const ASN1_TIME* time) {
  std::tm parts{};
  char text[40];
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return "an unreadable date";
  const size_t size = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return std::string(text, size);
}

std::string NameText(const X509_NAME* name) {
  BioPtr bio(BIO_new(BIO_s_mem()));
  char* data = nullptr;
  if (bio == nullptr || X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_RFC2253) < 0) return "?";
  const long size = BIO_get_mem_data(bio.get(), &data);
  if (data == nullptr || size <= 0) return "(empty)";
  return Printable(std::string_view(data, static_cast<size_t>(size)), 2 * kMaxNameBytes);
}

std::string AlternativeNameText(const GENERAL_NAME* name) {
  switch (name->type) {
    case GEN_DNS:
      return Printable(TextOf(name->d.dNSName), kMaxNameBytes);
    case GEN_URI:
      return absl::StrCat("URI ",
                          Printable(TextOf(name->d.uniformResourceIdentifier), kMaxNameBytes));
    case GEN_IPADD: {
      const std::string_view bytes = TextOf(name->d.iPAddress);
      char text[INET6_ADDRSTRLEN];
      const int family = bytes.size() == 4 ? AF_INET : AF_INET6;
      if ((bytes.size() == 4 || bytes.size() == 16) &&
          inet_ntop(family, bytes.data(), text, sizeof text) != nullptr) {
        return absl::StrCat("IP ", text);
      }
      return "an IP address of odd length";
    }
    default:
      return "a name of another kind";
  }
}

std::string AlternativeNames(const X509* certificate) {
  GeneralNamesPtr names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  const int count = names != nullptr ? sk_GENERAL_NAME_num(names.get()) : 0;
  if (count <= 0) return "carries no subject alternative name (a common name does not count)";
  std::string out = "is for ";
  const int shown = std::min(count, static_cast<int>(kMaxNames));
  for (int i = 0; i < shown; ++i) {
    if (i > 0) out += ", ";
    out += AlternativeNameText(sk_GENERAL_NAME_value(names.get(), i));
  }
  if (count > shown) absl::StrAppend(&out, " and ", count - shown, " more");
  return out;
}

// "certificate", or which other one of the chain.
std::string WhichCertificate(int depth, const X509* certificate) {
  if (depth == 0 || certificate == nullptr) return "certificate";
  return absl::StrCat("certificate of issuer \"", NameText(X509_get_subject_name(certificate)),
                      "\"");
}

}  // namespace

absl::StatusOr<TlsIdentity> TlsIdentity::Parse(std::string_view server_name) {
  TlsIdentity identity;
  identity.name = std::string(server_name);
  unsigned char address[16];
  if (inet_pton(AF_INET, identity.name.c_str(), address) == 1 ||
      inet_pton(AF_INET6, identity.name.c_str(), address) == 1) {
    // c_str ends at a NUL byte, where the name does not.
    identity.is_address = identity.name.find('\0') == std::string::npos;
  }
  if (identity.is_address) return identity;
  if (identity.name.ends_with('.'))
    identity.name.pop_back();  // The root's dot is in neither SNI nor certificates.
  const bool fit = std::all_of(identity.name.begin(), identity.name.end(), [](char c) {
    return c > ' ' && c < 0x7f && c != '*' && c != '/' && c != ':';
  });
  if (!fit || identity.name.empty() || identity.name.size() > 253 || identity.name.front() == '.') {
    return absl::UnauthenticatedError(absl::StrCat("cannot be verified: \"",
                                                   Printable(server_name, kMaxNameBytes),
                                                   "\" is neither a DNS name nor an IP address"));
  }
  return identity;
}

bool RequireIdentity(ssl_st* ssl, const TlsIdentity& identity) {
  X509_VERIFY_PARAM* rules = SSL_get0_param(ssl);
  X509_VERIFY_PARAM_set_hostflags(
      rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  if (identity.is_address) return X509_VERIFY_PARAM_set1_ip_asc(rules, identity.name.c_str()) == 1;
  return X509_VERIFY_PARAM_set1_host(rules, identity.name.data(), identity.name.size()) == 1 &&
         SSL_set_tlsext_host_name(ssl, identity.name.c_str()) == 1;
}

std::string DescribeVerifyFailure(x509_store_ctx_st* store, const TlsIdentity& identity) {
  const int error = X509_STORE_CTX_get_error(store);
  const int depth = X509_STORE_CTX_get_error_depth(store);
  const X509* certificate = X509_STORE_CTX_get_current_cert(store);
  const std::string which = WhichCertificate(depth, certificate);
  if (certificate == nullptr)
    return absl::StrCat(which, ": ", X509_verify_cert_error_string(error));
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return absl::StrCat(which, " expired on ", DateText(X509_get0_notAfter(certificate)));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return absl::StrCat(which, " is not valid before ",
                          DateText(X509_get0_notBefore(certificate)));
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return absl::StrCat(which, " is self-signed and not a trusted root");
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      return absl::StrCat("chain ends at \"", NameText(X509_get_subject_name(certificate)),
                          "\", a self-signed certificate that is not a trusted root");
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return absl::StrCat(which, " has the unknown issuer \"",
                          NameText(X509_get_issuer_name(certificate)), "\"");
    case X509_V_ERR_INVALID_PURPOSE:
      return absl::StrCat(which, " is not made for TLS servers (key usage)");
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return absl::StrCat(which, " is not for \"", Printable(identity.name, 2 * kMaxNameBytes),
                          "\": it ", AlternativeNames(certificate));
    default:
      return absl::StrCat(which, ": ", X509_verify_cert_error_string(error));
  }
}

}  // namespace weft::inline v0::net
