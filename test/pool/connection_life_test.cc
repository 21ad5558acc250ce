// Draining, replacing and losing connections under calls.
#include <memory>
#include <string>

#include "support/catch.h"
#include "support/pushed_registry.h"
#include "support/rogue_server.h"
#include "support/says.h"
#include "support/sim_client.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

TEST_CASE("graceful GOAWAY: what runs ends where it is, what comes goes to a successor") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer server(*env, "10.0.0.1:80");
  server.options().handler = [](const RogueRequest& request) {
    return RogueAnswer{
        .body = "x",
        .delay = request.path() == "/slow" ? base::MonoDuration(500ms) : base::MonoDuration(0)};
  };
  SimClient client(env, "static:10.0.0.1:80");
  SimCall& slow = client.Post("/slow", "x");
  env->RunFor(50ms);
  server.Drain();
  env->RunFor(1ms);
  SimCall& quick = client.Post("/", "x");
  REQUIRE(client.RunUntilDone(quick));
  CHECK(quick.ok());
  CHECK_FALSE(slow.done());
  CHECK(server.accepted() == 2);
  REQUIRE(client.RunUntilDone(slow));
  CHECK(slow.ok());
  CHECK(slow.response().info.attempts == 1);
  env->RunFor(100ms);
  CHECK(server.open_connections() == 1);
  CHECK(client.stats().transparent_retries == 0);
  CHECK(client.Close());
}

TEST_CASE("GOAWAY(n): streams above n are repeated, also what is not idempotent, those below end") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer server(*env, "10.0.0.1:80");
  server.options().handler = [](const RogueRequest& request) {
    if (request.connection == 1) return RogueAnswer::Silence();
    return RogueAnswer{.body = "second connection"};
  };
  SimClient client(env, "static:10.0.0.1:80");
  SimCall& low = client.Post("/", "a");
  SimCall& high = client.Post("/", "b");
  env->RunFor(50ms);
  REQUIRE(server.request_count() == 2);
  RogueConnection& first = server.last();
  const uint32_t kept = server.requests()[0]->stream;
  first.SendGoaway(kept);
  REQUIRE(client.RunUntilDone(high));
  CHECK(high.ok());
  CHECK(high.response().info.attempts == 2);
  CHECK(high.response().body == "second connection");
  CHECK_FALSE(low.done());
  first.Answer(kept, {.body = "first connection"});
  REQUIRE(client.RunUntilDone(low));
  CHECK(low.response().body == "first connection");
  CHECK(client.Close());
}

TEST_CASE(
    "a second GOAWAY with a lower id refuses more, the connection's end after it loses nobody") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer server(*env, "10.0.0.1:80");
  server.options().handler = [](const RogueRequest& request) {
    return request.connection == 1 ? RogueAnswer::Silence() : RogueAnswer{.body = "x"};
  };
  SimClient client(env, "static:10.0.0.1:80");
  for (int i = 0; i < 5; ++i) client.Post("/", "x");
  env->RunFor(50ms);
  RogueConnection& first = server.last();
  first.SendGoaway(0x7fffffff);
  env->RunFor(5ms);
  first.SendGoaway(0);
  first.stream().Close();
  REQUIRE(client.RunUntilAllDone());
  for (const SimCall& call : client.calls()) CHECK(call.ok());
  CHECK(client.Close());
}

TEST_CASE(
    "a lost connection: idempotent calls move, others say that they may have been processed") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer server(*env, "10.0.0.1:80");
  server.options().handler = [](const RogueRequest& request) {
    return request.connection == 1 ? RogueAnswer::Silence() : RogueAnswer{.body = "x"};
  };
  SimClient client(env, "static:10.0.0.1:80");
  SimCall& get = client.Get();
  SimCall& post = client.Post("/", "x");
  SimCall& keyed = client.Post("/", "x", {.idempotency_key = "k1"});
  env->RunFor(50ms);
  REQUIRE(server.request_count() == 3);
  server.last().stream().Reset();
  REQUIRE(client.RunUntilAllDone());
  CHECK(get.ok());
  CHECK(get.response().info.attempts == 2);
  CHECK(keyed.ok());
  CHECK(absl::IsUnavailable(post.status()));
  CHECK(post.error().processed == Processed::kMaybeProcessed);
  CHECK(post.error().origin == Origin::kConnection);
  CHECK(Says(post.status(), "may have been processed"));
  for (const RogueRequest* request : server.requests()) {
    if (request->id() == keyed.id()) CHECK(request->header("idempotency-key") == "k1");
  }
  CHECK(client.stats().retries == 2);
  CHECK(client.stats().connections_lost == 1);
  CHECK(client.Close());
}

