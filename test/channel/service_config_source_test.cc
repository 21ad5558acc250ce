// Which service config holds: the program's, its file's, the registry's.
#include "channel/service_config_source.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "channel/service_config_world.h"
#include "support/catch.h"
#include "support/rogue_server.h"
#include "support/says.h"
#include "support/sim_client.h"
#include "support/temp_dir.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using World = ServiceConfigWorld;

TEST_CASE("the registry's config holds before the program's, while there is one") {
  World world({.timeout = absl::Seconds(9), .service_config = Timeout("1")});
  WEFT_SEED_INFO(*world.env);
  CHECK(world.Took() == 1s);
  CHECK_THAT(world.Debug(), ContainsSubstring("service config: the program's\n"));

  world.pushed.sink->OnServiceConfig(Timeout("2"));
  CHECK(world.Took() == 2s);
  CHECK_THAT(world.Debug(), ContainsSubstring("service config: the registry's\n"));

  // Whole: nothing of the program's shows through.
  world.pushed.sink->OnServiceConfig("{}");
  CHECK(world.Took() == 9s);

  // The program's may be set meanwhile; it waits.
  REQUIRE(world.channel().SetServiceConfig(Timeout("3")).ok());
  CHECK(world.Took() == 9s);
  world.pushed.sink->OnServiceConfig("");
  CHECK(world.Took() == 3s);
  world.pushed.sink->OnServiceConfig("");
  CHECK(world.Took() == 3s);
  CHECK(world.Refused() == 0);
  CHECK_FALSE(absl::StrContains(world.Debug(), "refused"));
  CHECK(world.client->Close());
}

TEST_CASE("a channel whose registry takes its config back has none") {
  World world({.timeout = absl::Seconds(9)});
  WEFT_SEED_INFO(*world.env);
  CHECK_FALSE(absl::StrContains(world.Debug(), "service config"));
  world.pushed.sink->OnServiceConfig(Timeout("2"));
  CHECK(world.Took() == 2s);
  world.pushed.sink->OnServiceConfig("");
  CHECK(world.Took() == 9s);
  CHECK_FALSE(absl::StrContains(world.Debug(), "service config"));
  CHECK(world.client->Close());
}

TEST_CASE("a config that a resolver delivers within Start is in time for the first call") {
  World world;
  world.pushed.service_config = Timeout("2");
  const auto channel = world.client->factory().GetChannel("another service").value();
  std::optional<absl::Status> ended;
  const base::MonoTime began = world.env->Now();
  const CallHandle call = channel->Start(
      Request::Get("/"), {}, [&](absl::StatusOr<Response> response) { ended = response.status(); });
  REQUIRE(world.env->RunUntil([&] { return ended.has_value(); }, 60s));
  CHECK(world.env->Now() - began == 2s);
}

TEST_CASE("a config that comes with the first hosts is in time for the calls that wait for them") {
  World world({.timeout = absl::Seconds(9)});
  world.pushed.endpoints = {};
  const auto channel = world.client->factory().GetChannel("another service").value();
  std::vector<absl::Status> ended;
  const base::MonoTime began = world.env->Now();
  const auto start = [&](Request request, CallOptions options) {
    options.wait_for_ready = true;
    return channel->Start(std::move(request), options, [&](absl::StatusOr<Response> response) {
      ended.push_back(response.status());
    });
  };
  const CallHandle slow = start(Request::Get("/"), {});
  const CallHandle large = start(Request::Post("/", "12345"), {});
  world.env->RunFor(1s);
  REQUIRE(ended.empty());
  world.pushed.sink->OnServiceConfig(
      R"({"methodConfig": [{"name": [{}], "timeout": "2s", "maxRequestMessageBytes": 4}]})");
  world.pushed.sink->OnEndpoints(MakeEndpointSet({{.address = "10.0.0.1:80"}}));
  REQUIRE(world.env->RunUntil([&] { return ended.size() == 1; }, 60s));
  CHECK(world.env->Now() - began == 1s);
  CHECK(absl::IsResourceExhausted(ended[0]));
  REQUIRE(world.env->RunUntil([&] { return ended.size() == 2; }, 60s));
  CHECK(world.env->Now() - began == 2s);
  CHECK(absl::IsDeadlineExceeded(ended[1]));
}

TEST_CASE("what the registry gives and is refused keeps the old one, and is shown") {
  World world({.service_config = Timeout("1")});
  WEFT_SEED_INFO(*world.env);
  std::string good;  // ends the refusal
  SECTION("it had given one") {
    good = Timeout("3");
    world.pushed.sink->OnServiceConfig(Timeout("2"));
    world.pushed.sink->OnServiceConfig(kWrong);
    CHECK(world.Took() == 2s);
  }
  SECTION("it had given none: then the old one is the program's, and none is good too") {
    world.pushed.sink->OnServiceConfig(kWrong);
    CHECK(world.Took() == 1s);
  }
  CHECK_THAT(world.Debug(), ContainsSubstring("the registry's service config was refused: ") &&
                                ContainsSubstring("methodConfig[0]") &&
                                ContainsSubstring("timeuot"));
  CHECK(world.Refused() == 1);
  CHECK(world.client->stats().resolver_errors == 0);

  world.pushed.sink->OnServiceConfig(absl::UnavailableError("the registry sleeps"));
  CHECK_THAT(world.Debug(), ContainsSubstring("was refused: the registry sleeps\n"));
  CHECK(world.Refused() == 2);

  // What the program sets says nothing of the registry's.
  const base::MonoDuration before = world.Took();
  REQUIRE(world.channel().SetServiceConfig(Timeout("1")).ok());
  CHECK(world.Took() == before);
  CHECK_THAT(world.Debug(), ContainsSubstring("the registry sleeps"));

  world.pushed.sink->OnServiceConfig(good);
  CHECK_FALSE(absl::StrContains(world.Debug(), "refused"));
  CHECK(world.Refused() == 2);
  CHECK(world.client->Close());
}

