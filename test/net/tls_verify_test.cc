// Whom the client accepts, and what it says of the others.
#include <openssl/ssl.h>

#include <string>

#include "net/tls_harness.h"
#include "net/tls_verify.h"
#include "support/catch.h"

namespace weft::inline v0::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

const TestCertificate& Ca() {
  static const TestCertificate ca = MakeCa("Weft Test CA");
  return ca;
}

// The error for a server with that certificate; empty where it is accepted.
std::string Verify(const CertificateOptions& options, const std::string& name = kTlsName) {
  TlsHarness harness({.certificate = MakeCertificate(options, &Ca())});
  if (harness.Connect(Ca(), name)) return "";
  CHECK(harness.status().code() == absl::StatusCode::kUnauthenticated);
  CHECK(harness.server().received().empty());
  return harness.error();
}

TEST_CASE("tls: a certificate for the name is accepted, and SNI carries it") {
  TlsHarness harness({.certificate = MakeCertificate({.dns_names = {"b.test", kTlsName}}, &Ca())});
  REQUIRE(harness.Connect(Ca()));
  CHECK(harness.owner().stream().alpn() == "h2");
  CHECK(harness.server().server_name() == kTlsName);
  CHECK(harness.server().version() == "TLSv1.3");
}

TEST_CASE("tls: names compare without case and without the root's dot") {
  CHECK(Verify({.dns_names = {"A.Test"}}) == "");
  TlsHarness harness({.certificate = MakeCertificate({.dns_names = {kTlsName}}, &Ca())});
  REQUIRE(harness.Connect(Ca(), "a.test."));
  CHECK(harness.server().server_name() == "a.test");
}

TEST_CASE("tls: an address is checked against address names, without SNI") {
  for (const std::string address : {"10.0.0.1", "2001:db8::1"}) {
    TlsHarness harness({.certificate = MakeCertificate({.ip_addresses = {address}}, &Ca())});
    REQUIRE(harness.Connect(Ca(), address));
    CHECK(harness.server().server_name() == "");
  }
  CHECK_THAT(Verify({.ip_addresses = {"10.0.0.2"}}, "10.0.0.1"),
             ContainsSubstring("is not for \"10.0.0.1\": it is for IP 10.0.0.2"));
  // An address written as a DNS name is no address, and no common name either.
  CHECK_THAT(Verify({.common_name = "10.0.0.1", .dns_names = {"10.0.0.1"}}, "10.0.0.1"),
             ContainsSubstring("is not for \"10.0.0.1\""));
}

TEST_CASE("tls: wildcards stand for one whole label above at least two") {
  CHECK(Verify({.dns_names = {"*.a.test"}}, "x.a.test") == "");
  CHECK(Verify({.dns_names = {"*.a.test"}}, "x.y.a.test") != "");
  CHECK(Verify({.dns_names = {"*.a.test"}}, "a.test") != "");
  CHECK(Verify({.dns_names = {"*.test"}}, "a.test") != "");
  CHECK_THAT(Verify({.dns_names = {"*.com"}}, "example.com"), ContainsSubstring("it is for *.com"));
  CHECK(Verify({.dns_names = {"*"}}, "localhost") != "");
  CHECK(Verify({.dns_names = {"x*.a.test"}}, "xy.a.test") != "");
  CHECK(Verify({.dns_names = {"x.*.test"}}, "x.a.test") != "");
}

TEST_CASE("tls: the common name does not count") {
  CHECK_THAT(Verify({.common_name = kTlsName}),
             ContainsSubstring("carries no subject alternative name"));
  CHECK(Verify({.common_name = kTlsName, .ip_addresses = {"10.0.0.1"}}) != "");
  CHECK(Verify({.common_name = kTlsName, .uris = {"spiffe://a.test/x"}}) != "");
}

TEST_CASE("tls: a NUL in a name does not end it") {
  const std::string evil("a.test\0.evil.test", 17);
  const std::string error = Verify({.dns_names = {evil}});
  CHECK_THAT(error, ContainsSubstring("a.test\\x00.evil.test"));
  CHECK(error.find('\0') == std::string::npos);
}

TEST_CASE("tls: a mismatch lists the names, bounded and printable") {
  CertificateOptions options;
  for (int i = 0; i < 200; ++i) {
    options.dns_names.push_back(std::string(100, 'x') + "\r\n\x1b" + std::to_string(i));
  }
  options.uris = {"spiffe://other/ns/x"};
  const std::string error = Verify(options);
  CHECK_THAT(error, ContainsSubstring("and 193 more"));
  CHECK(error.size() < 1000);
  for (char c : error) CHECK((c >= ' ' && c < 0x7f));
  CHECK_THAT(Verify({.dns_names = {"b.test"}, .ip_addresses = {"::1"}, .uris = {"spiffe://b/x"}}),
             ContainsSubstring("failed verification: certificate is not for \"a.test\": it is for "
                               "b.test, URI spiffe://b/x, IP ::1"));
}

