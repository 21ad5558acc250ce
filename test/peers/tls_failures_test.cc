// TLS servers that must not be trusted or cannot speak HTTP/2, played by `openssl s_server`: each
// is refused with an error that says why, and not a byte of a request is sent (faults 37, 38, 40).
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "peers/client.h"
#include "support/catch.h"

namespace weft::inline v0::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

// One s_server for one connection: it ends with that, so that all it received has been printed by
// then.
class OneTlsServer {
 public:
  OneTlsServer(const TestCertificate& certificate, std::vector<std::string> more) {
    const std::string pem = files_.Write("both.pem", certificate.pem + certificate.key_pem);
    port_ = FreePort();
    ProcessOptions options{.args = {"openssl", "s_server", "-accept",
                                    absl::StrCat("127.0.0.1:", port_), "-cert", pem, "-key", pem,
                                    "-naccept", "1"}};
    for (std::string& option : more) options.args.push_back(std::move(option));
    process_ = std::make_unique<Process>(options);
    process_->WaitForLine("ACCEPT");
  }

  std::string target() const { return absl::StrCat("127.0.0.1:", port_); }
  // Waits for the end of the connection; what was received, and s_server's own talk.
  std::string ReadAll() { return process_->ReadToEnd() + process_->Errors(); }

 private:
  TempDir files_;
  uint16_t port_ = 0;
  std::unique_ptr<Process> process_;
};

TestCertificate Certificate(CertificateOptions options, const TestCertificate& ca = PeerCa()) {
  return MakeCertificate(options, &ca);
}

// Calls once; the request must not have left, and the reason be told.
void CheckNothingSent(const absl::Status& status, std::string_view reason) {
  INFO(status);
  CHECK_THAT(std::string(status.message()), ContainsSubstring(std::string(reason)));
  CHECK(absl::IsUnavailable(status));
  const auto error = GetCallError(status);
  REQUIRE(error.has_value());
  CHECK(error->processed == Processed::kNotSent);
}

absl::Status CallOnce(const std::string& target, ChannelOptions channel) {
  const Client client = MakeClient(target, channel);
  return client.channel
      ->Call(Request::Post("/secret-path", "secret body"), {.timeout = absl::Seconds(20)})
      .status();
}

void CheckRefused(const TestCertificate& certificate, std::vector<std::string> options,
                  std::string_view reason) {
  const NothingLeft nothing_left;
  OneTlsServer server(certificate, std::move(options));
  const absl::Status status =
      CallOnce(server.target(), {.authority = "a.test", .tls = TlsOptions{.ca_pem = PeerCa().pem}});
  CheckNothingSent(status, reason);
  const std::string received = server.ReadAll();
  INFO(received);
  CHECK(received.find("PRI * HTTP/2.0") == std::string::npos);
  CHECK(received.find("secret") == std::string::npos);
}

// A listener that treats its first connection as it is told, and says how it was.
class OneConnection {
 public:
  enum class Deed { kClose, kReset, kCloseAfterHello, kResetAfterHello, kSayHttp, kSayNothing };

  explicit OneConnection(Deed deed) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (listener_ < 0 || bind(listener_, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        listen(listener_, 16) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("cannot listen");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, deed] { Serve(deed); });
  }
  ~OneConnection() {
    shutdown(listener_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    close(listener_);
  }
  OneConnection(const OneConnection&) = delete;
  OneConnection& operator=(const OneConnection&) = delete;

  std::string target() const { return absl::StrCat("127.0.0.1:", port_); }
  // Waits for the connection's end.
  std::string Received() {
    thread_.join();
    return received_;
  }

 private:
  // False at the end.
  bool ReadSome(int fd) {
    char buffer[4096];
    const ssize_t size = recv(fd, buffer, sizeof buffer, 0);
    if (size > 0) received_.append(buffer, static_cast<size_t>(size));
    return size > 0;
  }

  void Serve(Deed deed) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    const bool hello =
        deed == Deed::kCloseAfterHello || deed == Deed::kResetAfterHello || deed == Deed::kSayHttp;
    if (hello) ReadSome(fd);
    if (deed == Deed::kSayHttp) {
      constexpr std::string_view kAnswer = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
      send(fd, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
    }
    if (deed == Deed::kSayNothing || deed == Deed::kSayHttp) {
      while (ReadSome(fd)) {
      }
    }
    if (deed == Deed::kReset || deed == Deed::kResetAfterHello) {
      constexpr linger kNow{1, 0};
      setsockopt(fd, SOL_SOCKET, SO_LINGER, &kNow, sizeof kNow);
    }
    close(fd);
  }

  int listener_;
  uint16_t port_;
  std::string received_;
  std::thread thread_;
};

absl::Status CallTls(const std::string& target) {
  return CallOnce(target, {.authority = "a.test", .tls = TlsOptions{.ca_pem = PeerCa().pem}});
}

}  // namespace

