// The handshake: protocol, version, interruption, client certificates, resumption.
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <cstdlib>
#include <string>

#include "net/tls_harness.h"
#include "support/catch.h"

namespace weft::inline v0::testing {
namespace {

using Catch::Matchers::ContainsSubstring;
using std::chrono::milliseconds;
using std::chrono::seconds;

const TestCertificate& Ca() {
  static const TestCertificate ca = MakeCa("Weft Test CA");
  return ca;
}

const TestCertificate& Server() {
  static const TestCertificate server = MakeCertificate({.dns_names = {kTlsName}}, &Ca());
  return server;
}

TEST_CASE("tls: TLS 1.2 and 1.3 are spoken, older versions are not") {
  for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsHarness harness({.certificate = Server(), .min_version = version, .max_version = version});
    CHECK(harness.Connect(Ca()));
    CHECK(SSL_version(harness.server().ssl()) == version);
  }
  for (int version : {TLS1_VERSION, TLS1_1_VERSION}) {
    TlsHarness harness({.certificate = Server(), .min_version = version, .max_version = version});
    REQUIRE(!harness.Connect(Ca()));
    CHECK(harness.status().code() == absl::StatusCode::kUnavailable);
    CHECK_THAT(harness.error(), ContainsSubstring("offers no TLS version from 1.2 up"));
  }
}

TEST_CASE("tls: a peer without h2 is refused in words") {
  struct Case {
    std::string alpn;
    bool alert;
    std::string says;
  };
  for (const Case& one :
       {Case{"", false, "does not offer HTTP/2 over TLS (ALPN: none)"},
        Case{"http/1.1", false, "does not offer HTTP/2 over TLS (ALPN: http/1.1)"},
        Case{"h2\n", false, "does not offer HTTP/2 over TLS (ALPN: h2\\x0a)"},
        Case{"", true, "does not offer HTTP/2 over TLS (TLS alert"}}) {
    for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
      TlsHarness harness({.certificate = Server(),
                          .alpn = one.alpn,
                          .alert_no_alpn = one.alert,
                          .max_version = version});
      REQUIRE(!harness.Connect(Ca()));
      CHECK(harness.status().code() == absl::StatusCode::kUnavailable);
      CHECK_THAT(harness.error(), ContainsSubstring(one.says));
      CHECK(harness.server().received().empty());
    }
  }
}

TEST_CASE("tls: a peer that does not speak TLS") {
  for (const std::string bytes : {"HTTP/1.1 400 Bad Request\r\n\r\n", "garbage"}) {
    TlsHarness harness({.certificate = Server()});
    harness.on_accept = [bytes](SimServerStream stream) { stream.Write(bytes); };
    REQUIRE(!harness.Connect(Ca()));
    CHECK(harness.status().code() == absl::StatusCode::kUnavailable);
    CHECK_THAT(harness.error(), ContainsSubstring("does not speak TLS"));
  }
}

TEST_CASE("tls: the end and a reset during the handshake") {
  TlsHarness harness({.certificate = Server()});
  harness.on_accept = [](SimServerStream stream) { stream.CloseWrite(); };
  REQUIRE(!harness.Connect(Ca()));
  CHECK(harness.status().code() == absl::StatusCode::kUnavailable);
  CHECK(harness.error() == "closed the connection during the TLS handshake");
  harness.on_accept = [](SimServerStream stream) { stream.Reset(); };
  REQUIRE(!harness.Connect(Ca()));
  CHECK(harness.status().code() == absl::StatusCode::kUnavailable);
  CHECK_THAT(harness.error(), ContainsSubstring("reset"));
}

TEST_CASE("tls: the handshake completes at any size of pieces") {
  for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsHarness harness({.certificate = Server(), .max_version = version});
    SECTION("one byte at a time arrives") { harness.host().link.chunk = 1; }
    SECTION("one byte at a time is read") { harness.host().link.max_read = 1; }
    SECTION("one byte at a time is written, and then it blocks") {
      harness.host().link.max_write = 1;
      harness.host().link.block_between_writes = true;
    }
    SECTION("edges come without need") { harness.host().link.spurious_edges = true; }
    REQUIRE(harness.Connect(Ca()));
    harness.owner().Send("ping");
    harness.Run();
    CHECK(harness.server().received() == "ping");
  }
}

TEST_CASE("tls: a handshake that does not end is given up by destroying the dial") {
  TlsHarness harness({.certificate = Server()});
  harness.on_accept = [](SimServerStream) {};
  const std::shared_ptr<net::TlsContext> context = MakeTlsContext({.ca_pem = Ca().pem});
  harness.StartDial(*context, kTlsName, nullptr);
  harness.env().RunFor(seconds(60));
  CHECK(!harness.done());
  CHECK(harness.host().stats.open == 1);
  harness.CancelDial();
  harness.Run();
  CHECK(!harness.done());
  CHECK(harness.host().stats.open == 0);
}

