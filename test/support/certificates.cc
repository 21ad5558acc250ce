#include "support/certificates.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <stdexcept>

namespace weft::inline v0::testing {
namespace {

void Require(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(std::string("making a certificate failed: ") + what);
}

template <class WriteInto>
std::string Pem(WriteInto write) {
  BIO* bio = BIO_new(BIO_s_mem());
  Require(write(bio) == 1, "PEM");
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}

void AddExtension(X509* certificate, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
  Require(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1, value);
  X509_EXTENSION_free(extension);
}

void AddName(GENERAL_NAMES* names, int type, int string_type, std::string_view bytes) {
  ASN1_STRING* string = ASN1_STRING_type_new(string_type);
  Require(ASN1_STRING_set(string, bytes.data(), static_cast<int>(bytes.size())) == 1, "name");
  GENERAL_NAME* name = GENERAL_NAME_new();
  GENERAL_NAME_set0_value(name, type, string);
  sk_GENERAL_NAME_push(names, name);
}

void AddAlternativeNames(X509* certificate, const CertificateOptions& options) {
  GENERAL_NAMES* names = GENERAL_NAMES_new();
  for (const std::string& name : options.dns_names) {
    AddName(names, GEN_DNS, V_ASN1_IA5STRING, name);
  }
  for (const std::string& uri : options.uris) AddName(names, GEN_URI, V_ASN1_IA5STRING, uri);
  for (const std::string& text : options.ip_addresses) {
    char bytes[16];
    const bool is_v6 = text.find(':') != std::string::npos;
    Require(inet_pton(is_v6 ? AF_INET6 : AF_INET, text.c_str(), bytes) == 1, "IP address");
    AddName(names, GEN_IPADD, V_ASN1_OCTET_STRING, std::string_view(bytes, is_v6 ? 16 : 4));
  }
  if (sk_GENERAL_NAME_num(names) > 0) {
    Require(X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, X509V3_ADD_APPEND) == 1,
            "subject alternative names");
  }
  GENERAL_NAMES_free(names);
}

void AddUsage(X509* certificate, const CertificateOptions& options) {
  if (options.is_ca) {
    AddExtension(certificate, NID_basic_constraints, "critical,CA:TRUE");
    AddExtension(certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
    return;
  }
  AddExtension(certificate, NID_basic_constraints, "critical,CA:FALSE");
  if (options.for_servers && options.for_clients) {
    AddExtension(certificate, NID_ext_key_usage, "serverAuth,clientAuth");
  } else if (options.for_servers) {
    AddExtension(certificate, NID_ext_key_usage, "serverAuth");
  } else if (options.for_clients) {
    AddExtension(certificate, NID_ext_key_usage, "clientAuth");
  }
}

}  // namespace

TestCertificate MakeCa(std::string_view common_name) {
  return MakeCertificate({.common_name = std::string(common_name), .is_ca = true}, nullptr);
}

TestCertificate MakeCertificate(const CertificateOptions& options, const TestCertificate* issuer) {
  static std::atomic<long> serial{1};
  TestCertificate made;
  made.key.reset(options.rsa_bits > 0 ? EVP_RSA_gen(static_cast<unsigned>(options.rsa_bits))
                                      : EVP_EC_gen("P-256"),
                 &EVP_PKEY_free);
  made.certificate.reset(X509_new(), &X509_free);
  Require(made.key != nullptr && made.certificate != nullptr, "key");
  X509* certificate = made.certificate.get();
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate), absl::ToInt64Seconds(options.not_before));
  X509_gmtime_adj(X509_getm_notAfter(certificate), absl::ToInt64Seconds(options.not_after));
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(options.common_name.data()),
                             static_cast<int>(options.common_name.size()), -1, 0);
  X509_set_issuer_name(certificate,
                       X509_get_subject_name(issuer ? issuer->certificate.get() : certificate));
  X509_set_pubkey(certificate, made.key.get());
  AddUsage(certificate, options);
  AddAlternativeNames(certificate, options);
  EVP_PKEY* signer = issuer ? issuer->key.get() : made.key.get();
  Require(X509_sign(certificate, signer, EVP_sha256()) > 0, "signature");
  made.pem = Pem([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
  made.key_pem = Pem([&](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, made.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  return made;
}

TempFile::TempFile(std::string_view content) {
  path_ = (std::filesystem::temp_directory_path() / "weft-test-XXXXXX").string();
  const int fd = mkstemp(path_.data());
  Require(fd >= 0, "temporary file");
  const bool written = write(fd, content.data(), content.size()) == ssize_t(content.size());
  close(fd);
  Require(written, "temporary file");
}

TempFile::~TempFile() { unlink(path_.c_str()); }

}  // namespace weft::inline v0::testing
