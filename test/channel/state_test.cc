// What a channel says of its own state, and whoever waits for another one.
#include <chrono>
#include <memory>
#include <optional>

#include "support/catch.h"
#include "support/rogue_server.h"
#include "support/sim_client.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

struct World {
  World() : server(*env, "10.0.0.1:80"), client(env, "static:10.0.0.1:80") {}

  // What came of waiting for another state than `from`.
  std::shared_ptr<std::optional<bool>> When(ChannelState from,
                                            absl::Duration timeout = absl::Seconds(10)) {
    auto told = std::make_shared<std::optional<bool>>();
    client.channel().WhenStateIsNot(from, timeout, [told](bool changed) {
      REQUIRE_FALSE(told->has_value());
      *told = changed;
    });
    return told;
  }

  std::shared_ptr<SimEnv> env = std::make_shared<SimEnv>();
  RogueServer server;
  SimClient client;
};

TEST_CASE("a channel is idle until it is used, then connecting, then ready") {
  World world;
  WEFT_SEED_INFO(*world.env);
  Channel& channel = world.client.channel();
  CHECK(channel.State() == ChannelState::kIdle);
  channel.Connect();
  CHECK(channel.State() == ChannelState::kConnecting);
  const auto told = world.When(ChannelState::kConnecting);
  CHECK_FALSE(told->has_value());
  REQUIRE(world.env->RunUntil([&] { return told->has_value(); }, 10s));
  CHECK(**told);
  CHECK(channel.State() == ChannelState::kReady);
  CHECK(world.client.Close());
}

TEST_CASE("waiting for another state than idle makes the channel connect") {
  World world;
  WEFT_SEED_INFO(*world.env);
  const auto told = world.When(ChannelState::kIdle);
  CHECK_FALSE(told->has_value());  // never within the call
  REQUIRE(world.env->RunUntil([&] { return told->has_value(); }, 10s));
  CHECK(**told);
  REQUIRE(world.client.RunUntilReady());
  CHECK(world.client.Close());
}

TEST_CASE("a channel whose hosts cannot be reached says so, and recovers") {
  World world;
  WEFT_SEED_INFO(*world.env);
  world.server.Kill();
  const auto failing = world.When(ChannelState::kIdle);
  REQUIRE(world.env->RunUntil(
      [&] { return world.client.channel().State() == ChannelState::kFailing; }, 10s));
  CHECK(**failing);
  world.server.Listen();
  REQUIRE(world.client.RunUntilReady());
  CHECK(world.client.channel().State() == ChannelState::kReady);
  const auto lost = world.When(ChannelState::kReady, absl::InfiniteDuration());
  world.server.Kill();
  REQUIRE(world.env->RunUntil([&] { return lost->has_value(); }, 10s));
  CHECK(**lost);
  CHECK(world.client.Close());
}

TEST_CASE("a state that stays is told when the time is up") {
  World world;
  WEFT_SEED_INFO(*world.env);
  world.client.channel().Connect();
  REQUIRE(world.client.RunUntilReady());
  const auto told = world.When(ChannelState::kReady, absl::Seconds(2));
  REQUIRE(world.env->RunUntil([&] { return told->has_value(); }, 5s));
  CHECK_FALSE(**told);
  CHECK(world.client.Close());
}

TEST_CASE("whoever waits hears of the end of the factory") {
  World world;
  WEFT_SEED_INFO(*world.env);
  world.client.channel().Connect();
  REQUIRE(world.client.RunUntilReady());
  const auto told = world.When(ChannelState::kReady, absl::InfiniteDuration());
  const auto closed = world.When(ChannelState::kClosed, absl::InfiniteDuration());
  CHECK(world.client.Close());
  REQUIRE(told->has_value());
  CHECK(**told);
  CHECK(closed->has_value());
}

}  // namespace
}  // namespace weft::testing
