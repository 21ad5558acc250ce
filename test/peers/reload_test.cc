// Servers that end connections in order while 64 threads use them: the age of connections is
// limited, or the server's process is replaced. None of it is an error of a call.
#include <atomic>
#include <exception>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "peers/client.h"
#include "support/catch.h"

namespace weft::inline v0::testing {

// GOAWAY(2^31-1), a PING, GOAWAY(n), and the end after what was open.
TEST_CASE("A gRPC server limits the age of connections") {
  if (const std::string missing = MissingGrpcServer(); !missing.empty()) WEFT_SKIP(missing);
  const Peer server = StartGrpcServer(absl::Milliseconds(100));
  const Holdings before = CountHoldings();
  Client client = MakeClient(server);
  Load load = GrpcLoad();
  load.calls = 100;
  std::atomic<bool> enough = false;
  load.until = &enough;
  LoadReport report;
  std::thread runs([&] { report = Run(*client.channel, server.port, load); });
  CHECK(Eventually([&] { return client.factory->Stats().connections_opened >= 10; }));
  enough = true;
  runs.join();
  INFO(report.problem);
  CHECK(report.answered >= static_cast<uint64_t>(load.threads) * static_cast<uint64_t>(load.calls));
  CHECK(report.failed == 0);
  CHECK(report.crossed == 0);
  CHECK(report.connections.size() >= 9);
  CHECK(report.most_connections <= 3);
  CheckEnd(client, before);
}

TEST_CASE("HAProxy is reloaded again and again") {
  if (const std::string missing = MissingProgram("haproxy"); !missing.empty()) WEFT_SKIP(missing);
  for (const Security security : {Security::kPlain, Security::kTls}) {
    Peer haproxy = StartHaproxy(security);
    const Holdings before = CountHoldings();
    Client client = MakeClient(haproxy.target, haproxy.channel,
                               {.connection = {.reconnect_max = absl::Seconds(1)}});
    Load load = EchoLoad();
    load.calls = 100;
    std::atomic<bool> reloaded = false;
    load.until = &reloaded;
    // Connections that the old process has not accepted by its end are reset by the kernel; a call
    // may wait for the next.
    load.options = {.timeout = absl::Seconds(60), .wait_for_ready = true};
    LoadReport report;
    std::thread runs([&] { report = Run(*client.channel, haproxy.port, load); });
    int reloads = 0;
    std::string problem;
    try {
      for (; reloads < 5; ++reloads) ReloadHaproxy(haproxy);
    } catch (const std::exception& exception) {
      problem = exception.what();
    }
    reloaded = true;
    runs.join();
    INFO(problem << report.problem);
    CHECK(reloads == 5);
    CHECK(report.answered >=
          static_cast<uint64_t>(load.threads) * static_cast<uint64_t>(load.calls));
    CHECK(report.failed == 0);
    CHECK(report.crossed == 0);
    CHECK(report.connections.size() >= 3);  // some of the six processes
    CHECK(report.most_connections <= 4);
    CheckEnd(client, before);
  }
}

}  // namespace weft::inline v0::testing
