// 64 threads that share one connection to each kind of server: no call fails, no answer goes to
// another call, and the server sees one connection (fault 51).
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>

#include "absl/strings/str_cat.h"
#include "peers/client.h"
#include "support/catch.h"

namespace weft::inline v0::testing {
namespace {

void Tell(const char* what, const LoadReport& report) {
  std::cout << what << ": " << report.answered << " calls in " << absl::FormatDuration(report.took)
            << ", connections " << report.connections.size() << " (at a time "
            << report.most_connections << ")\n";
}

// `share`: the part of the usual number of calls that is made, for the servers that are slow or
// tested twice.
void CheckOneConnection(const char* what, const Peer& peer, Load load, double share) {
  const Holdings before = CountHoldings();
  Client client = MakeClient(peer);
  load.calls = std::max(10, static_cast<int>(CallsPerThread() * share));
  const LoadReport report = Run(*client.channel, peer.port, load);
  Tell(what, report);
  INFO(report.problem);
  CHECK(report.answered == static_cast<uint64_t>(load.threads) * static_cast<uint64_t>(load.calls));
  CHECK(report.failed == 0);
  CHECK(report.crossed == 0);
  if (!report.connections.empty()) CHECK(report.connections.size() == 1);
  CHECK(report.most_connections <= 1);  // none was seen where the load was over at once
  CHECK(CountConnections(peer.port) == 1);
  const FactoryStats stats = client.factory->Stats();
  CHECK(stats.dials == 1);
  CHECK(stats.connections_opened == 1);
  CHECK(stats.connections_lost == 0);
  CHECK(stats.retries == 0);
  CHECK(stats.streams_opened == report.answered);
  CheckEnd(client, before);
  CHECK(Eventually([&] { return CountConnections(peer.port) == 0; }));
}

// nghttpd has nothing to echo with that is fast: files with their names in them.
constexpr int kFilesPerThread = 16;

Peer StartNghttpdWithFiles(Security security) {
  Peer nghttpd = StartNghttpd(security);
  for (int i = 0; i < Load().threads * kFilesPerThread; ++i) {
    const std::string name = absl::StrCat(i / kFilesPerThread, "-", i % kFilesPerThread);
    nghttpd.files->Write(name, name);
  }
  return nghttpd;
}

Load FileLoad() {
  Load load;
  load.ids_per_thread = kFilesPerThread;
  load.request = [](const std::string& id) { return Request::Get("/" + id); };
  load.id = [](const Response& response) { return response.body; };
  return load;
}

}  // namespace

TEST_CASE("64 threads share one connection to nghttpd over h2c") {
  if (const std::string missing = MissingProgram("nghttpd"); !missing.empty()) WEFT_SKIP(missing);
  CheckOneConnection("nghttpd h2c", StartNghttpdWithFiles(Security::kPlain), FileLoad(), 1);
}

TEST_CASE("64 threads share one connection to nghttpd over TLS") {
  if (const std::string missing = MissingProgram("nghttpd"); !missing.empty()) WEFT_SKIP(missing);
  CheckOneConnection("nghttpd TLS", StartNghttpdWithFiles(Security::kTls), FileLoad(), 0.25);
}

TEST_CASE("64 threads share one connection to node over h2c") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  const Peer node = StartNode();
  CheckOneConnection("node h2c", node, EchoLoad(), 1);
  CHECK(node.process->Ask("stats").find("total=1 open=0") != std::string::npos);
}

TEST_CASE("64 threads share one connection to node over TLS") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  const Peer node = StartNode({.security = Security::kTls});
  CheckOneConnection("node TLS", node, EchoLoad(), 0.25);
  CHECK(node.process->Ask("stats").find("total=1 open=0") != std::string::npos);
}

TEST_CASE("64 threads share one connection to a gRPC server") {
  if (const std::string missing = MissingGrpcServer(); !missing.empty()) WEFT_SKIP(missing);
  CheckOneConnection("gRPC", StartGrpcServer(), GrpcLoad(), 1);
}