TEST_CASE("tls: a dial may be destroyed at any moment, and then nothing is told") {
  const std::shared_ptr<net::TlsContext> context = MakeTlsContext({.ca_pem = Ca().pem});
  for (int steps = 0; steps < 60; ++steps) {
    TlsHarness harness({.certificate = Server()});
    harness.host().link.chunk = 64;
    harness.StartDial(*context, kTlsName, nullptr);
    int left = steps;
    harness.env().RunUntil([&] { return left-- == 0; }, seconds(5));
    const bool done = harness.done();
    harness.CancelDial();
    harness.Run();
    CHECK(harness.done() == done);
  }
}

TEST_CASE("tls: the roots") {
  TlsHarness harness({.certificate = Server()});
  const TestCertificate other = MakeCa("Other CA");
  SECTION("from a file") {
    TempFile file(Ca().pem);
    CHECK(harness.Connect(*MakeTlsContext({.ca_file = file.path()})));
  }
  SECTION("from both") {
    TempFile file(other.pem);
    CHECK(harness.Connect(*MakeTlsContext({.ca_file = file.path(), .ca_pem = Ca().pem})));
  }
  SECTION("several in one text, with words between") {
    CHECK(harness.Connect(
        *MakeTlsContext({.ca_pem = "# one\n" + other.pem + "\n# two\n" + Ca().pem})));
  }
  SECTION("only those given: not the system's") {
    TempFile file(Ca().pem);
    setenv("SSL_CERT_FILE", file.path().c_str(), 1);
    CHECK(!harness.Connect(*MakeTlsContext({.ca_pem = other.pem})));
    unsetenv("SSL_CERT_FILE");
  }
  SECTION("the system's, from SSL_CERT_FILE") {
    TempFile file(Ca().pem);
    setenv("SSL_CERT_FILE", file.path().c_str(), 1);
    CHECK(harness.Connect(*MakeTlsContext({})));
    unsetenv("SSL_CERT_FILE");
    CHECK(!harness.Connect(*MakeTlsContext({})));
  }
}

