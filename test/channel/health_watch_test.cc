#include "channel/health_watch.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "support/rogue_server.h"
#include "support/sim_env.h"
#include "telemetry/counters.h"

namespace weft::channel {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using testing::RogueAnswer;
using testing::RogueRequest;
using testing::RogueServer;
using testing::SimEnv;
using State = HealthWatch::State;

HealthCheckOptions Http() { return {.kind = HealthCheckOptions::Kind::kHttp}; }
HealthCheckOptions Grpc(std::string service = "") {
  return {.kind = HealthCheckOptions::Kind::kGrpc, .service = std::move(service)};
}

// Hosts, their servers and a watch, without a client above them.
class Rig {
 public:
  explicit Rig(int count, HealthCheckOptions options = Http(), std::string authority = "") {
    for (int i = 0; i < count; ++i) {
      const std::string address = "10.0.0." + std::to_string(i + 1) + ":80";
      servers.push_back(std::make_unique<RogueServer>(env, address));
      pool::HostSetup setup;
      setup.loop = loop.get();
      setup.read_buffer = &buffer_;
      setup.counters = &counters_;
      setup.options = &connection_;
      setup.connector.network = &env.network();
      setup.seed = env.NewSeed();
      hosts.push_back(
          base::MakeRef<pool::HostPool>(*net::Address::Parse(address), std::move(setup)));
      hosts.back()->Connect();
    }
    watch = std::make_shared<HealthWatch>(*loop, HealthWatch::Setup{.options = std::move(options),
                                                                    .authority = authority,
                                                                    .seed = env.NewSeed(),
                                                                    .on_change = [this] {
                                                                      CHECK(loop->IsCurrent());
                                                                      ++changes;
                                                                    }});
    watch->SetHosts(hosts);
  }
  ~Rig() {
    CloseWatch();
    for (auto& host : hosts) {
      bool closed = false;
      host->Shutdown(pool::HostPool::How::kNow, absl::CancelledError("over"),
                     [&] { closed = true; });
      CHECK(env.RunUntil([&] { return closed; }, 60s));
      CHECK(host->in_flight() == 0);
      CHECK(host->unique());
    }
    hosts.clear();
    CHECK(env.RunUntilIdle());
  }
  void CloseWatch() {
    if (watch == nullptr) return;
    loop->PostFunction([watch = std::move(watch)] { watch->Close(); });
    env.RunFor(10ms);
  }
  void Answer(size_t server, std::function<RogueAnswer(const RogueRequest&)> handler) {
    servers[server]->options().handler = std::move(handler);
  }
  void AnswerStatus(size_t server, int status) {
    Answer(server, [status](const RogueRequest&) { return RogueAnswer{.status = status}; });
  }
  State StateOf(size_t host) const { return watch->StateOf(*hosts[host]); }
  uint64_t Asked(size_t server) const { return servers[server]->request_count(); }

  SimEnv env;
  std::vector<std::unique_ptr<RogueServer>> servers;
  std::unique_ptr<event::Loop> loop = *env.NewLoop(0, nullptr);
  std::vector<base::Ref<pool::HostPool>> hosts;
  std::shared_ptr<HealthWatch> watch;
  int changes = 0;

