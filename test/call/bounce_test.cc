// Attempts that a host refuses because of its load go to another one at once, at most twice.
#include <optional>
#include <string>
#include <vector>

#include "call/picked_world.h"
#include "call/watched_stream.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;
using Why = AttemptInfo::Why;
using Asked = std::vector<std::string>;

RogueAnswer Bounced(HeaderList headers = {}) {
  headers.push_back({"weft-bounced", "1"});
  return {.status = 503, .headers = std::move(headers), .body = "busy"};
}
RogueAnswer GrpcBounced() {
  return {.headers = {
              {"content-type", "application/grpc"}, {"grpc-status", "14"}, {"weft-bounced", "1"}}};
}

TEST_CASE("a bounced call goes to another host at once, whatever its method, at no cost") {
  // Neither attempts nor budget to spare.
  PickedWorld world(
      5, {.retry = {.max_attempts = 1, .budget_ratio = 0, .budget_reserve_per_second = 0}});
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int n) {
    return n == 0 ? Bounced({{"endpoint-load-metrics", "TEXT named_metrics.weft.in_flight=9"}})
                  : RogueAnswer{.body = "good"};
  };
  SimCall& call = world.client->Post("/", "x");
  REQUIRE(world.client->RunUntilDone(call));
  CHECK(call.response().body == "good");
  CHECK(call.took() < 5ms);
  CHECK(world.asked == Asked{"5", "5"});
  CHECK(world.hosts[0] != world.hosts[1]);
  CHECK(world.book->bounces == std::vector<int>{0, 1});
  const CallInfo& info = call.response().info;
  CHECK(info.attempts == 2);
  REQUIRE(info.log.attempts.size() == 2);
  CHECK(info.log.attempts[0].code == absl::StatusCode::kUnavailable);
  CHECK(info.log.attempts[0].http_status == 503);
  CHECK(info.log.attempts[1].why == Why::kBounce);
  CHECK(world.Host(0).reported().report.in_flight == 9);
  CHECK(world.client->stats().bounces == 1);
  CHECK(world.client->stats().retries == 0);
  CHECK(world.client->stats().transparent_retries == 0);
  CHECK(world.client->Close());
}

TEST_CASE("the third host has to take a bounced call") {
  PickedWorld world(5);
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int) { return Bounced(); };
  SimCall& call = world.client->Post("/", "x");
  REQUIRE(world.client->RunUntilDone(call));
  // It was not allowed to refuse: that is an answer like any other.
  CHECK(call.response().status == 503);
  CHECK(world.asked == Asked{"5", "5", ""});
  CHECK(world.book->bounces == std::vector<int>{0, 1, 2});
  CHECK(call.response().info.attempts == 3);
  CHECK(world.client->stats().bounces == 2);
  CHECK(world.client->Close());
}

TEST_CASE("a host that was not allowed to bounce is not believed") {
  PickedWorld world;
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int) { return Bounced(); };
  SimCall& call = world.client->Post("/", "x");
  REQUIRE(world.client->RunUntilDone(call));
  CHECK(call.response().status == 503);
  CHECK(world.asked == Asked{""});
  CHECK(world.client->stats().bounces == 0);
  CHECK(world.client->Close());
}

TEST_CASE("only a refusal that says so is a bounce") {
  PickedWorld world(5);
  WEFT_SEED_INFO(*world.env);
  RogueAnswer answer;
  SECTION("a good answer") { answer = {.headers = {{"weft-bounced", "1"}}, .body = "good"}; }
  SECTION("another error") { answer = {.status = 500, .headers = {{"weft-bounced", "1"}}}; }
  SECTION("says nothing") { answer = {.status = 503}; }
  SECTION("says something else") { answer = {.status = 503, .headers = {{"weft-bounced", "0"}}}; }
  world.answer = [&](int) { return answer; };
  SimCall& call = world.client->Post("/", "x");
  REQUIRE(world.client->RunUntilDone(call));
  CHECK(call.response().status == answer.status);
  CHECK(world.asked.size() == 1);
  CHECK(world.client->stats().bounces == 0);
  CHECK(world.client->Close());
}

TEST_CASE("a call of gRPC is bounced by its trailers, or by headers that are all there is") {
  PickedWorld world(7);
  WEFT_SEED_INFO(*world.env);
  const bool trailers_only = GENERATE(true, false);
  world.answer = [&](int n) {
    if (n > 0) return RogueAnswer::Grpc("good");
    if (trailers_only) return GrpcBounced();
    return RogueAnswer{.headers = {{"content-type", "application/grpc"}},
                       .trailers = {{"grpc-status", "14"}, {"weft-bounced", "1"}}};
  };
  SimCall& call = world.client->Post("/s/m", "x", {.protocol = Protocol::kGrpc});
  REQUIRE(world.client->RunUntilDone(call));
  CHECK(call.response().trailers["grpc-status"] == "0");
  CHECK(world.asked == Asked{"7", "7"});
  CHECK(world.client->Close());
}

