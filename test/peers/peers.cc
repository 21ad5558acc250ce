#include "peers/peers.h"

#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace weft::inline v0::testing {
namespace {

std::string ServerFile(std::string_view name) {
  return absl::StrCat(WEFT_PEERS_SERVERS, "/", std::string(name));
}

// Starts it on a free port, and on another one if somebody else took that in between. Ready is who
// says so, or else who takes connections: a server that counts these is not to be asked that way.
void StartOnPort(Peer& peer, const std::function<ProcessOptions(uint16_t port)>& options,
                 std::string_view ready_line = "") {
  constexpr int kTries = 5;
  for (int i = 1;; ++i) {
    peer.port = FreePort();
    try {
      peer.process = std::make_unique<Process>(options(peer.port));
      if (ready_line.empty()) {
        WaitForListener(*peer.process, peer.port);
      } else {
        peer.process->WaitForLine(ready_line);
      }
      break;
    } catch (const std::runtime_error&) {
      if (i == kTries) throw;
    }
  }
  peer.target = absl::StrCat("127.0.0.1:", peer.port);
}

Peer NewPeer(Security security) {
  Peer peer;
  peer.files = std::make_unique<TempDir>();
  if (security == Security::kTls) {
    const TestCertificate& certificate = PeerCertificate();
    peer.channel.tls = TlsOptions{.ca_pem = PeerCa().pem};
    peer.files->Write("key.pem", certificate.key_pem);
    peer.files->Write("certificate.pem", certificate.pem);
    peer.files->Write("both.pem", certificate.pem + certificate.key_pem);
  }
  return peer;
}

}  // namespace

const TestCertificate& PeerCa() {
  static const TestCertificate ca = MakeCa("Root of the peers");
  return ca;
}

const TestCertificate& PeerCertificate() {
  static const TestCertificate certificate = MakeCertificate(
      {.common_name = "peer", .dns_names = {"localhost"}, .ip_addresses = {"127.0.0.1"}},
      &PeerCa());
  return certificate;
}

std::string MissingProgram(std::string_view name) {
  if (FindProgram(name).has_value()) return "";
  return absl::StrCat(std::string(name), " is not installed");
}

std::string MissingGrpcServer() {
#ifdef WEFT_PEERS_GRPC_SERVER
  return "";
#else
  return "gRPC for C++ was not there when the tests were built";
#endif
}

std::string LifeProbe() { return WEFT_PEERS_LIFE_PROBE; }

std::string PausedProbe() { return WEFT_PEERS_PAUSED_PROBE; }

Peer StartNode(const NodeOptions& options) {
  Peer peer = NewPeer(options.security);
  const auto process = [&](const std::string& where) {
    ProcessOptions node{.args = {"node", ServerFile("http2_server.js"), where}};
    if (options.security == Security::kTls) {
      node.args.push_back("--key=" + peer.files->File("key.pem"));
      node.args.push_back("--cert=" + peer.files->File("certificate.pem"));
    }
    if (!options.log.empty()) node.args.push_back("--log=" + options.log);
    if (options.slow >= 0) node.args.push_back(absl::StrCat("--slow=", options.slow));
    return node;
  };
  if (options.unix_socket || options.port != 0) {
    const std::string path = peer.files->File("node.sock");
    peer.port = options.port;
    peer.target = options.unix_socket ? absl::StrCat("unix:", path)
                                      : absl::StrCat("127.0.0.1:", options.port);
    peer.process =
        std::make_unique<Process>(process(options.unix_socket ? path : absl::StrCat(options.port)));
    peer.process->WaitForLine("listening");
  } else {
    StartOnPort(
        peer, [&](uint16_t port) { return process(absl::StrCat(port)); }, "listening");
  }
  return peer;
}

Peer StartNghttpd(Security security) {
  Peer peer = NewPeer(security);
  StartOnPort(peer, [&](uint16_t port) {
    ProcessOptions nghttpd{.args = {"nghttpd", "--echo-upload", "--address=127.0.0.1"},
                           .directory = peer.files->path()};
    if (security == Security::kPlain) nghttpd.args.push_back("--no-tls");
    nghttpd.args.push_back(absl::StrCat(port));
    if (security == Security::kTls) {
      nghttpd.args.push_back(peer.files->File("key.pem"));
      nghttpd.args.push_back(peer.files->File("certificate.pem"));
    }
    return nghttpd;
  });
  return peer;
}

Peer StartGrpcServer(absl::Duration max_connection_age) {
  Peer peer = NewPeer(Security::kPlain);
#ifdef WEFT_PEERS_GRPC_SERVER
  const auto options = [&](uint16_t port) {
    ProcessOptions server{.args = {WEFT_PEERS_GRPC_SERVER, absl::StrCat(port)}};
    if (max_connection_age > absl::ZeroDuration()) {
      server.args.push_back(absl::StrCat(absl::ToInt64Milliseconds(max_connection_age)));
    }
    return server;
  };
  StartOnPort(peer, options, "listening");
#endif
  return peer;
}

Peer StartNginx(Security security, std::string_view limits) {
  Peer peer = NewPeer(security);
  const bool tls = security == Security::kTls;
  const std::string& folder = peer.files->path();
  StartOnPort(peer, [&](uint16_t port) {
    const std::string configuration = peer.files->Write(
        "nginx.conf",
        absl::StrReplaceAll(
            ReadFile(ServerFile("nginx.conf.in")),
            {{"@DIR@", folder},
             {"@PORT@", absl::StrCat(port)},
             {"@LISTEN@", tls ? "ssl" : ""},
             {"@LIMITS@", std::string(limits)},
             {"@TLS@",
              tls ? absl::StrCat("ssl_certificate ", peer.files->File("both.pem"),
                                 "; ssl_certificate_key ", peer.files->File("both.pem"), ";")
                  : ""}}));
    return ProcessOptions{.args = {"nginx", "-e", "stderr", "-p", folder, "-c", configuration}};
  });
  return peer;
}

Peer StartHaproxy(Security security) {
  Peer peer = NewPeer(security);
  peer.backend = std::make_unique<Peer>(StartNode());
  StartOnPort(peer, [&](uint16_t port) {
    const std::string configuration = peer.files->Write(
        "haproxy.cfg",
        absl::StrReplaceAll(
            ReadFile(ServerFile("haproxy.cfg.in")),
            {{"@PORT@", absl::StrCat(port)},
             {"@BACKEND@", absl::StrCat(peer.backend->port)},
             {"@BIND@", security == Security::kTls
                            ? absl::StrCat("ssl crt ", peer.files->File("both.pem"), " alpn h2")
                            : "proto h2"}}));
    return ProcessOptions{.args = {"haproxy", "-db", "-f", configuration}};
  });
  return peer;
}

void ReloadHaproxy(Peer& haproxy) {
  const std::string old = absl::StrCat(haproxy.process->pid());
  auto next = std::make_unique<Process>(ProcessOptions{
      .args = {"haproxy", "-db", "-f", haproxy.files->File("haproxy.cfg"), "-sf", old}});
  haproxy.process->Wait();
  haproxy.process = std::move(next);
}

}  // namespace weft::inline v0::testing