TEST_CASE("tls: an expired certificate is refused with its date") {
  const std::string error = Verify(
      {.dns_names = {kTlsName}, .not_before = absl::Hours(-48), .not_after = absl::Hours(-24)});
  CHECK_THAT(error, ContainsSubstring("certificate expired on 20"));
  CHECK_THAT(error, ContainsSubstring(" UTC"));
}

TEST_CASE("tls: a certificate that is not valid yet is refused with its date") {
  CHECK_THAT(Verify({.dns_names = {kTlsName}, .not_before = absl::Hours(2)}),
             ContainsSubstring("certificate is not valid before 20"));
}

TEST_CASE("tls: a certificate for clients is not one for servers") {
  CHECK_THAT(Verify({.dns_names = {kTlsName}, .for_servers = false, .for_clients = true}),
             ContainsSubstring("not made for TLS servers"));
  CHECK(Verify({.dns_names = {kTlsName}, .for_servers = false}) ==
        "");  // says nothing: all purposes
}

TEST_CASE("tls: a weak key is refused") {
  TlsHarness harness(
      {.certificate = MakeCertificate({.dns_names = {kTlsName}, .rsa_bits = 1024}, &Ca()),
       .weak = true});
  CHECK(!harness.Connect(Ca()));
  CHECK(harness.status().code() == absl::StatusCode::kUnauthenticated);
  CHECK_THAT(harness.error(), ContainsSubstring("certificate: EE certificate key too weak"));
}

TEST_CASE("tls: unknown issuers") {
  const TestCertificate other = MakeCa("Other CA");
  const TestCertificate leaf = MakeCertificate({.dns_names = {kTlsName}}, &other);
  SECTION("self-signed") {
    TlsHarness harness({.certificate = MakeCertificate({.dns_names = {kTlsName}}, nullptr)});
    REQUIRE(!harness.Connect(Ca()));
    CHECK(harness.status().code() == absl::StatusCode::kUnauthenticated);
    CHECK_THAT(harness.error(), ContainsSubstring("self-signed"));
  }
  SECTION("not sent") {
    TlsHarness harness({.certificate = leaf});
    REQUIRE(!harness.Connect(Ca()));
    CHECK(harness.status().code() == absl::StatusCode::kUnauthenticated);
    CHECK_THAT(harness.error(), ContainsSubstring("unknown issuer \"CN=Other CA\""));
  }
  SECTION("sent along") {
    TlsHarness harness({.certificate = leaf, .chain_pem = other.pem});
    REQUIRE(!harness.Connect(Ca()));
    CHECK(harness.status().code() == absl::StatusCode::kUnauthenticated);
    CHECK_THAT(harness.error(), ContainsSubstring("chain ends at \"CN=Other CA\""));
  }
  SECTION("of the same name, with another key") {
    const TestCertificate twin = MakeCa("Weft Test CA");
    TlsHarness harness({.certificate = MakeCertificate({.dns_names = {kTlsName}}, &twin)});
    REQUIRE(!harness.Connect(Ca()));
    CHECK(harness.status().code() == absl::StatusCode::kUnauthenticated);
  }
  SECTION("no certificate authority") {
    const TestCertificate end =
        MakeCertificate({.common_name = "end", .dns_names = {"end.test"}}, &Ca());
    const TestCertificate below = MakeCertificate({.dns_names = {kTlsName}}, &end);
    TlsHarness harness({.certificate = below, .chain_pem = end.pem});
    REQUIRE(!harness.Connect(Ca()));
    CHECK(harness.status().code() == absl::StatusCode::kUnauthenticated);
  }
}

TEST_CASE("tls: a chain over an intermediate is accepted, expired, the error names it") {
  for (const bool expired : {false, true}) {
    const TestCertificate middle = MakeCertificate({.common_name = "Middle",
                                                    .not_before = absl::Hours(-48),
                                                    .not_after = absl::Hours(expired ? -24 : 24),
                                                    .is_ca = true},
                                                   &Ca());
    const TestCertificate leaf = MakeCertificate({.dns_names = {kTlsName}}, &middle);
    TlsHarness harness({.certificate = leaf, .chain_pem = middle.pem});
    CHECK(harness.Connect(Ca()) == !expired);
    if (expired) {
      CHECK_THAT(harness.error(),
                 ContainsSubstring("certificate of issuer \"CN=Middle\" expired on"));
    }
  }
}

TEST_CASE("tls: what cannot be verified is not connected to") {
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".a.test"), std::string("a test"),
        std::string("a.test\0b", 8), std::string("10.0.0.1\0b", 10), std::string("*.a.test"),
        std::string(300, 'a'), std::string("a.test:443")}) {
    TlsHarness harness({.certificate = MakeCertificate({.dns_names = {kTlsName}}, &Ca())});
    REQUIRE(!harness.Connect(Ca(), name));
    CHECK(harness.status().code() == absl::StatusCode::kUnauthenticated);
    CHECK_THAT(harness.error(), ContainsSubstring("is neither a DNS name nor an IP address"));
    CHECK(harness.host().stats.bytes_to_server == 0);
  }
}

}  // namespace
}  // namespace weft::inline v0::testing