TEST_CASE("tls: options that cannot be") {
  const auto error_of = [](const TlsFiles& files) {
    absl::StatusOr<std::shared_ptr<net::TlsContext>> context =
        net::TlsContext::Create(ToOptions(files));
    REQUIRE(!context.ok());
    CHECK(context.status().code() == absl::StatusCode::kInvalidArgument);
    return std::string(context.status().message());
  };
  const TestCertificate client = MakeCertificate({.for_clients = true}, &Ca());
  const TestCertificate rsa = MakeCertificate({.for_clients = true, .rsa_bits = 2048}, &Ca());
  const TestCertificate weak = MakeCertificate({.for_clients = true, .rsa_bits = 1024}, &Ca());
  const TempFile certificate(client.pem), key(client.key_pem), other_key(Server().key_pem),
      rsa_key(rsa.key_pem), empty(""), weak_certificate(weak.pem), weak_key(weak.key_pem);
  CHECK(error_of({.ca_file = "/nowhere/ca.pem"}) ==
        "ca_file \"/nowhere/ca.pem\": No such file or directory");
  CHECK_THAT(error_of({.ca_file = empty.path()}), ContainsSubstring(empty.path()));
  CHECK(error_of({.ca_pem = "no certificate"}) == "ca_pem: holds no certificate");
  CHECK_THAT(error_of({.ca_pem = Ca().pem +
                                 "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}),
             ContainsSubstring("ca_pem: certificate 2: "));
  CHECK_THAT(error_of({.certificate_file = certificate.path()}),
             ContainsSubstring("key_file is not"));
  CHECK_THAT(error_of({.key_file = key.path()}), ContainsSubstring("certificate_file is not"));
  CHECK(error_of({.certificate_file = "/nowhere", .key_file = key.path()}) ==
        "certificate_file \"/nowhere\": No such file or directory");
  CHECK(error_of({.certificate_file = certificate.path(), .key_file = "/nowhere"}) ==
        "key_file \"/nowhere\": No such file or directory");
  CHECK_THAT(error_of({.certificate_file = certificate.path(), .key_file = empty.path()}),
             ContainsSubstring("key_file \"" + empty.path()));
  CHECK_THAT(error_of({.certificate_file = weak_certificate.path(), .key_file = weak_key.path()}),
             ContainsSubstring("key too small"));
  for (const TempFile* foreign : {&other_key, &rsa_key}) {
    CHECK(error_of({.certificate_file = certificate.path(), .key_file = foreign->path()}) ==
          "key_file \"" + foreign->path() + "\" does not belong to certificate_file \"" +
              certificate.path() + "\"");
  }
}

TEST_CASE("tls: an encrypted key is refused without asking on the terminal") {
  const TestCertificate client = MakeCertificate({.for_clients = true}, &Ca());
  BIO* bio = BIO_new(BIO_s_mem());
  char password[] = "secret";
  REQUIRE(PEM_write_bio_PKCS8PrivateKey(bio, client.key.get(), EVP_aes_128_cbc(), password, 6,
                                        nullptr, nullptr) == 1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  const TempFile certificate(client.pem), key(std::string_view(data, static_cast<size_t>(size)));
  BIO_free(bio);
  absl::StatusOr<std::shared_ptr<net::TlsContext>> context = net::TlsContext::Create(
      ToOptions({.certificate_file = certificate.path(), .key_file = key.path()}));
  CHECK(context.status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("tls: client certificates") {
  const TestCertificate client =
      MakeCertificate({.common_name = "client", .for_clients = true}, &Ca());
  const TempFile certificate(client.pem), key(client.key_pem);
  for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsHarness harness(
        {.certificate = Server(), .max_version = version, .client_ca_pem = Ca().pem});
    REQUIRE(harness.Connect(*MakeTlsContext(
        {.ca_pem = Ca().pem, .certificate_file = certificate.path(), .key_file = key.path()})));
    harness.owner().Send("ping");
    harness.Run();
    CHECK(harness.server().received() == "ping");
    X509* seen = SSL_get1_peer_certificate(harness.server().ssl());
    CHECK(X509_cmp(seen, client.certificate.get()) == 0);
    X509_free(seen);

    // Without one TLS 1.2 fails in the handshake, TLS 1.3 with the first read.
    const bool connected = harness.Connect(Ca());
    CHECK(connected == (version == TLS1_3_VERSION));
    const absl::Status& status = connected ? harness.owner().failure() : harness.status();
    CHECK(status.code() == absl::StatusCode::kUnavailable);
    CHECK_THAT(std::string(status.message()), ContainsSubstring("sent the TLS alert \""));
  }
}

TEST_CASE("tls: sessions are resumed, each ticket once") {
  for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsHarness harness({.certificate = Server(), .max_version = version});
    const std::shared_ptr<net::TlsContext> context = MakeTlsContext({.ca_pem = Ca().pem});
    auto sessions = std::make_shared<net::TlsSessionCache>();
    for (int i = 0; i < 4; ++i) {
      REQUIRE(harness.Connect(*context, kTlsName, sessions));
      CHECK(harness.server().resumed() == (i > 0));
      harness.owner().Send("ping");
      harness.Run();
      CHECK(harness.server().received() == "ping");
    }
    // Also after connections that ended badly.
    harness.server().stream().CloseWrite();
    harness.Run();
    REQUIRE(harness.Connect(*context, kTlsName, sessions));
    CHECK(harness.server().resumed());
    harness.server().stream().Reset();
    harness.Run();
    REQUIRE(harness.Connect(*context, kTlsName, sessions));
    CHECK(harness.server().resumed());
    // The cache gives a session away.
    SSL_SESSION* taken = sessions->Take();
    REQUIRE(taken != nullptr);
    CHECK(sessions->Take() == nullptr);
    sessions->Put(taken);
  }
}

TEST_CASE("tls: a session of another name or other roots is not resumed") {
  const TestCertificate both = MakeCertificate({.dns_names = {"a.test", "b.test"}}, &Ca());
  TlsHarness harness({.certificate = both});
  const std::shared_ptr<net::TlsContext> context = MakeTlsContext({.ca_pem = Ca().pem});
  const std::shared_ptr<net::TlsContext> same = MakeTlsContext({.ca_pem = Ca().pem});
  const std::shared_ptr<net::TlsContext> other = MakeTlsContext({.ca_pem = MakeCa("Other CA").pem});
  auto sessions = std::make_shared<net::TlsSessionCache>();
  REQUIRE(harness.Connect(*context, "a.test", sessions));
  REQUIRE(harness.Connect(*context, "b.test", sessions));
  CHECK(!harness.server().resumed());
  CHECK(!harness.Connect(*context, "c.test", sessions));
  CHECK(harness.status().code() == absl::StatusCode::kUnauthenticated);
  REQUIRE(harness.Connect(*context, "a.test", sessions));
  CHECK(!harness.Connect(*other, "a.test", sessions));
  REQUIRE(harness.Connect(*context, "a.test", sessions));
  REQUIRE(harness.Connect(*same, "a.test", sessions));
  CHECK(!harness.server().resumed());
}

TEST_CASE("tls: a server that no longer knows the session gets a full handshake") {
  const std::shared_ptr<net::TlsContext> context = MakeTlsContext({.ca_pem = Ca().pem});
  auto sessions = std::make_shared<net::TlsSessionCache>();
  for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    for (int i = 0; i < 2; ++i) {  // another server each time, with keys of its own
      TlsHarness harness({.certificate = Server(), .max_version = version});
      REQUIRE(harness.Connect(*context, kTlsName, sessions));
      CHECK(!harness.server().resumed());
    }
  }
}

TEST_CASE("tls: the context may go before its streams") {
  TlsHarness harness({.certificate = Server()});
  std::shared_ptr<net::TlsContext> context = MakeTlsContext({.ca_pem = Ca().pem});
  REQUIRE(harness.Connect(*context));
  context.reset();
  harness.owner().Send("ping");
  harness.Run();
  CHECK(harness.server().received() == "ping");
}

}  // namespace
}  // namespace weft::inline v0::testing