TEST_CASE("a bounce does not use up the tokens of retryThrottling") {
  PickedWorld world(5);
  WEFT_SEED_INFO(*world.env);
  REQUIRE(world.client->channel()
              .SetServiceConfig(R"({"methodConfig": [{"name": [{}], "retryPolicy": {
                    "maxAttempts": 2, "initialBackoff": "0.01s", "maxBackoff": "0.01s",
                    "backoffMultiplier": 1, "retryableStatusCodes": ["UNAVAILABLE"]}}],
                  "retryThrottling": {"maxTokens": 4, "tokenRatio": 0.001}})")
              .ok());
  // Each call is bounced twice: with two tokens gone nothing would be retried any more.
  world.answer = [](int n) { return n < 30 && n % 3 < 2 ? GrpcBounced() : RogueAnswer::Grpc("x"); };
  for (int i = 0; i < 10; ++i) {
    SimCall& call = world.client->Post("/s/m", "x", {.protocol = Protocol::kGrpc});
    REQUIRE(world.client->RunUntilDone(call));
    CHECK(call.response().trailers["grpc-status"] == "0");
  }
  CHECK(world.client->stats().bounces == 20);
  world.book->bounce_above = 0;
  world.answer = [](int n) {
    if (n > 30) return RogueAnswer::Grpc("x");
    return RogueAnswer{.headers = {{"content-type", "application/grpc"}, {"grpc-status", "14"}}};
  };
  SimCall& call = world.client->Post("/s/m", "x", {.protocol = Protocol::kGrpc});
  REQUIRE(world.client->RunUntilDone(call));
  CHECK(call.response().trailers["grpc-status"] == "0");
  CHECK(world.client->stats().retries == 1);
  CHECK(world.client->Close());
}

TEST_CASE("a stream that is bounced before anything else begins anew on another host") {
  PickedWorld world(5);
  WEFT_SEED_INFO(*world.env);
  const bool grpc = GENERATE(false, true);
  world.answer = [&](int n) {
    if (n == 0) return grpc ? GrpcBounced() : Bounced();
    return grpc ? RogueAnswer::Grpc("good") : RogueAnswer{.body = "good"};
  };
  WatchedStream stream(*world.env, world.client->channel(), Request::Post("/s/m", "body"),
                       {.protocol = grpc ? Protocol::kGrpc : Protocol::kHttp}, true);
  REQUIRE(world.env->RunUntil([&] { return stream.done(); }, 10s));
  CHECK(stream.end().ok());
  REQUIRE(stream.head().has_value());
  CHECK(stream.head()->value().status == 200);
  CHECK(stream.body().substr(grpc ? 5 : 0) == "good");
  CHECK(stream.heads() == 1);
  CHECK(world.asked == Asked{"5", "5"});
  CHECK(world.client->stats().bounces == 1);
  stream.Drop();
  CHECK(world.client->Close());
}

TEST_CASE("where no other host is left, the refusal is the answer") {
  PickedWorld world(5);
  WEFT_SEED_INFO(*world.env);
  world.servers[1].Kill();
  world.servers[2].Kill();
  world.env->RunFor(2s);
  world.answer = [](int) { return Bounced(); };
  SimCall& call = world.client->Post("/", "x");
  REQUIRE(world.client->RunUntilDone(call));
  CHECK(call.response().status == 503);
  CHECK(call.response().body == "busy");
  CHECK(call.response().info.attempts == 1);
  CHECK(world.client->Close());
}

TEST_CASE("a hedge that is bounced is sent elsewhere while the first attempt goes on") {
  PickedWorld world(5, {.retry = {.budget_ratio = 1}});
  WEFT_SEED_INFO(*world.env);
  for (int i = 0; i < 20; ++i) REQUIRE(world.client->RunUntilDone(world.client->Get("/ready")));
  world.book->bounces.clear();
  world.answer = [](int n) {
    if (n == 0) return RogueAnswer{.body = "slow", .delay = 1s};
    return n == 1 ? Bounced() : RogueAnswer{.body = "hedge"};
  };
  SimCall& call = world.client->Get("/", {.hedge_delay = absl::Milliseconds(20)});
  REQUIRE(world.client->RunUntilDone(call));
  CHECK(call.response().body == "hedge");
  CHECK(call.took() < 30ms);
  const AttemptLog& log = call.response().info.log;
  REQUIRE(log.attempts.size() == 3);
  CHECK(log.attempts[1].why == Why::kHedge);
  CHECK(log.attempts[2].why == Why::kBounce);
  CHECK(world.book->bounces == std::vector<int>{0, 0, 1});
  CHECK(world.client->Close());
}

}  // namespace
}  // namespace weft::testing
