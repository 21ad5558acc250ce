// What calls notice of a registry that is asked once for many channels, that fails, that flaps, and
// that says that there is nothing.
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "support/catch.h"
#include "support/rogue_server.h"
#include "support/sim_client.h"
#include "support/temp_dir.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

std::string AddressOf(size_t host) { return absl::StrCat("10.0.0.", host + 1, ":80"); }

// A registry that counts who asks it, and four hosts.
class World {
 public:
  explicit World(RegistryOptions options = {}) : options_(std::move(options)) {
    for (size_t i = 0; i < 4; ++i) servers.emplace_back(*env, AddressOf(i));
    Restart();
  }
  // The process, not the registry.
  void Restart() {
    client.reset();
    ChannelFactory::Options options;
    options.registry_options = options_;
    options.registry = [this](std::string_view name) -> absl::StatusOr<std::unique_ptr<Resolver>> {
      if (name == "forbidden") return absl::PermissionDeniedError("not for you");
      ++opened;
      return std::make_unique<Asking>(*this);
    };
    client.emplace(env, "service", std::move(options));
  }
  void Say(size_t begin, size_t end) {
    std::vector<Endpoint> hosts;
    for (size_t i = begin; i < end; ++i) hosts.push_back({.address = AddressOf(i)});
    sink->OnEndpoints(MakeEndpointSet(std::move(hosts)));
  }
  // One call a millisecond; all have to succeed.
  void CallFor(base::MonoDuration time) {
    const base::MonoTime end = env->Now() + time;
    std::deque<SimCall*> calls;
    while (env->Now() < end) {
      calls.push_back(&client->Get("/", {.timeout = absl::Seconds(1)}));
      env->RunFor(1ms);
    }
    REQUIRE(client->RunUntilAllDone());
    for (const SimCall* call : calls) {
      if (!call->ok()) FAIL_CHECK(call->status());
    }
  }
  size_t Connections() {
    size_t connections = 0;
    for (RogueServer& server : servers) connections += server.accepted();
    return connections;
  }

  std::shared_ptr<SimEnv> env = std::make_shared<SimEnv>();
  std::deque<RogueServer> servers;
  int opened = 0;
  int started = 0;
  int ended = 0;
  std::shared_ptr<ResolverSink> sink;
  // At the start: a set, or that it is out of reach.
  bool up = true;
  std::optional<SimClient> client;

 private:
  class Asking final : public Resolver {
   public:
    explicit Asking(World& world) : world_(world) {}
    ~Asking() override { ++world_.ended; }
    void Start(std::shared_ptr<ResolverSink> to) override {
      ++world_.started;
      world_.sink = std::move(to);
      if (world_.up) {
        world_.Say(0, 4);
      } else {
        world_.sink->OnError(absl::UnavailableError("the registry is down"));
      }
    }

   private:
    World& world_;
  };

  const RegistryOptions options_;
};

TEST_CASE("channels of one target share a watch, which lingers") {
  World world;
  WEFT_SEED_INFO(*world.env);
  CHECK(world.opened == 1);
  CHECK(world.started == 0);  // nobody has called yet
  world.CallFor(1ms);
  CHECK(world.started == 1);
  std::shared_ptr<Channel> second =
      world.client->factory().GetChannel("service", {.timeout = absl::Seconds(1)}).value();
  std::optional<absl::Status> ended;
  const CallHandle call = second->Start(
      Request::Get("/"), {}, [&](absl::StatusOr<Response> got) { ended = got.status(); });
  REQUIRE(world.env->RunUntil([&] { return ended.has_value(); }, 5s));
  CHECK(*ended == absl::OkStatus());
  CHECK(world.opened == 1);
  CHECK(world.started == 1);
  CHECK(world.Connections() == 4);

  // Other targets have watches of their own, which go some time after their channels.
  std::shared_ptr<Channel> other = world.client->factory().GetChannel("other").value();
  CHECK(world.opened == 2);
  other.reset();
  world.env->RunFor(29s);
  CHECK(world.ended == 0);
  other = world.client->factory().GetChannel("other").value();
  CHECK(world.opened == 2);
  world.env->RunFor(60s);
  CHECK(world.ended == 0);
  other.reset();
  world.env->RunFor(31s);
  CHECK(world.ended == 1);
  CHECK(world.client->factory().GetChannel("other").ok());
  CHECK(world.opened == 3);

  CHECK(absl::IsPermissionDenied(world.client->factory().GetChannel("forbidden").status()));
  second.reset();
  CHECK(world.client->Close());
  CHECK(world.ended == 3);
}

