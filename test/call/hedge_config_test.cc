// Hedges that a service config asks for (gRFC A6), and those that find their delay by themselves.
#include <optional>
#include <string>
#include <vector>

#include "call/hedge_world.h"
#include "support/catch.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;
using When = HedgeOptions::When;

std::string Hedging(const std::string& policy, const std::string& more = "") {
  return R"({"methodConfig": [{"name": [{"service": "s"}], "hedgingPolicy": )" + policy + "}]" +
         more + "}";
}
RogueAnswer Grpc(const char* code, base::MonoDuration delay = 0ms, HeaderList more = {}) {
  RogueAnswer answer{.headers = {{"content-type", "application/grpc"}, {"grpc-status", code}},
                     .delay = delay};
  answer.headers.insert(answer.headers.end(), more.begin(), more.end());
  return answer;
}
// Not idempotent by itself: who configures a hedgingPolicy says that it is.
SimCall& Unary(HedgeWorld& world, CallOptions options = {}) {
  options.protocol = Protocol::kGrpc;
  SimCall& call = world.client->Post("/s/m", "request", options);
  REQUIRE(world.client->RunUntilDone(call));
  return call;
}

TEST_CASE("a hedgingPolicy without a delay sends all attempts at once") {
  HedgeWorld world;
  WEFT_SEED_INFO(*world.env);
  REQUIRE(world.client->channel().SetServiceConfig(Hedging(R"({"maxAttempts": 3})")).ok());
  world.answer = [](int n) { return Grpc("0", n == 1 ? 10ms : 50ms); };
  SimCall& call = Unary(world);
  REQUIRE(call.ok());
  CHECK(call.took() >= 10ms);
  CHECK(call.took() < 15ms);
  REQUIRE(world.times.size() == 3);
  CHECK(world.times[2] - world.times[0] < 1ms);
  CHECK(world.previous == std::vector<std::string>{"", "1", "2"});
  CHECK(call.response().info.host == world.hosts[1]);
  world.env->RunFor(1s);
  CHECK(world.Resets() == 2);
  CHECK(world.client->Close());
}

TEST_CASE("a non-fatal code brings the next attempt at once, another one ends the call") {
  HedgeWorld world;
  WEFT_SEED_INFO(*world.env);
  REQUIRE(world.client->channel()
              .SetServiceConfig(Hedging(R"({"maxAttempts": 3, "hedgingDelay": "1s",
                                            "nonFatalStatusCodes": ["UNAVAILABLE"]})"))
              .ok());
  SECTION("non-fatal, and then good") {
    world.answer = [](int n) { return Grpc(n < 2 ? "14" : "0"); };
    SimCall& call = Unary(world);
    CHECK(call.response().headers["grpc-status"] == "0");
    CHECK(world.times.size() == 3);
    CHECK(call.took() < 5ms);
  }
  SECTION("non-fatal to the end") {
    world.answer = [](int) { return Grpc("14"); };
    SimCall& call = Unary(world);
    CHECK(call.response().headers["grpc-status"] == "14");
    CHECK(world.times.size() == 3);
    CHECK(call.response().info.log.why_no_more == "max_attempts were made");
  }
  SECTION("fatal") {
    world.answer = [](int) { return Grpc("13"); };
    CHECK(Unary(world).response().headers["grpc-status"] == "13");
    CHECK(world.times.size() == 1);
  }
  SECTION("fatal while another runs") {
    world.answer = [](int n) { return n == 0 ? Grpc("0", 3s) : Grpc("13"); };
    SimCall& call = Unary(world);
    CHECK(call.response().headers["grpc-status"] == "13");
    CHECK(call.took() < 1100ms);
  }
  SECTION("the host sets the time") {
    world.answer = [](int n) {
      return n == 0 ? Grpc("14", 0ms, {{"grpc-retry-pushback-ms", "300"}}) : Grpc("0");
    };
    CHECK(Unary(world).response().headers["grpc-status"] == "0");
    CHECK(world.times.at(1) - world.times.at(0) >= 300ms);
    CHECK(world.times.at(1) - world.times.at(0) < 310ms);
  }
  SECTION("or wants no more") {
    world.answer = [](int) { return Grpc("14", 0ms, {{"grpc-retry-pushback-ms", "-1"}}); };
    CHECK(Unary(world).response().headers["grpc-status"] == "14");
    CHECK(world.times.size() == 1);
  }
  CHECK(world.client->Close());
}

TEST_CASE("retryThrottling stops hedges too") {
  HedgeWorld world;
  WEFT_SEED_INFO(*world.env);
  REQUIRE(
      world.client->channel()
          .SetServiceConfig(Hedging(R"({"maxAttempts": 2, "hedgingDelay": "0.02s",
                                            "nonFatalStatusCodes": [14]})",
                                    R"(, "retryThrottling": {"maxTokens": 2, "tokenRatio": 0.1})"))
          .ok());
  world.answer = [](int n) { return n == 0 ? Grpc("14") : Grpc("0", 100ms); };
  CHECK(Unary(world).response().headers["grpc-status"] == "14");  // one token of two is left
  SimCall& slow = Unary(world);
  CHECK(slow.took() >= 100ms);
  CHECK(slow.response().info.attempts == 1);
  CHECK(slow.response().info.log.why_no_more == "the tokens of retryThrottling are used up");
  CHECK(world.client->stats().hedges == 0);
  CHECK(world.client->Close());
}