TEST_CASE("an answer of which half has arrived is not taken for whole") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer server(*env, "10.0.0.1:80");
  server.options().handler = [](const RogueRequest&) {
    return RogueAnswer{.body = "half", .end = false};
  };
  SimClient client(env, "static:10.0.0.1:80");
  SimCall& call = client.Post("/", "x");
  env->RunFor(50ms);
  server.last().stream().Close();
  REQUIRE(client.RunUntilDone(call));
  CHECK(absl::IsUnavailable(call.status()));
  CHECK(client.Close());
}

TEST_CASE("REFUSED_STREAM is repeated once by itself, then only within attempts") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer server(*env, "10.0.0.1:80");
  int refusals = 1;
  server.options().handler = [&](const RogueRequest&) {
    return refusals-- > 0 ? RogueAnswer::Refused() : RogueAnswer{.body = "x"};
  };
  SimClient client(env, "static:10.0.0.1:80");
  SimCall& once = client.Post("/", "x");
  REQUIRE(client.RunUntilDone(once));
  CHECK(once.ok());
  CHECK(once.response().info.attempts == 2);
  CHECK(client.stats().transparent_retries == 1);
  refusals = 1000;
  SimCall& always = client.Post("/", "x");
  REQUIRE(client.RunUntilDone(always));
  CHECK(absl::IsUnavailable(always.status()));
  CHECK(always.error().processed == Processed::kRefused);
  CHECK(always.error().origin == Origin::kPeer);
  CHECK(always.error().attempts == 4);  // the one by itself does not count
  CHECK(client.Close());
}

TEST_CASE("a reset of every request: bounded attempts, one end each") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer server(*env, "10.0.0.1:80");
  server.options().handler = [](const RogueRequest&) { return RogueAnswer::Reset(kInternalError); };
  SimClient client(env, "static:10.0.0.1:80");
  for (int i = 0; i < 100; ++i) client.Get();
  REQUIRE(client.RunUntilAllDone());
  for (const SimCall& call : client.calls()) {
    CHECK_FALSE(call.ok());
    CHECK(call.error().origin == Origin::kPeer);
  }
  CHECK(server.request_count() <= 120);
  CHECK(server.accepted() == 1);
  CHECK(client.Close());
}

TEST_CASE("an established black hole is found by keepalive and replaced") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer server(*env, "10.0.0.1:80");
  server.options().handler = [](const RogueRequest& request) {
    return request.connection == 1 ? RogueAnswer::Silence() : RogueAnswer{.body = "x"};
  };
  SimClient client(env, "static:10.0.0.1:80");
  SimCall& call = client.Get("/", {.timeout = absl::Seconds(120)});
  env->RunFor(1s);
  server.last().stream().SetBlackHole(true);
  REQUIRE(client.RunUntilDone(call, 100s));
  CHECK(call.ok());
  CHECK(call.took() >= 40s);
  CHECK(call.took() < 43s);
  CHECK(client.stats().keepalive_timeouts == 1);
  CHECK(client.Close());
}

TEST_CASE("a slow peer that answers PINGs is left alone, a wrong PING ACK does not count") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer server(*env, "10.0.0.1:80");
  server.options().handler = [](const RogueRequest&) {
    return RogueAnswer{.body = "x", .delay = 100s};
  };
  SimClient client(env, "static:10.0.0.1:80");
  SimCall& call = client.Get("/", {.timeout = absl::Seconds(200)});
  REQUIRE(client.RunUntilDone(call, 150s));
  CHECK(call.ok());
  CHECK(client.stats().keepalive_timeouts == 0);
  CHECK(client.Close());
}

TEST_CASE("idle connections are asked each five minutes, and kept") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer server(*env, "10.0.0.1:80");
  int pings = 0;
  server.options().on_frame = [&](RogueConnection&, const Frame& frame) {
    if (frame.type == kPing) ++pings;
    return false;
  };
  SimClient client(env, "static:10.0.0.1:80");
  client.Get();
  env->RunFor(3600s);
  CHECK(pings >= 11);
  CHECK(pings <= 12);
  CHECK(server.accepted() == 1);
  SimCall& call = client.Get();
  REQUIRE(client.RunUntilDone(call));
  CHECK(call.ok());
  CHECK(client.Close());
}