TEST_CASE("what the program sets and is refused is shown too") {
  World world;
  WEFT_SEED_INFO(*world.env);
  world.pushed.sink->OnServiceConfig(Timeout("2"));
  const absl::Status wrong = world.channel().SetServiceConfig(kWrong);
  CHECK(absl::IsInvalidArgument(wrong));
  CHECK(Says(wrong, "service config: methodConfig[0]"));
  CHECK(absl::IsInvalidArgument(world.channel().SetServiceConfig("")));
  CHECK_THAT(world.Debug(), ContainsSubstring("the program's service config was refused: "));
  CHECK(world.Refused() == 2);
  CHECK(world.Took() == 2s);
  CHECK(world.client->Close());
}

TEST_CASE("calls that run keep the config that they began with") {
  World world;
  WEFT_SEED_INFO(*world.env);
  world.pushed.sink->OnServiceConfig(
      R"({"methodConfig": [{"name": [{}], "timeout": "20s",
          "retryPolicy": {"maxAttempts": 3, "initialBackoff": "1s", "maxBackoff": "1s",
                          "backoffMultiplier": 1, "retryableStatusCodes": ["UNAVAILABLE"]}}]})");
  SimCall& waits = world.client->Get();
  world.env->RunFor(100ms);
  world.server.options().handler = [](const RogueRequest&) { return RogueAnswer{.status = 503}; };
  SimCall& retries = world.client->Get();
  world.env->RunFor(100ms);  // it sleeps before its second attempt

  world.pushed.sink->OnServiceConfig(Timeout("1"));
  SimCall& later = world.client->Get();
  REQUIRE(world.client->RunUntilDone(later));
  CHECK(later.response().info.attempts == 1);
  REQUIRE(world.client->RunUntilDone(retries));
  CHECK(retries.response().info.attempts == 3);
  REQUIRE(world.client->RunUntilDone(waits));
  CHECK(waits.took() >= 20s);
  CHECK(world.client->Close());
}

TEST_CASE("how full the tokens of retryThrottling are passes from one's config to the other's") {
  const std::string config =
      R"({"retryThrottling": {"maxTokens": 10, "tokenRatio": 0.5},
          "methodConfig": [{"name": [{}],
          "retryPolicy": {"maxAttempts": 5, "initialBackoff": "0.1s", "maxBackoff": "1s",
                          "backoffMultiplier": 1, "retryableStatusCodes": ["UNAVAILABLE"]}}]})";
  World world({.service_config = config});
  WEFT_SEED_INFO(*world.env);
  world.server.options().handler = [](const RogueRequest&) { return RogueAnswer{.status = 503}; };
  const auto attempts = [&] {
    SimCall& call = world.client->Get();
    REQUIRE(world.client->RunUntilDone(call));
    return call.response().info.attempts;
  };
  CHECK(attempts() == 5);
  world.pushed.sink->OnServiceConfig(config);
  CHECK(attempts() == 1);
  world.pushed.sink->OnServiceConfig("");
  CHECK(attempts() == 1);
  CHECK(world.client->Close());
}

TEST_CASE("a config that does not come to hold is not published") {
  telemetry::Counters counters;
  int published = 0;
  channel::ServiceConfigSource source(counters, [&](const auto& /*config*/) { ++published; });
  source.SetOfRegistry(std::string());
  CHECK(published == 0);
  source.SetOfRegistry(Timeout("1"));
  CHECK(published == 1);
  CHECK(source.SetOfProgram(Timeout("2")).ok());
  CHECK_FALSE(source.SetOfProgram(kWrong).ok());
  source.SetOfRegistry(absl::UnavailableError("asleep"));
  CHECK(published == 1);
  source.SetOfRegistry(std::string());
  CHECK(published == 2);
}

// Real threads: what was published last is what holds, in whatever order it came.
TEST_CASE("many give configs at a time") {
  telemetry::Counters counters;
  std::shared_ptr<const call::CallConfig> last;  // with the lock of the source held
  channel::ServiceConfigSource source(counters, [&](auto config) { last = std::move(config); });
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&source, &wrong, i] {
      for (int round = 0; round < 200; ++round) {
        if (i % 2 == 0) {
          wrong += !source.SetOfProgram(Timeout("1")).ok();
          wrong += source.SetOfProgram(kWrong).ok();
        } else {
          source.SetOfRegistry(Timeout("2"));
          source.SetOfRegistry(std::string());
          wrong += source.DebugString().find("registry's service config was") != std::string::npos;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(counters.service_configs_refused.value() == 400);
  REQUIRE(last != nullptr);
  CHECK(last->service->Find("/")->timeout == absl::Seconds(1));
  CHECK(source.DebugString().find("service config: the program's\n") != std::string::npos);
}

}  // namespace
}  // namespace weft::testing
