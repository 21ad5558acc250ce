// Certificates made at run time, good ones and every kind of bad one.
//
//   const TestCertificate ca = MakeCa("Test CA");
//   const TestCertificate server = MakeCertificate({.dns_names = {"a.test"}}, &ca);
//   TempFile file(server.pem);   // file.path(), gone with it
#ifndef WEFT_TEST_SUPPORT_CERTIFICATES_H_
#define WEFT_TEST_SUPPORT_CERTIFICATES_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"

struct evp_pkey_st;
struct x509_st;

namespace weft::inline v0::testing {

// A certificate, its key, and both as PEM. Freely copied.
struct TestCertificate {
  std::shared_ptr<x509_st> certificate;
  std::shared_ptr<evp_pkey_st> key;
  std::string pem;
  std::string key_pem;
};

struct CertificateOptions {
  std::string common_name = "test";
  // Subject alternative names. The bytes go in as they are: NUL, "*.com" and worse.
  std::vector<std::string> dns_names = {};
  std::vector<std::string> ip_addresses = {};  // "10.0.0.1", "::1"
  std::vector<std::string> uris = {};          // "spiffe://…"
  // From now.
  absl::Duration not_before = absl::Hours(-1);
  absl::Duration not_after = absl::Hours(24);
  bool is_ca = false;
  bool for_servers = true;  // extended key usage; with neither there is none
  bool for_clients = false;
  int rsa_bits = 0;  // zero: an elliptic curve, P-256
};

TestCertificate MakeCa(std::string_view common_name);
// Signed by `issuer`; self-signed where that is null.
TestCertificate MakeCertificate(const CertificateOptions& options, const TestCertificate* issuer);

// A file in the system's folder for such, removed with the object.
class TempFile {
 public:
  explicit TempFile(std::string_view content);
  ~TempFile();
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_SUPPORT_CERTIFICATES_H_
