// The way of a call, end to end, in a simulation.
#include "support/catch.h"
#include "support/rogue_server.h"
#include "support/sim_client.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a call is answered, over one connection per host") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer a(*env, "10.0.0.1:80");
  RogueServer b(*env, "10.0.0.2:80");
  SimClient client(env, "static:10.0.0.1:80,10.0.0.2:80");
  for (int i = 0; i < 100; ++i) client.Post("/echo", "body " + std::to_string(i));
  REQUIRE(client.RunUntilAllDone());
  for (int i = 0; i < 100; ++i) {
    const SimCall& call = client.calls()[static_cast<size_t>(i)];
    REQUIRE(call.ok());
    CHECK(call.response().status == 200);
    CHECK(call.response().body == "body " + std::to_string(i));
    CHECK(call.response().headers["x-id"] == call.id());
    CHECK(call.response().info.attempts == 1);
  }
  CHECK(a.accepted() == 1);
  CHECK(b.accepted() == 1);
  CHECK(a.violations().empty());
  CHECK(b.violations().empty());
  CHECK(client.Close());
  CHECK(a.open_connections() == 0);
  CHECK(b.open_connections() == 0);
}

TEST_CASE("the same seed gives the same run") {
  const auto run = [](uint64_t seed) {
    auto env = std::make_shared<SimEnv>(seed);
    RogueServer a(*env, "10.0.0.1:80");
    RogueServer b(*env, "10.0.0.2:80");
    a.host().link.jitter = 5ms;
    SimClient client(env, "static:10.0.0.1:80,10.0.0.2:80");
    for (int i = 0; i < 50; ++i) {
      client.Get("/" + std::to_string(i));
      env->RunFor(1ms);
    }
    client.RunUntilAllDone();
    client.Close();
    return env->digest();
  };
  CHECK(run(7) == run(7));
  CHECK(run(7) != run(8));
}

}  // namespace
}  // namespace weft::testing