TEST_CASE("too_many_pings doubles the interval") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer server(*env, "10.0.0.1:80");
  int pings = 0;
  server.options().handler = [](const RogueRequest&) { return RogueAnswer::Silence(); };
  server.options().on_frame = [&](RogueConnection& connection, const Frame& frame) {
    if (frame.type == kPing && connection.id() == 1)
      connection.SendGoaway(0x7fffffff, 0xb, "too_many_pings");
    if (frame.type == kPing && connection.id() != 1) ++pings;
    return false;
  };
  SimClient client(env, "static:10.0.0.1:80");
  client.Get("/", {.timeout = absl::Seconds(1000)});
  env->RunFor(31s);
  client.Get("/", {.timeout = absl::Seconds(1000)});
  env->RunFor(58s);
  CHECK(pings == 0);
  env->RunFor(5s);
  CHECK(pings == 1);
  for (SimCall& call : client.calls()) call.handle.Cancel();
  CHECK(client.Close());
}

TEST_CASE("a server that ends each connection after fifty requests is noticed by nobody") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer server(*env, "10.0.0.1:80");
  SimClient client(env, "static:10.0.0.1:80");
  // As proxies with a maximum of requests per connection do.
  server.options().on_frame = [](RogueConnection& connection, const Frame& frame) {
    if (frame.type == kHeaders && frame.stream == 99) connection.SendGoaway(99);
    return false;
  };
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < 7; ++i) client.Post("/", "x");
    env->RunFor(2ms);
  }
  REQUIRE(client.RunUntilAllDone());
  for (const SimCall& call : client.calls()) CHECK(call.ok());
  CHECK(server.accepted() > 20);
  CHECK(server.violations().empty());
  env->RunFor(1s);
  CHECK(server.open_connections() == 1);
  CHECK(client.Close());
}

TEST_CASE("an endpoint that leaves keeps its running calls, those that wait for it go elsewhere") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer leaving(*env, "10.0.0.1:80");
  RogueServer staying(*env, "10.0.0.2:80");
  leaving.options().settings = {{kMaxConcurrentStreams, 1}};
  leaving.options().handler = [](const RogueRequest&) {
    return RogueAnswer{.body = "leaving", .delay = 5s};
  };
  staying.options().handler = [](const RogueRequest&) { return RogueAnswer{.body = "staying"}; };
  PushedRegistry pushed;
  pushed.endpoints = {{.address = "10.0.0.1:80"}};
  ChannelFactory::Options options;
  options.registry = pushed.registry();
  SimClient client(env, "service", options);
  SimCall& runs = client.Post("/", "x");
  env->RunFor(100ms);
  SimCall& waits = client.Post("/", "x");
  env->RunFor(1ms);
  CHECK(leaving.request_count() == 1);
  pushed.sink->OnEndpoints(MakeEndpointSet({{.address = "10.0.0.2:80"}}));
  REQUIRE(client.RunUntilDone(waits));
  REQUIRE(waits.ok());
  CHECK(waits.response().body == "staying");
  CHECK_FALSE(runs.done());
  REQUIRE(client.RunUntilDone(runs));
  REQUIRE(runs.ok());
  CHECK(runs.response().body == "leaving");
  env->RunFor(100ms);
  CHECK(leaving.open_connections() == 0);
  CHECK(staying.open_connections() == 1);
  // An empty set changes nothing.
  pushed.sink->OnEndpoints({});
  SimCall& after = client.Get();
  REQUIRE(client.RunUntilDone(after));
  CHECK(after.ok());
  CHECK(staying.accepted() == 1);
  CHECK(client.Close());
}

TEST_CASE(
    "a factory that goes while hosts drain lets go of them only when nothing of them is queued") {
  // The cluster's end lets its hosts drain, the factory's end hurries them, on two threads in real
  // life: here in every order that seeds give.
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    auto env = std::make_shared<SimEnv>(seed);
    WEFT_SEED_INFO(*env);
    RogueServer server(*env, "10.0.0.1:80");
    SimClient client(env, "static:10.0.0.1:80");
    for (int i = 0; i < 20; ++i) client.Post("/", "x");
    env->RunFor(std::chrono::microseconds(seed * 50));
    CHECK(client.Close());
  }
}

}  // namespace
}  // namespace weft::testing