TEST_CASE("A server whose certificate is not to be trusted gets no request") {
  if (const std::string missing = MissingProgram("openssl"); !missing.empty()) WEFT_SKIP(missing);
  const std::vector<std::string> h2 = {"-alpn", "h2"};
  CheckRefused(
      Certificate(
          {.dns_names = {"a.test"}, .not_before = absl::Hours(-48), .not_after = absl::Hours(-24)}),
      h2, "expired");
  CheckRefused(
      Certificate(
          {.dns_names = {"a.test"}, .not_before = absl::Hours(24), .not_after = absl::Hours(48)}),
      h2, "not valid before");
  CheckRefused(Certificate({.dns_names = {"b.test", "*.a.test"}}), h2, "is not for \"a.test\"");
  CheckRefused(Certificate({.common_name = "a.test"}), h2, "common name does not count");
  CheckRefused(MakeCertificate({.common_name = "a.test", .dns_names = {"a.test"}}, nullptr), h2,
               "self-signed");
  CheckRefused(Certificate({.dns_names = {"a.test"}}, MakeCa("Stranger")), h2, "unknown issuer");
  // The same over TLS 1.2, where the certificate comes in the clear and the order of things
  // differs.
  CheckRefused(Certificate({.dns_names = {"b.test"}}), {"-alpn", "h2", "-tls1_2"},
               "is not for \"a.test\"");
}

TEST_CASE("A server of TLS 1.1 gets no request") {
  if (const std::string missing = MissingProgram("openssl"); !missing.empty()) WEFT_SKIP(missing);
  CheckRefused(Certificate({.dns_names = {"a.test"}}),
               {"-alpn", "h2", "-tls1_1", "-cipher", "ALL:@SECLEVEL=0"},
               "no TLS version from 1.2 up");
}

TEST_CASE("A server that does not offer h2 gets no request") {
  if (const std::string missing = MissingProgram("openssl"); !missing.empty()) WEFT_SKIP(missing);
  const TestCertificate good = Certificate({.dns_names = {"a.test"}});
  for (const char* version : {"-tls1_2", "-tls1_3"}) {
    CheckRefused(good, {version}, "does not offer HTTP/2 over TLS (ALPN: none)");
    CheckRefused(good, {version, "-alpn", "http/1.1"}, "does not offer HTTP/2 over TLS");
  }
}

TEST_CASE("A server that demands a certificate of the client gets no request") {
  if (const std::string missing = MissingProgram("openssl"); !missing.empty()) WEFT_SKIP(missing);
  const TestCertificate good = Certificate({.dns_names = {"a.test"}});
  // In TLS 1.3 the client knows of it only after its own handshake is over, so that the call may
  // have been sent by then.
  CheckRefused(good, {"-alpn", "h2", "-tls1_2", "-Verify", "1", "-verify_return_error"},
               "TLS alert");
}

TEST_CASE(
    "The good server gets the request, and nothing it says afterwards is taken for an answer") {
  if (const std::string missing = MissingProgram("openssl"); !missing.empty()) WEFT_SKIP(missing);
  // The counter-check of the others: s_server does print what it receives.
  const NothingLeft nothing_left;
  OneTlsServer server(Certificate({.dns_names = {"a.test"}}), {"-alpn", "h2"});
  const Client client = MakeClient(
      server.target(), {.authority = "a.test", .tls = TlsOptions{.ca_pem = PeerCa().pem}},
      {.connection = {.connect_timeout = absl::Seconds(1)}});
  const absl::Status status =
      client.channel->Call(Request::Get("/secret-path"), {.timeout = absl::Seconds(20)}).status();
  // It speaks no HTTP/2: the connect timeout covers the SETTINGS that never come, and the request
  // waits for these.
  CheckNothingSent(status, "no HTTP/2 SETTINGS within the connect timeout");
  const std::string received = server.ReadAll();
  CHECK(received.find("PRI * HTTP/2.0") != std::string::npos);
  CHECK(received.find("secret") == std::string::npos);
}

TEST_CASE("A server that goes away during the TLS handshake is told apart") {
  using Deed = OneConnection::Deed;
  const std::pair<Deed, std::string_view> cases[] = {
      {Deed::kClose, "the connection"},  // a FIN, or an RST if the hello was faster
      {Deed::kReset, "reset the connection"},
      {Deed::kCloseAfterHello, "closed the connection during the TLS handshake"},
      {Deed::kResetAfterHello, "reset the connection"},
      {Deed::kSayHttp, "does not speak TLS"},
  };
  for (const auto& [deed, reason] : cases) {
    const NothingLeft nothing_left;
    OneConnection server(deed);
    CheckNothingSent(CallTls(server.target()), reason);
    CHECK(server.Received().find("secret") == std::string::npos);
  }
}

TEST_CASE("A TLS handshake that gets no answer ends with the connect timeout") {
  const NothingLeft nothing_left;
  OneConnection server(OneConnection::Deed::kSayNothing);
  absl::Status status;
  {
    const Client client = MakeClient(
        server.target(), {.authority = "a.test", .tls = TlsOptions{.ca_pem = PeerCa().pem}},
        {.connection = {.connect_timeout = absl::Milliseconds(300)}});
    status = client.channel->Call(Request::Get("/"), {.timeout = absl::Seconds(20)}).status();
  }
  CheckNothingSent(status, "within the connect timeout of 300ms");
  CHECK(server.Received().find("secret") == std::string::npos);
}

}  // namespace weft::inline v0::testing