TEST_CASE("a method's policy stands in place of the channel's hedges") {
  HedgeWorld world(
      {.hedge = {.when = When::kAfterDelay, .max_attempts = 2, .delay = absl::Milliseconds(20)}});
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int) { return Grpc("0", 100ms); };
  CHECK(Unary(world, {.idempotent = true}).response().info.attempts == 2);
  REQUIRE(world.client->channel()
              .SetServiceConfig(R"({"methodConfig": [{"name": [{"service": "s"}], "retryPolicy": {
                  "maxAttempts": 2, "initialBackoff": "1s", "maxBackoff": "1s",
                  "backoffMultiplier": 1, "retryableStatusCodes": [14]}}]})")
              .ok());
  CHECK(Unary(world, {.idempotent = true}).response().info.attempts == 1);
  REQUIRE(world.client->channel()
              .SetServiceConfig(Hedging(R"({"maxAttempts": 3, "hedgingDelay": "0.04s"})"))
              .ok());
  CHECK(Unary(world).response().info.attempts == 3);
  // And the call's own goes before both.
  CHECK(Unary(world, {.hedge_delay = absl::Milliseconds(60)}).response().info.attempts == 2);
  CHECK(world.client->Close());
}

// As many calls as a percentile needs, each answered after `delay`.
void Measure(HedgeWorld& world, base::MonoDuration delay) {
  world.answer = [delay](int) { return RogueAnswer{.delay = delay}; };
  for (int i = 0; i < 200; ++i) {
    REQUIRE(world.client->RunUntilDone(world.client->Get()));
  }
  world.Forget();
}

TEST_CASE("a hedge at a percentile of what calls took lately") {
  HedgeWorld world({.hedge = {.when = When::kAtPercentile, .percentile = 0.95, .ratio = 0.1}});
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int) { return RogueAnswer{.delay = 300ms}; };
  CHECK(world.client->RunUntilDone(world.client->Get()));
  CHECK(world.hosts.size() == 1);  // nothing is known yet
  Measure(world, 10ms);
  world.answer = [](int n) { return RogueAnswer{.delay = n == 0 ? 1s : 10ms}; };
  SimCall& slow = world.client->Get();
  REQUIRE(world.client->RunUntilDone(slow));
  CHECK(slow.response().info.attempts == 2);
  CHECK(slow.took() >= 19ms);
  CHECK(slow.took() < 25ms);
  // The next percentile knows that some calls are slow: dropping what was cut short would not.
  CHECK(world.client->stats().hedges < 5);
  CHECK(world.client->Close());
}

TEST_CASE("an adaptive hedge goes to a host that has said that it has room") {
  HedgeWorld world({.hedge = {.when = When::kAdaptive}});
  WEFT_SEED_INFO(*world.env);
  const std::string busy = "TEXT named_metrics.weft.in_flight=4, named_metrics.weft.workers=4";
  const std::string idle = "TEXT named_metrics.weft.in_flight=1, named_metrics.weft.workers=4";
  const std::string idler = "TEXT named_metrics.weft.in_flight=0, named_metrics.weft.workers=4";
  std::string free_host = "10.0.0.2:80";
  std::string freer_host;
  for (RogueServer& server : world.servers) {
    server.options().handler = [&](const RogueRequest& request) {
      world.hosts.push_back(std::string(request.authority()));
      RogueAnswer answer = world.answer(static_cast<int>(world.hosts.size()) - 1);
      answer.headers.push_back({"endpoint-load-metrics", request.authority() == free_host ? idle
                                                         : request.authority() == freer_host
                                                             ? idler
                                                             : busy});
      return answer;
    };
  }
  Measure(world, 10ms);
  SECTION("there") {
    // Until the first attempt goes to a busy host, so that the free one is another.
    world.answer = [&](int n) { return RogueAnswer{.delay = n == 0 ? 2s : 10ms}; };
    do {
      world.Forget();
      SimCall& call = world.client->Get();
      REQUIRE(world.client->RunUntilDone(call));
    } while (world.hosts[0] == free_host);
    REQUIRE(world.hosts.size() == 2);
    CHECK(world.hosts[1] == free_host);
  }
  SECTION("and of two to the one that has more of it") {
    freer_host = "10.0.0.3:80";
    Measure(world, 10ms);
    world.answer = [&](int n) { return RogueAnswer{.delay = n == 0 ? 2s : 10ms}; };
    do {
      world.Forget();
      REQUIRE(world.client->RunUntilDone(world.client->Get()));
    } while (world.hosts[0] != "10.0.0.1:80");
    REQUIRE(world.hosts.size() == 2);
    CHECK(world.hosts[1] == freer_host);
  }
  SECTION("and where none has, nowhere") {
    free_host = "none";
    Measure(world, 10ms);
    world.answer = [&](int) { return RogueAnswer{.delay = 2s}; };
    SimCall& call = world.client->Get();
    REQUIRE(world.client->RunUntilDone(call));
    CHECK(world.hosts.size() == 1);
    CHECK(call.response().info.log.why_no_more == "no other host had room for a hedge");
  }
  CHECK(world.client->Close());
}

}  // namespace
}  // namespace weft::testing
