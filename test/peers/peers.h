// The servers of other people that Weft is tested with, started on a free port of this machine.
//
//   if (const std::string missing = MissingProgram("nginx"); !missing.empty()) WEFT_SKIP(missing);
//   const Peer nginx = StartNginx(Security::kTls);
//   auto channel = (*factory)->GetChannel(nginx.target, nginx.channel);
#ifndef WEFT_TEST_PEERS_PEERS_H_
#define WEFT_TEST_PEERS_PEERS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "support/certificates.h"
#include "support/process.h"
#include "weft/weft.h"

namespace weft::inline v0::testing {

enum class Security { kPlain, kTls };

// A server that runs until the object goes. The process goes before what it uses.
struct Peer {
  std::string target;      // for GetChannel
  uint16_t port = 0;       // zero for a Unix socket
  ChannelOptions channel;  // with the roots that the server's certificate goes back to
  std::unique_ptr<TempDir> files;
  std::unique_ptr<Peer> backend;
  std::unique_ptr<Process> process;
};

// Empty where the program is there; otherwise what to say when the test is skipped.
std::string MissingProgram(std::string_view name);
std::string MissingGrpcServer();
// The paths of programs that were built with the tests, for Process.
std::string LifeProbe();
std::string PausedProbe();

// http2_server.js. With a `port`, on that one; with a `log`, the ids of POSTs are appended to that
// file.
struct NodeOptions {
  Security security = Security::kPlain;
  uint16_t port = 0;
  std::string log = {};
  bool unix_socket = false;
  int slow = -1;  // /nth/N is slow where N modulo 5 is this
};
Peer StartNode(const NodeOptions& options = {});
// Echoes the bodies of POSTs, by way of a file each, and has what a test writes to its `files`.
Peer StartNghttpd(Security security = Security::kPlain);
// Over h2c; see grpc_echo_server.cc. Zero: connections may get as old as they like.
Peer StartGrpcServer(absl::Duration max_connection_age = absl::ZeroDuration());
// `limits`: more directives of its http block. Files of its folder "files" can be put and got.
Peer StartNginx(Security security = Security::kPlain, std::string_view limits = "");
// /echo is answered by HAProxy, everything else by a node behind it.
Peer StartHaproxy(Security security = Security::kPlain);
// Another process takes its place as in a reload: it listens on the same port, and the old one ends
// in order. Waits for that.
void ReloadHaproxy(Peer& haproxy);

// The root of the certificates of all these servers, and one for 127.0.0.1 and localhost.
const TestCertificate& PeerCa();
const TestCertificate& PeerCertificate();

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_PEERS_PEERS_H_
