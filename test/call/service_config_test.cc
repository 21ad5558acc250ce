// What a service config does to calls.
#include <memory>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/rogue_server.h"
#include "support/says.h"
#include "support/sim_client.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

constexpr char kRetries[] = R"({
  "methodConfig": [
    {"name": [{"service": "s", "method": "retried"}],
     "retryPolicy": {"maxAttempts": 3, "initialBackoff": "0.1s", "maxBackoff": "1s",
                     "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}},
    {"name": [{"service": "s"}], "timeout": "0.2s", "maxResponseMessageBytes": 10,
     "maxRequestMessageBytes": 20},
    {"name": [{"service": "w"}], "waitForReady": true}
  ]})";

struct World {
  explicit World(RetryOptions retry = {})
      : server(*env, "10.0.0.1:80"),
        client(env, "static:10.0.0.1:80", {.channel = {.retry = std::move(retry)}}) {
    REQUIRE(client.RunUntilReady());
    server.options().handler = [this](const RogueRequest&) {
      times.push_back(env->Now());
      return answer;
    };
  }
  SimCall& Call(const char* path, std::string body = "x", CallOptions options = {}) {
    options.protocol = Protocol::kGrpc;
    SimCall& call = client.Post(path, std::move(body), options);
    REQUIRE(client.RunUntilDone(call));
    return call;
  }

  std::shared_ptr<SimEnv> env = std::make_shared<SimEnv>();
  RogueServer server;
  RogueAnswer answer = RogueAnswer::Grpc("good");
  std::vector<base::MonoTime> times;
  SimClient client;
};

TEST_CASE("a retryPolicy holds for its method, with its own pauses") {
  World world;
  WEFT_SEED_INFO(*world.env);
  REQUIRE(world.client.channel().SetServiceConfig(kRetries).ok());
  world.answer = RogueAnswer::Grpc("", 14);
  CHECK(world.Call("/s/other").response().info.attempts == 1);
  world.times.clear();
  CHECK(world.Call("/s/retried").response().info.attempts == 3);
  REQUIRE(world.times.size() == 3);
  CHECK(world.times[1] - world.times[0] >= 80ms);
  CHECK(world.times[1] - world.times[0] <= 125ms);
  CHECK(world.times[2] - world.times[1] >= 160ms);
  CHECK(world.Call("/s/retried", "x", {.max_attempts = 2}).response().info.attempts == 2);
  CHECK(world.client.Close());
}

TEST_CASE("a method with a retryPolicy keeps the attempt timeout of its channel") {
  World world({.attempt_timeout = absl::Milliseconds(40)});
  WEFT_SEED_INFO(*world.env);
  REQUIRE(world.client.channel().SetServiceConfig(kRetries).ok());
  world.answer = RogueAnswer::Silence();
  SimCall& call = world.Call("/s/retried", "x", {.idempotent = true});
  CHECK(absl::IsUnavailable(call.status()));
  CHECK(call.error().attempts == 3);
  CHECK(call.took() < 1s);
  CHECK(world.client.Close());
}

TEST_CASE("timeouts and limits of a config are the upper ones") {
  World world;
  WEFT_SEED_INFO(*world.env);
  REQUIRE(world.client.channel().SetServiceConfig(kRetries).ok());
  world.answer = RogueAnswer::Silence();
  SimCall& late = world.Call("/s/m");
  CHECK(absl::IsDeadlineExceeded(late.status()));
  CHECK(late.took() >= 200ms);
  CHECK(late.took() <= 205ms);
  CHECK(world.Call("/s/m", "x", {.timeout = absl::Milliseconds(50)}).took() <= 55ms);
  CHECK(world.Call("/s/m", "x", {.timeout = absl::Seconds(5)}).took() <= 205ms);
  world.answer = RogueAnswer::Grpc("01234567890");
  CHECK(absl::IsResourceExhausted(world.Call("/s/m").status()));
  world.answer = RogueAnswer::Grpc("0123456789");
  CHECK(world.Call("/s/m").ok());
  const size_t asked = world.times.size();
  CHECK(absl::IsResourceExhausted(world.Call("/s/m", std::string(26, 'x')).status()));
  CHECK(world.times.size() == asked);
  CHECK(world.Call("/s/m", std::string(25, 'x')).ok());  // with the prefix
  CHECK(world.client.Close());
}

TEST_CASE("waitForReady of a config has calls wait for a host") {
  World world;
  WEFT_SEED_INFO(*world.env);
  REQUIRE(world.client.channel().SetServiceConfig(kRetries).ok());
  world.server.Kill();
  world.env->RunFor(1s);
  CHECK(absl::IsUnavailable(world.Call("/s/m").status()));
  world.env->After(2s, [&] { world.server.Listen(); });
  CHECK(world.Call("/w/m").ok());
  CHECK(world.client.Close());
}

TEST_CASE("a wrong config is refused with its path, and the old one stays") {
  World world;
  WEFT_SEED_INFO(*world.env);
  Channel& channel = world.client.channel();
  REQUIRE(channel.SetServiceConfig(kRetries).ok());
  const absl::Status wrong = channel.SetServiceConfig(R"({"methodConfig": [{"timeuot": "1s"}]})");
  CHECK(absl::IsInvalidArgument(wrong));
  CHECK(Says(wrong, "methodConfig[0]"));
  CHECK(Says(wrong, "timeuot"));
  world.answer = RogueAnswer::Grpc("", 14);
  CHECK(world.Call("/s/retried").response().info.attempts == 3);
  REQUIRE(channel.SetServiceConfig("{}").ok());
  CHECK(world.Call("/s/retried").response().info.attempts == 1);
  CHECK(world.client.Close());
}

TEST_CASE("retryThrottling stops retries once half of its tokens are gone, and gives them back") {
  World world;
  WEFT_SEED_INFO(*world.env);
  std::string config = kRetries;
  config.insert(1, R"("retryThrottling": {"maxTokens": 10, "tokenRatio": 0.5},)");
  REQUIRE(world.client.channel().SetServiceConfig(config).ok());
  world.answer = RogueAnswer::Grpc("", 14);
  int attempts = 0;
  for (int i = 0; i < 10; ++i) attempts += world.Call("/s/retried").response().info.attempts;
  // Each attempt costs one of ten, and a retry needs more than five: two of the first call, one of
  // the second.
  CHECK(attempts == 10 + 3);
  world.answer = RogueAnswer::Grpc("good");
  for (int i = 0; i < 14; ++i) CHECK(world.Call("/s/retried").ok());
  world.answer = RogueAnswer::Grpc("", 14);
  CHECK(world.Call("/s/retried").response().info.attempts == 2);
  CHECK(world.client.Close());
}

TEST_CASE("options of a call that are out of range are refused with their name") {
  World world;
  CHECK(Says(world.Call("/s/m", "x", {.max_attempts = 0}).status(), "CallOptions::max_attempts"));
  CHECK(Says(world.Call("/s/m", "x", {.max_attempts = 6}).status(), "CallOptions::max_attempts"));
  CHECK(Says(world.Call("/s/m", "x", {.attempt_timeout = absl::ZeroDuration()}).status(),
             "CallOptions::attempt_timeout"));
  CHECK(world.client.Close());
}

}  // namespace
}  // namespace weft::testing
