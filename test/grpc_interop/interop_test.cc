// Each case with each client against each server.
#include <sys/wait.h>

#include <csignal>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "grpc_interop/cases.h"
#include "grpc_interop/checks.h"
#include "grpc_interop/clients.h"
#include "grpc_interop/native/native_health_client.h"
#include "grpc_interop/server.h"
#include "support/catch.h"

namespace weft::inline v0::testing {
namespace {

constexpr InteropServerKind kServers[] = {InteropServerKind::kGrpcCpp, InteropServerKind::kGrpcJs};

// One of each kind for all clients; started when it is first wanted, and again if it has ended.
InteropServer& ServerOf(InteropServerKind kind) {
  static std::map<InteropServerKind, std::unique_ptr<InteropServer>> servers;
  std::unique_ptr<InteropServer>& server = servers[kind];
  if (server == nullptr || server->process().HasEnded()) {
    server = std::make_unique<InteropServer>(kind);
  }
  return *server;
}

void Run(InteropCase run) {
  static const std::vector<InteropClientKind> clients = InteropClients();
  const InteropServerKind kind = kServers[GENERATE(0, 1)];
  const InteropClientKind client_kind = clients[GENERATE_COPY(range(size_t{0}, clients.size()))];
  INFO(client_kind.name << " and " << NameOf(kind));
  if (const std::string missing = MissingServer(kind); !missing.empty()) WEFT_SKIP(missing);
  InteropServer& server = ServerOf(kind);
  const std::unique_ptr<InteropClient> client = client_kind.make(server.address());
  InteropBed bed{*client, server, client_kind.make};
  run(bed);
}

TEST_CASE("empty_unary") { Run(EmptyUnary); }
TEST_CASE("large_unary") { Run(LargeUnary); }
TEST_CASE("client_compressed_unary") { Run(ClientCompressedUnary); }
TEST_CASE("server_compressed_unary") { Run(ServerCompressedUnary); }
TEST_CASE("client_streaming") { Run(ClientStreaming); }
TEST_CASE("server_streaming") { Run(ServerStreaming); }
TEST_CASE("client_compressed_streaming") { Run(ClientCompressedStreaming); }
TEST_CASE("server_compressed_streaming") { Run(ServerCompressedStreaming); }
TEST_CASE("ping_pong") { Run(PingPong); }
TEST_CASE("half_duplex") { Run(HalfDuplex); }
TEST_CASE("empty_stream") { Run(EmptyStream); }
TEST_CASE("timeout_on_sleeping_server") { Run(TimeoutOnSleepingServer); }
TEST_CASE("cancel_after_begin") { Run(CancelAfterBegin); }
TEST_CASE("cancel_after_first_response") { Run(CancelAfterFirstResponse); }
TEST_CASE("status_code_and_message") { Run(StatusCodeAndMessage); }
TEST_CASE("special_status_message") { Run(SpecialStatusMessage); }
TEST_CASE("status_details") { Run(StatusDetails); }
TEST_CASE("all_status_codes") { Run(AllStatusCodes); }
TEST_CASE("unimplemented_method") { Run(UnimplementedMethod); }
TEST_CASE("unimplemented_service") { Run(UnimplementedServiceCase); }
TEST_CASE("custom_metadata") { Run(CustomMetadata); }
TEST_CASE("wait_for_ready") { Run(WaitForReady); }
TEST_CASE("max_receive_size") { Run(MaxReceiveSize); }
TEST_CASE("max_send_size") { Run(MaxSendSize); }
TEST_CASE("soak") { Run(Soak); }
TEST_CASE("64 threads share one connection and get their own answers") { Run(ManyThreads); }

TEST_CASE("a server that says it is not serving gets no calls, none fails, and it comes back") {
  const InteropServerKind kind = InteropServerKind::kGrpcCpp;
  if (const std::string missing = MissingServer(kind); !missing.empty()) WEFT_SKIP(missing);
  const std::string service = "grpc.testing.TestService";
  InteropServer first(kind);
  InteropServer second(kind);
  for (InteropServer* server : {&first, &second}) server->SetServing(service, true);
  const NativeHealthClient client({first.address(), second.address()}, service);
  // Calls until `done`, none of which may fail.
  const auto call_until = [&](const std::function<bool()>& done) {
    for (const absl::Time limit = absl::Now() + absl::Seconds(30); absl::Now() < limit;) {
      if (done()) return true;
      const absl::Status status = client.Call();
      CAPTURE(status.ToString());
      REQUIRE(status.ok());
    }
    return false;
  };
  // Whether a hundred calls reach it.
  const auto is_called = [&](InteropServer& server) {
    server.ForgetPeers();
    for (int i = 0; i < 100; ++i) REQUIRE(client.Call().ok());
    return server.CountPeers() > 0;
  };
  REQUIRE(call_until([&] { return client.CountHealthy() == 2; }));
  CHECK(is_called(first));
  CHECK(is_called(second));
  for (int i = 0; i < 3; ++i) {
    first.SetServing(service, false);
    REQUIRE(call_until([&] { return client.CountHealthy() == 1; }));
    CHECK_FALSE(is_called(first));
    CHECK(is_called(second));
    first.SetServing(service, true);
    REQUIRE(call_until([&] { return client.CountHealthy() == 2; }));
    CHECK(is_called(first));
  }
}

TEST_CASE("The interop servers count their clients and end in order") {
  const InteropServerKind kind = kServers[GENERATE(0, 1)];
  INFO(NameOf(kind));
  if (const std::string missing = MissingServer(kind); !missing.empty()) WEFT_SKIP(missing);
  InteropServer server(kind);
  CHECK(server.CountPeers() == 0);
  {
    // Two channels, so two connections: the check of one connection can fail.
    const auto first = InteropClients().front().make(server.address());
    const auto second = InteropClients().front().make(server.address());
    CheckOk(first->Empty(InteropEmptyMethod::kEmptyCall));
    CheckOk(second->Empty(InteropEmptyMethod::kEmptyCall));
    CHECK(server.CountPeers() == 2);
    server.ForgetPeers();
    CHECK(server.CountPeers() == 0);
  }
  server.process().Kill(SIGTERM);
  const int status = server.process().Wait();
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(server.process().ReadToEnd().find("ended") != std::string::npos);
}

}  // namespace
}  // namespace weft::inline v0::testing