TEST_CASE("64 threads share one connection to HAProxy over h2c") {
  if (const std::string missing = MissingProgram("haproxy"); !missing.empty()) WEFT_SKIP(missing);
  CheckOneConnection("HAProxy h2c", StartHaproxy(Security::kPlain), EchoLoad(), 1);
}

TEST_CASE("64 threads share one connection to HAProxy over TLS") {
  if (const std::string missing = MissingProgram("haproxy"); !missing.empty()) WEFT_SKIP(missing);
  CheckOneConnection("HAProxy TLS", StartHaproxy(Security::kTls), EchoLoad(), 0.25);
}

TEST_CASE("64 threads share one connection to nginx without a limit of requests") {
  if (const std::string missing = MissingProgram("nginx"); !missing.empty()) WEFT_SKIP(missing);
  CheckOneConnection("nginx h2c", StartNginx(Security::kPlain, "keepalive_requests 100000000;"),
                     EchoLoad(), 1);
}

// The scenario max-requests: nginx says GOAWAY after each so many requests, with others on their
// way. None of those was processed, so that none may fail, a POST as little as a GET.
static void CheckMaxRequests(const char* what, const Peer& nginx, int per_connection, double share,
                             const char* method) {
  const Holdings before = CountHoldings();
  Client client = MakeClient(nginx);
  Load load = EchoLoad();
  load.calls = std::max(10, static_cast<int>(CallsPerThread() * share));
  load.request = [method](const std::string& id) {
    Request request = Request::Get("/echo", {{"x-id", id}});
    request.method = method;
    return request;
  };
  const LoadReport report = Run(*client.channel, nginx.port, load);
  Tell(what, report);
  INFO(report.problem);
  CHECK(report.failed == 0);
  CHECK(report.crossed == 0);
  const uint64_t calls = static_cast<uint64_t>(load.threads) * static_cast<uint64_t>(load.calls);
  CHECK(report.answered == calls);
  // One after the other: as many as it takes, and not many at a time.
  CHECK(report.connections.size() >= calls / static_cast<uint64_t>(per_connection));
  CHECK(report.connections.size() <= 1 + calls * 5 / 4 / static_cast<uint64_t>(per_connection));
  CHECK(report.most_connections <= 4);
  CHECK(client.factory->Stats().retries == 0);  // those that a budget allows; none of these
  CheckEnd(client, before);
}

TEST_CASE("nginx ends a connection after each 1000 requests") {
  if (const std::string missing = MissingProgram("nginx"); !missing.empty()) WEFT_SKIP(missing);
  CheckMaxRequests("nginx h2c, 1000 each", StartNginx(), 1000, 0.5, "GET");
}

TEST_CASE("nginx over TLS ends a connection after each 1000 requests") {
  if (const std::string missing = MissingProgram("nginx"); !missing.empty()) WEFT_SKIP(missing);
  CheckMaxRequests("nginx TLS, 1000 each", StartNginx(Security::kTls), 1000, 0.25, "GET");
}

TEST_CASE("nginx ends a connection after each 20 requests") {
  if (const std::string missing = MissingProgram("nginx"); !missing.empty()) WEFT_SKIP(missing);
  const Peer nginx = StartNginx(Security::kPlain, "keepalive_requests 20;");
  CheckMaxRequests("nginx h2c, 20 each", nginx, 20, 0.05, "GET");
  CheckMaxRequests("nginx h2c, 20 each, POST", nginx, 20, 0.05, "POST");
}

TEST_CASE("nginx over TLS ends a connection after each 20 requests") {
  if (const std::string missing = MissingProgram("nginx"); !missing.empty()) WEFT_SKIP(missing);
  CheckMaxRequests("nginx TLS, 20 each", StartNginx(Security::kTls, "keepalive_requests 20;"), 20,
                   0.02, "GET");
}

}  // namespace weft::inline v0::testing
