// Service configs from files: ChannelOptions::service_config_file, and a FileRegistry's.
#include <chrono>
#include <memory>
#include <string>
#include <utility>

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

TEST_CASE("a file's config is the program's, and followed") {
  const TempDir dir;
  dir.Write("config", Timeout("1"));
  World world({.service_config_file = dir.File("config")});
  WEFT_SEED_INFO(*world.env);
  CHECK(world.Took() == 1s);
  dir.Replace("config", Timeout("2"));
  world.env->RunFor(1s);
  CHECK(world.Took() == 2s);
  CHECK_THAT(world.Debug(), ContainsSubstring("service config: the program's\n"));

  SECTION("what is wrong in it keeps the old one") {
    dir.Replace("config", kWrong);
    world.env->RunFor(10s);
    CHECK_THAT(world.Debug(), ContainsSubstring("the program's service config was refused: " +
                                                dir.File("config") + ": methodConfig[0]"));
  }
  SECTION("so does a file that is too long") {
    dir.Replace("config", std::string((1 << 20) + 1, ' '));
    world.env->RunFor(10s);
    CHECK_THAT(world.Debug(), ContainsSubstring(dir.File("config") + ": is longer than 1 MiB"));
  }
  SECTION("so does one that is gone") {
    dir.Remove("config");
    world.env->RunFor(10s);
    CHECK_THAT(world.Debug(), ContainsSubstring("refused: " + dir.File("config") + ": "));
  }
  CHECK(world.Refused() == 1);
  CHECK(world.Took() == 2s);

  dir.Replace("config", Timeout("3"));
  world.env->RunFor(1s);
  CHECK(world.Took() == 3s);
  CHECK_FALSE(absl::StrContains(world.Debug(), "refused"));

  // Of the two that speak for the program, the last one is right.
  REQUIRE(world.channel().SetServiceConfig(Timeout("4")).ok());
  world.env->RunFor(10s);
  CHECK(world.Took() == 4s);
  dir.Replace("config", Timeout("5"));
  world.env->RunFor(1s);
  CHECK(world.Took() == 5s);
  world.pushed.sink->OnServiceConfig(Timeout("6"));
  CHECK(world.Took() == 6s);
  CHECK(world.client->Close());
}

TEST_CASE("a file that cannot be used when the channel is made is an error") {
  const TempDir dir;
  World world;
  const auto error = [&](ChannelOptions options) {
    return world.client->factory().GetChannel("service", std::move(options)).status();
  };
  const std::string path = dir.File("config");
  const absl::Status missing = error({.service_config_file = path});
  CHECK(absl::IsNotFound(missing));
  CHECK(Says(missing, "service config: " + path + ": "));

  dir.Write("config", kWrong);
  const absl::Status wrong = error({.service_config_file = path});
  CHECK(absl::IsInvalidArgument(wrong));
  CHECK(Says(wrong, "service config: " + path + ": methodConfig[0]"));

  dir.Write("config", "");
  CHECK(absl::IsInvalidArgument(error({.service_config_file = path})));
  CHECK(absl::IsInvalidArgument(error({.service_config_file = dir.path()})));

  dir.Write("config", "{}");
  CHECK(error({.service_config_file = path}).ok());
  const absl::Status both = error({.service_config = "{}", .service_config_file = path});
  CHECK(absl::IsInvalidArgument(both));
  CHECK(Says(both, "both"));
  CHECK(world.client->Close());
}

TEST_CASE("nothing comes of what is given after the channel is gone") {
  const TempDir dir;
  dir.Write("config", "{}");
  World world({.service_config_file = dir.File("config")});
  WEFT_SEED_INFO(*world.env);
  const auto sink = world.pushed.sink;
  auto other =
      world.client->factory().GetChannel("service", {.service_config_file = dir.File("config")});
  REQUIRE(other.ok());
  dir.Replace("config", kWrong);
  other->reset();  // it does not look any more
  world.env->RunFor(10s);
  CHECK(world.Refused() == 1);
  CHECK(world.client->Close());
  sink->OnServiceConfig(kWrong);
}

TEST_CASE("a FileRegistry's config, from the file to the call") {
  const TempDir dir;
  dir.Write("svc.json", R"({"endpoints": [{"address": "10.0.0.1:80"}]})");
  dir.Write("svc.service_config.json", Timeout("2"));
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer server(*env, "10.0.0.1:80");
  server.options().handler = [](const RogueRequest& request) {
    return request.path() == "/ready" ? RogueAnswer{} : RogueAnswer::Silence();
  };
  SimClient client(env, "svc",
                   {.registry = FileRegistry(dir.path()),
                    .channel = {.timeout = absl::Seconds(9), .service_config = Timeout("1")}});
  const auto took = [&] {
    SimCall& call = client.Get();
    REQUIRE(client.RunUntilDone(call));
    return std::chrono::round<std::chrono::milliseconds>(call.took());
  };
  CHECK(took() == 2s);  // the very first
  CHECK(took() == 2s);
  dir.Replace("svc.service_config.json", kWrong);
  env->RunFor(1s);
  CHECK(took() == 2s);
  CHECK_THAT(client.channel().DebugString(), ContainsSubstring("timeuot"));
  dir.Remove("svc.service_config.json");
  env->RunFor(1s);
  CHECK(took() == 1s);
  CHECK(client.stats().service_configs_refused == 1);
  CHECK(client.stats().resolver_errors == 0);
  CHECK(client.Close());
}

TEST_CASE("a channel whose factory is gone looks at no file") {
  const TempDir dir;
  dir.Write("config", "{}");
  auto env = std::make_shared<SimEnv>();
  auto factory = ChannelFactory::Create({.env = env}).value();
  const auto channel =
      factory->GetChannel("10.0.0.1:80", {.service_config_file = dir.File("config")}).value();
  factory.reset();
  dir.Replace("config", kWrong);
  env->RunFor(10s);
  CHECK_THAT(channel->DebugString(), !ContainsSubstring("refused"));
}

}  // namespace
}  // namespace weft::testing