TEST_CASE("an outage of a minute, an empty set and flapping: no failed call, no new connection") {
  World world;
  WEFT_SEED_INFO(*world.env);
  world.CallFor(500ms);
  REQUIRE(world.Connections() == 4);
  SECTION("an outage") {
    for (int i = 0; i < 60; ++i) {
      world.sink->OnError(absl::UnavailableError("the registry is down"));
      world.CallFor(20ms);
      world.env->RunFor(980ms);
    }
  }
  SECTION("a set that is empty for 25 s") {
    world.Say(0, 0);
    for (int i = 0; i < 25; ++i) {
      world.CallFor(20ms);
      world.env->RunFor(980ms);
    }
    world.Say(0, 4);
    CHECK(world.client->stats().empty_sets_held == 1);
  }
  SECTION("all and nothing, ten times a second") {
    for (int i = 0; i < 100; ++i) {
      world.Say(0, i % 2 == 0 ? 0 : 4);
      world.CallFor(50ms);
    }
  }
  SECTION("half of the hosts come and go, ten times a second") {
    for (int i = 0; i < 100; ++i) {
      world.Say(0, i % 2 == 0 ? 2 : 4);
      world.CallFor(50ms);
    }
  }
  world.CallFor(100ms);
  CHECK(world.Connections() == 4);
  CHECK(world.client->stats().connections_opened == 4);
  CHECK(world.client->Close());
}

TEST_CASE("a service that has no endpoints for half a minute has none, until it has some again") {
  World world;
  WEFT_SEED_INFO(*world.env);
  world.CallFor(100ms);
  world.Say(0, 0);
  world.env->RunFor(33s);  // and the hosts linger
  SimCall& call = world.client->Get();
  REQUIRE(world.client->RunUntilDone(call));
  CHECK(absl::IsUnavailable(call.status()));
  CHECK(std::string(call.status().message()).find("no endpoints") != std::string::npos);
  CHECK(world.client->channel().Hosts().empty());
  for (RogueServer& server : world.servers) CHECK(server.open_connections() == 0);
  // Who can wait for a host waits.
  SimCall& waits = world.client->Get("/", {.timeout = absl::Seconds(9), .wait_for_ready = true});
  world.env->RunFor(1s);
  CHECK_FALSE(waits.done());
  world.Say(1, 3);
  REQUIRE(world.client->RunUntilDone(waits));
  CHECK(waits.ok());
  world.CallFor(100ms);
  CHECK(world.client->Close());
}

TEST_CASE("a process that starts while its registry is down begins with what another one knew") {
  TempDir dir;
  RegistryOptions options;
  options.snapshot_directory = dir.path();
  World world(options);
  WEFT_SEED_INFO(*world.env);
  world.CallFor(100ms);
  world.env->RunFor(1s);
  world.up = false;
  world.Restart();
  world.CallFor(100ms);
  CHECK(world.client->stats().snapshots_used == 1);
  CHECK(world.client->channel().Hosts().size() == 4);
  CHECK(world.client->Close());
}

TEST_CASE("registry options out of range are refused") {
  ChannelFactory::Options options;
  options.registry_options.linger = absl::Hours(2);
  const auto factory = ChannelFactory::Create(options);
  CHECK(absl::IsInvalidArgument(factory.status()));
  CHECK(std::string(factory.status().message()).find("linger") != std::string::npos);
}

}  // namespace
}  // namespace weft::testing
