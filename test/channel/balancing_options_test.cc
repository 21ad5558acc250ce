// What ChannelOptions say of balancing holds for the calls of the channel.
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "support/catch.h"
#include "support/pushed_registry.h"
#include "support/rogue_server.h"
#include "support/sim_client.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

// Hosts behind a registry, and who was asked how often.
struct World {
  World(int count, ChannelFactory::Options of) : options(std::move(of)) {
    for (int i = 0; i < count; ++i) {
      pushed.endpoints.push_back({.address = absl::StrCat("10.0.0.", i + 1, ":80")});
      servers.emplace_back(*env, pushed.endpoints.back().address);
      servers.back().options().record = false;
      servers.back().options().handler = [this, i](const RogueRequest& request) {
        if (request.path() == "/healthz") {
          ++checks;
          return RogueAnswer{.status = unwell == i ? 503 : 200};
        }
        if (request.path() == "/") ++asked[i];
        return RogueAnswer{};
      };
    }
  }
  // Before the first call, the endpoints may still be changed.
  std::map<int, int> Call(int count, CallOptions call = {}) {
    if (!client.has_value()) {
      options.registry = pushed.registry();
      client.emplace(env, "service", options);
      REQUIRE(client->RunUntilReady());
      env->RunFor(1s);  // all of them
    }
    asked.clear();
    for (int i = 0; i < count; ++i) REQUIRE(client->RunUntilDone(client->Get("/", call)));
    return asked;
  }

  std::shared_ptr<SimEnv> env = std::make_shared<SimEnv>();
  std::deque<RogueServer> servers;
  PushedRegistry pushed;
  ChannelFactory::Options options;
  std::optional<SimClient> client;
  std::map<int, int> asked;
  int unwell = -1;
  int checks = 0;
};

TEST_CASE("a service config names the balancer, unless the program does") {
  const std::string config = R"({"loadBalancingConfig": [{"pick_first": {}}]})";
  ChannelFactory::Options options;
  SECTION("from the start") {
    options.channel.service_config = config;
    World world(4, options);
    CHECK(world.Call(20).size() == 1);
    CHECK(world.client->Close());
  }
  SECTION("later, and another one") {
    World world(4, options);
    CHECK(world.Call(20).size() > 1);
    REQUIRE(world.client->channel().SetServiceConfig(config).ok());
    CHECK(world.Call(20) == std::map<int, int>{{0, 20}});
    REQUIRE(world.client->channel()
                .SetServiceConfig(R"({"loadBalancingConfig": [{"round_robin": {}}]})")
                .ok());
    CHECK(world.Call(20) == std::map<int, int>{{0, 5}, {1, 5}, {2, 5}, {3, 5}});
    CHECK(world.client->Close());
  }
  SECTION("the program's goes before it") {
    options.channel.service_config = config;
    options.channel.balancer = RoundRobin();
    World world(4, options);
    CHECK(world.Call(20) == std::map<int, int>{{0, 5}, {1, 5}, {2, 5}, {3, 5}});
    CHECK(world.client->Close());
  }
}

TEST_CASE("calls with one hash key go to one host") {
  World world(8, {.channel = {.balancer = Maglev()}});
  const std::map<int, int> asked = world.Call(20, {.hash_key = "user 7"});
  REQUIRE(asked.size() == 1);
  CHECK(world.Call(20, {.hash_key = "user 7"}) == asked);
  CHECK(world.Call(40).size() > 3);
  CHECK(world.client->Close());
}

TEST_CASE("of a subset's hosts, and of no others, there are connections") {
  World world(40, {.channel = {.subset = {.size = 12, .client_name = "me"}}});
  CHECK(world.Call(200).size() == 12);
  CHECK(world.client->stats().dials == 12);
  CHECK(world.client->channel().Hosts().size() == 12);
  CHECK(world.client->Close());
}

TEST_CASE("a host that fails its health checks gets no calls until it passes them again") {
  HealthCheckOptions checks = {.kind = HealthCheckOptions::Kind::kHttp,
                               .interval = absl::Seconds(1)};
  World world(4, {.channel = {.health_check = checks}});
  world.Call(20);
  CHECK(world.asked.size() == 4);
  world.unwell = 2;
  world.env->RunFor(5s);
  CHECK(world.Call(30).count(2) == 0);
  CHECK(world.client->channel().Hosts()[2].fails_checks);
  CHECK(world.client->channel().DebugString().find("fails its health checks") != std::string::npos);
  world.unwell = -1;
  world.env->RunFor(5s);
  CHECK(world.Call(40).size() == 4);
  CHECK(world.checks > 40);
  CHECK(world.client->Close());
}

TEST_CASE("the factory's zone goes first") {
  World world(4,
              {.channel = {.balancer = RoundRobin()}, .locality = {.region = "eu", .zone = "b"}});
  for (int i = 0; i < 4; ++i)
    world.pushed.endpoints[static_cast<size_t>(i)].locality = {.region = "eu",
                                                               .zone = i < 2 ? "a" : "b"};
  CHECK(world.Call(20) == std::map<int, int>{{2, 10}, {3, 10}});
  CHECK(world.client->Close());
}

TEST_CASE("the next priority takes over when the first one is gone, and gives back") {
  World world(4, {.channel = {.balancer = RoundRobin()}});
  for (size_t i = 2; i < 4; ++i) world.pushed.endpoints[i].priority = 1;
  CHECK(world.Call(20) == std::map<int, int>{{0, 10}, {1, 10}});
  for (size_t i = 0; i < 2; ++i) world.servers[i].Kill();
  world.env->RunFor(1s);
  CHECK(world.Call(20) == std::map<int, int>{{2, 10}, {3, 10}});
  for (size_t i = 0; i < 2; ++i) world.servers[i].Listen();
  world.env->RunFor(60s);
  world.Call(20);
  CHECK(world.asked == std::map<int, int>{{0, 10}, {1, 10}});
  CHECK(world.client->Close());
}

TEST_CASE("what is known of hosts") {
  World world(2, {});
  world.pushed.endpoints.push_back({.address = "10.0.0.1:80"});  // again
  world.pushed.endpoints[1].weight = 3;
  world.Call(4);
  const std::vector<HostInfo> hosts = world.client->channel().Hosts();
  REQUIRE(hosts.size() == 2);
  CHECK(hosts[0].endpoint.address == "10.0.0.1:80");
  CHECK(hosts[0].state == HostState::kReady);
  CHECK(hosts[0].in_flight == 0);
  CHECK(hosts[0].latency > absl::ZeroDuration());
  CHECK(hosts[0].weight == 1);
  CHECK(hosts[1].weight == 3);
  CHECK_FALSE(hosts[0].ejected);
  CHECK(hosts[0].report_age == absl::InfiniteDuration());
  CHECK(world.client->stats().endpoints_skipped == 1);
  CHECK(world.client->channel().DebugString().find(
            "endpoint skipped: \"10.0.0.1:80\" is there twice") != std::string::npos);
  CHECK(world.client->Close());
}

}  // namespace
}  // namespace weft::testing
