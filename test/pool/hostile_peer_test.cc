// Peers that starve, flood or overfill a connection, and what the calls on it and beside it notice.
#include <array>
#include <string>

#include "support/catch.h"
#include "support/rogue_server.h"
#include "support/sim_client.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a peer that never reads: what is buffered is bounded, and deadlines still fire") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer server(*env, "10.0.0.1:80");
  server.options().connection_window = 0x7fffffff;
  server.options().settings = {{kMaxConcurrentStreams, 1000}, {kInitialWindowSize, 0x7fffffff}};
  SimClient client(env, "static:10.0.0.1:80");
  REQUIRE(client.RunUntilReady());
  server.last().stream().StopReading();
  const uint64_t before = server.host().stats.bytes_to_server;
  for (int i = 0; i < 200; ++i) {
    client.Post("/", std::string(200000, 'x'), {.timeout = absl::Seconds(2)});
  }
  REQUIRE(client.RunUntilAllDone());
  for (const SimCall& call : client.calls()) {
    CHECK(absl::IsDeadlineExceeded(call.status()));
    CHECK(call.took() >= 2s);
    CHECK(call.took() < 2100ms);
  }
  // Forty megabytes were asked for; the link's buffers and one batch are all that left the calls.
  CHECK(server.host().stats.bytes_to_server - before < 2 << 20);
  CHECK(client.Close());
}

TEST_CASE("a peer that floods is hung up on, its calls end, and the next connection is a new one") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer server(*env, "10.0.0.1:80");
  server.options().handler = [](const RogueRequest& request) {
    return request.connection == 1 ? RogueAnswer::Silence() : RogueAnswer{.body = "x"};
  };
  SimClient client(env, "static:10.0.0.1:80");
  SimCall& post = client.Post("/", "x");
  SimCall& get = client.Get();
  env->RunFor(50ms);
  for (int i = 0; i < 20000; ++i) server.connection(0).Send(PingFrame("12345678"));
  REQUIRE(client.RunUntilAllDone());
  CHECK_FALSE(post.ok());
  CHECK(post.error().processed == Processed::kMaybeProcessed);
  CHECK(post.error().origin == Origin::kConnection);
  CHECK(client.stats().protocol_errors == 1);
  SimCall& after = client.Get();
  REQUIRE(client.RunUntilDone(after));
  CHECK(after.ok());
  CHECK(get.done());
  CHECK(client.Close());
}

TEST_CASE("a response head over the limit fails its own call, the connection stays") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer server(*env, "10.0.0.1:80");
  server.options().handler = [](const RogueRequest& request) {
    RogueAnswer answer{.body = "x"};
    const int fields = request.path() == "/big" ? 100 : 1;
    for (int i = 0; i < fields; ++i) {
      answer.headers.push_back({"x-" + std::to_string(i), std::string(1000, 'v')});
    }
    return answer;
  };
  SimClient client(env, "static:10.0.0.1:80");
  SimCall& big = client.Get("/big");
  SimCall& small = client.Get("/small");
  REQUIRE(client.RunUntilAllDone());
  CHECK(absl::IsResourceExhausted(big.status()));
  CHECK(small.ok());
  CHECK(server.accepted() == 1);
  CHECK(client.Close());
}

TEST_CASE("every byte in a turn of its own, both ways, changes nothing") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer server(*env, "10.0.0.1:80");
  server.host().link.chunk = 1;
  server.host().link.max_write = 1;
  server.host().link.block_between_writes = true;
  server.host().link.spurious_edges = true;
  SimClient client(env, "static:10.0.0.1:80");
  for (int i = 0; i < 10; ++i) client.Post("/", "body " + std::to_string(i));
  REQUIRE(client.RunUntilAllDone());
  for (const SimCall& call : client.calls()) {
    REQUIRE(call.ok());
    CHECK(call.response().headers["x-id"] == call.id());
  }
  CHECK(server.accepted() == 1);
  CHECK(server.violations().empty());
  CHECK(client.Close());
}

TEST_CASE(
    "kills, drains and resets at random: every call ends once, and what was answered belongs to "
    "it") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    auto env = std::make_shared<SimEnv>(seed);
    WEFT_SEED_INFO(*env);
    RogueServer a(*env, "10.0.0.1:80");
    RogueServer b(*env, "10.0.0.2:80");
    RogueServer c(*env, "10.0.0.3:80");
    for (RogueServer* server : {&a, &b, &c}) {
      server->options().handler = [&env](const RogueRequest& request) {
        if (env->random().Below(50) == 0) return RogueAnswer::Refused();
        return RogueAnswer{.body = std::string(request.id()),
                           .delay = std::chrono::microseconds(env->random().Below(20000))};
      };
    }
    SimClient client(env, "static:10.0.0.1:80,10.0.0.2:80,10.0.0.3:80");
    REQUIRE(client.RunUntilReady());
    for (int round = 0; round < 200; ++round) {
      for (int i = 0; i < 5; ++i) {
        SimCall& call =
            round % 2 == 0 ? client.Get("/", {.wait_for_ready = true}) : client.Post("/", "x");
        if (env->random().Below(20) == 0) client.Drop(call);
      }
      env->RunFor(std::chrono::microseconds(env->random().Below(5000)));
      RogueServer& victim = *std::array{&a, &b, &c}[env->random().Below(3)];
      switch (env->random().Below(80)) {
        case 0:
          victim.Kill();
          env->After(20ms, [&victim] { victim.Listen(); });
          break;
        case 1:
          victim.Drain();
          break;
        case 2:
          victim.host().ResetAll();
          break;
        default:
          break;
      }
    }
    REQUIRE(client.RunUntilAllDone());
    // A POST fails where the connection broke under it; a GET only where that happens three times,
    // or where no host is left for a moment.
    size_t failed_gets = 0;
    size_t gets = 0;
    for (const SimCall& call : client.calls()) {
      if (!call.done()) continue;  // dropped
      const bool get = (std::stoul(call.id()) - 1) / 5 % 2 == 0;
      gets += get ? 1 : 0;
      if (call.ok()) {
        CHECK(call.response().body == call.id());
      } else {
        failed_gets += get ? 1 : 0;
        INFO(call.status().ToString());
        // INTERNAL: a server that is drained again while it drains says a higher last id than
        // before.
        CHECK((absl::IsUnavailable(call.status()) || absl::IsInternal(call.status())));
      }
    }
    CHECK(failed_gets <= gets / 100);
    env->RunFor(1s);
    for (const RogueServer* server : {&a, &b, &c}) CHECK(server->violations().empty());
    CHECK(client.Close());
  }
}

}  // namespace
}  // namespace weft::testing