 private:
  pool::ReadBuffer buffer_ = pool::ReadBuffer(16384);
  telemetry::Counters counters_;
  ConnectionOptions connection_;
};

TEST_CASE("each host is asked over HTTP, and what it says counts") {
  Rig rig(2);
  WEFT_SEED_INFO(rig.env);
  rig.AnswerStatus(0, 200);
  rig.AnswerStatus(1, 503);
  CHECK(rig.StateOf(0) == State::kUnknown);
  rig.env.RunFor(100ms);
  CHECK(rig.StateOf(0) == State::kHealthy);
  CHECK(rig.StateOf(1) == State::kUnhealthy);
  CHECK(rig.changes == 2);
  REQUIRE(rig.Asked(0) == 1);
  const RogueRequest& request = *rig.servers[0]->requests()[0];
  CHECK(request.method() == "GET");
  CHECK(request.path() == "/healthz");
  CHECK(request.authority() == "10.0.0.1:80");

  // Three more bad ones, two more good ones.
  rig.AnswerStatus(0, 500);
  rig.AnswerStatus(1, 200);
  rig.env.RunFor(12s);
  CHECK(rig.StateOf(0) == State::kHealthy);
  CHECK(rig.StateOf(1) == State::kUnhealthy);
  rig.env.RunFor(12s);
  CHECK(rig.StateOf(0) == State::kHealthy);
  CHECK(rig.StateOf(1) == State::kHealthy);
  rig.env.RunFor(12s);
  CHECK(rig.StateOf(0) == State::kUnhealthy);
  CHECK(rig.changes == 4);
  CHECK(rig.Asked(0) >= 4);
  CHECK(rig.Asked(0) <= 5);
}

TEST_CASE("a host is asked as gRPC asks, and its status counts") {
  Rig rig(4, Grpc("a.B"), "payments");
  WEFT_SEED_INFO(rig.env);
  rig.Answer(0, [](const RogueRequest&) { return RogueAnswer::Grpc("\x08\x01", 0); });
  rig.Answer(1, [](const RogueRequest&) { return RogueAnswer::Grpc("\x08\x02", 0); });
  rig.Answer(2, [](const RogueRequest&) { return RogueAnswer::Grpc("", 12); });
  rig.Answer(3,
             [](const RogueRequest&) { return RogueAnswer::Grpc(std::string(100'000, 'x'), 0); });
  rig.env.RunFor(500ms);
  CHECK(rig.StateOf(0) == State::kHealthy);
  CHECK(rig.StateOf(1) == State::kUnhealthy);
  CHECK(rig.StateOf(2) == State::kHealthy);  // UNIMPLEMENTED
  CHECK(rig.StateOf(3) == State::kUnhealthy);
  const RogueRequest& request = *rig.servers[0]->requests()[0];
  CHECK(request.method() == "POST");
  CHECK(request.path() == "/grpc.health.v1.Health/Check");
  CHECK(request.authority() == "payments");
  CHECK(request.header("content-type") == "application/grpc");
  CHECK(request.header("te") == "trailers");
  CHECK(request.header("grpc-timeout") == "1000000u");
  CHECK(request.body ==
        "\0\0\0\0\x05\x0a\x03"
        "a.B"s);
  for (const auto& server : rig.servers) CHECK(server->violations() == std::vector<std::string>{});
}

TEST_CASE("no answer in time, or a lost connection, is a failed check") {
  HealthCheckOptions options = Http();
  options.unhealthy_threshold = 1;
  Rig rig(2, options);
  WEFT_SEED_INFO(rig.env);
  rig.env.RunFor(100ms);
  CHECK(rig.StateOf(0) == State::kHealthy);
  rig.Answer(0, [](const RogueRequest&) { return RogueAnswer::Silence(); });
  rig.Answer(1, [&](const RogueRequest&) {
    rig.env.After(1ms, [&] { rig.servers[1]->last().stream().Reset(); });
    return RogueAnswer::Silence();
  });
  REQUIRE(rig.env.RunUntil([&] { return rig.Asked(0) == 2; }, 20s));
  rig.env.RunFor(900ms);
  CHECK(rig.StateOf(0) == State::kHealthy);
  rig.env.RunFor(200ms);
  CHECK(rig.StateOf(0) == State::kUnhealthy);
  rig.env.RunFor(2s);
  CHECK(rig.StateOf(1) == State::kUnhealthy);
}

TEST_CASE("while a host is not connected nothing is known of it, and soon after it is") {
  Rig rig(1);
  WEFT_SEED_INFO(rig.env);
  rig.servers[0]->Kill();
  rig.env.RunFor(20s);
  CHECK(rig.StateOf(0) == State::kUnknown);
  CHECK(rig.changes == 0);
  rig.servers[0]->Listen();
  REQUIRE(rig.env.RunUntil([&] { return rig.hosts[0]->state() == HostState::kReady; }, 60s));
  rig.env.RunFor(1200ms);
  CHECK(rig.StateOf(0) == State::kHealthy);
}

TEST_CASE("a check that this process noticed late says nothing") {
  HealthCheckOptions options = Http();
  options.unhealthy_threshold = 1;
  Rig rig(1, options);
  WEFT_SEED_INFO(rig.env);
  rig.env.RunFor(100ms);
  bool silent = true;
  rig.Answer(0, [&](const RogueRequest&) {
    return silent ? RogueAnswer::Silence() : RogueAnswer{.status = 200};
  });
  REQUIRE(rig.env.RunUntil([&] { return rig.Asked(0) == 2; }, 20s));
  silent = false;
  rig.env.Stall(30s);
  rig.env.RunFor(2s);
  CHECK(rig.Asked(0) == 3);
  CHECK(rig.StateOf(0) == State::kHealthy);
  CHECK(rig.changes == 1);
}

TEST_CASE("hosts that come and go, while they are asked") {
  Rig rig(3);
  WEFT_SEED_INFO(rig.env);
  for (size_t i = 0; i < 3; ++i)
    rig.Answer(i, [](const RogueRequest&) { return RogueAnswer{.status = 200, .delay = 500ms}; });
  rig.watch->SetHosts({rig.hosts[0], rig.hosts[1]});
  REQUIRE(rig.env.RunUntil([&] { return rig.Asked(0) == 1 && rig.Asked(1) == 1; }, 5s));
  // One goes while it is asked, and one comes; named twice, it is asked once.
  rig.watch->SetHosts({rig.hosts[2], rig.hosts[0], rig.hosts[2]});
  rig.env.RunFor(1500ms);
  CHECK(rig.StateOf(0) == State::kHealthy);
  CHECK(rig.StateOf(1) == State::kUnknown);
  CHECK(rig.StateOf(2) == State::kHealthy);
  CHECK(rig.servers[1]->requests()[0]->reset.has_value());
  CHECK(rig.Asked(2) == 1);
  CHECK(rig.changes == 2);
  rig.env.RunFor(30s);
  CHECK(rig.Asked(1) == 1);
  // It goes and comes again while it is asked: only the new check counts.
  const uint64_t asked = rig.Asked(0);
  REQUIRE(rig.env.RunUntil([&] { return rig.Asked(0) > asked; }, 20s));
  rig.watch->SetHosts({});
  rig.watch->SetHosts({rig.hosts[0]});
  CHECK(rig.StateOf(0) == State::kUnknown);
  rig.env.RunFor(2s);
  CHECK(rig.StateOf(0) == State::kHealthy);
  CHECK(rig.Asked(0) == asked + 2);
}

TEST_CASE("a watch that is closed while it asks says nothing any more") {
  Rig rig(1);
  WEFT_SEED_INFO(rig.env);
  rig.Answer(0, [](const RogueRequest&) { return RogueAnswer{.status = 200, .delay = 500ms}; });
  REQUIRE(rig.env.RunUntil([&] { return rig.Asked(0) == 1; }, 5s));
  rig.CloseWatch();
  rig.env.RunFor(60s);
  CHECK(rig.changes == 0);
  CHECK(rig.Asked(0) == 1);
  CHECK(rig.hosts[0]->in_flight() == 0);
}

}  // namespace
}  // namespace weft::channel
