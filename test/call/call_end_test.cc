// Deadlines, cancellation and limits: every call ends once, with the right words, whatever state it
// was in.
#include <string>

#include "support/catch.h"
#include "support/rogue_server.h"
#include "support/says.h"
#include "support/sim_client.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

// A world in which calls stay in one of the states that a call can be in.
struct Stuck {
  enum class Where {
    kWaitingForHost,
    kDialling,
    kWaitingForStream,
    kSending,
    kAwaitingHead,
    kReceiving
  };

  explicit Stuck(Where where) : server(*env, "10.0.0.1:80") {
    switch (where) {
      case Where::kWaitingForHost:
        server.Kill();
        options.wait_for_ready = true;
        break;
      case Where::kDialling:
        server.host().FailDials(DialFault::kBlackHole);
        break;
      case Where::kWaitingForStream:
        server.options().settings = {{kMaxConcurrentStreams, 0}};
        break;
      case Where::kSending:
        server.options().settings = {{kInitialWindowSize, 100}};
        server.options().return_windows = false;
        body.assign(100000, 'x');
        break;
      case Where::kAwaitingHead:
        server.options().handler = [](const RogueRequest&) { return RogueAnswer::Silence(); };
        break;
      case Where::kReceiving:
        server.options().handler = [](const RogueRequest&) {
          return RogueAnswer{.body = "half", .end = false};
        };
        break;
    }
  }

  std::shared_ptr<SimEnv> env = std::make_shared<SimEnv>();
  RogueServer server;
  CallOptions options;
  std::string body = "x";
};

constexpr Stuck::Where kEverywhere[] = {Stuck::Where::kWaitingForHost,   Stuck::Where::kDialling,
                                        Stuck::Where::kWaitingForStream, Stuck::Where::kSending,
                                        Stuck::Where::kAwaitingHead,     Stuck::Where::kReceiving};

Processed Expected(Stuck::Where where) {
  return where >= Stuck::Where::kSending ? Processed::kMaybeProcessed : Processed::kNotSent;
}

TEST_CASE("the deadline ends a call in every state, once and on time") {
  for (const Stuck::Where where : kEverywhere) {
    Stuck world(where);
    WEFT_SEED_INFO(*world.env);
    INFO("state " << static_cast<int>(where));
    SimClient client(world.env, "static:10.0.0.1:80");
    world.options.timeout = absl::Milliseconds(700);
    SimCall& call = client.Post("/", world.body, world.options);
    REQUIRE(client.RunUntilDone(call));
    CHECK(absl::IsDeadlineExceeded(call.status()));
    CHECK(call.error().origin == Origin::kLocal);
    CHECK(call.error().processed == Expected(where));
    CHECK(call.took() >= 700ms);
    CHECK(call.took() <= 702ms);
    CHECK(client.Close());
    CHECK(world.server.violations().empty());
  }
}

TEST_CASE("Cancel ends a call in every state, once and at once") {
  for (const Stuck::Where where : kEverywhere) {
    Stuck world(where);
    WEFT_SEED_INFO(*world.env);
    INFO("state " << static_cast<int>(where));
    SimClient client(world.env, "static:10.0.0.1:80");
    SimCall& call = client.Post("/", world.body, world.options);
    world.env->RunFor(300ms);
    REQUIRE_FALSE(call.done());
    call.handle.Cancel();
    call.handle.Cancel();
    world.env->RunFor(1ms);
    REQUIRE(call.done());
    CHECK(absl::IsCancelled(call.status()));
    CHECK(call.error().processed == Expected(where));
    call.handle.Cancel();
    CHECK(client.Close());
    CHECK(world.server.violations().empty());
  }
}

TEST_CASE("destroying the handle silences a call in every state, and frees its stream") {
  for (const Stuck::Where where : kEverywhere) {
    Stuck world(where);
    WEFT_SEED_INFO(*world.env);
    INFO("state " << static_cast<int>(where));
    SimClient client(world.env, "static:10.0.0.1:80");
    SimCall& call = client.Post("/", world.body, world.options);
    world.env->RunFor(300ms);
    client.Drop(call);
    world.env->RunFor(10ms);
    CHECK(call.ends() == 0);
    CHECK(world.server.open_streams() == 0);
    CHECK(client.Close());
  }
}

TEST_CASE("destroying the factory ends a call in every state with CANCELLED") {
  for (const Stuck::Where where : kEverywhere) {
    Stuck world(where);
    WEFT_SEED_INFO(*world.env);
    INFO("state " << static_cast<int>(where));
    SimClient client(world.env, "static:10.0.0.1:80");
    SimCall& call = client.Post("/", world.body, world.options);
    world.env->RunFor(300ms);
    REQUIRE_FALSE(call.done());
    CHECK(client.Close());
    REQUIRE(call.done());
    CHECK(absl::IsCancelled(call.status()));
    CHECK(Says(call.status(), "ChannelFactory was destroyed"));
  }
}

TEST_CASE("a deadline that has passed fails at once, nothing sent") {
  auto env = std::make_shared<SimEnv>();
  RogueServer server(*env, "10.0.0.1:80");
  SimClient client(env, "static:10.0.0.1:80");
  SimCall& past = client.Get("/", {.timeout = absl::ZeroDuration()});
  SimCall& wall = client.Get("/", {.deadline = env->clock().WallNow() - absl::Seconds(1)});
  REQUIRE(client.RunUntilAllDone());
  CHECK(absl::IsDeadlineExceeded(past.status()));
  CHECK(absl::IsDeadlineExceeded(wall.status()));
  CHECK(server.request_count() == 0);
  CHECK(client.Close());
}

TEST_CASE("deadlines do not move with the wall clock") {
  for (const absl::Duration step : {absl::Hours(1), -absl::Hours(1)}) {
    auto env = std::make_shared<SimEnv>();
    RogueServer server(*env, "10.0.0.1:80");
    server.options().handler = [](const RogueRequest&) { return RogueAnswer::Silence(); };
    SimClient client(env, "static:10.0.0.1:80");
    SimCall& call = client.Get("/", {.timeout = absl::InfiniteDuration(),
                                     .deadline = env->clock().WallNow() + absl::Seconds(2)});
    env->RunFor(500ms);
    env->StepWall(step);
    REQUIRE(client.RunUntilDone(call));
    CHECK(call.took() >= 2s);
    CHECK(call.took() < 2100ms);
    CHECK(client.Close());
  }
}

TEST_CASE(
    "a process that was stopped: late timers fire once, and calls that were answered meanwhile "
    "succeed") {
  auto env = std::make_shared<SimEnv>();
  RogueServer server(*env, "10.0.0.1:80");
  SimClient client(env, "static:10.0.0.1:80");
  client.Get();
  env->RunFor(1s);
  SimCall& call = client.Get("/", {.timeout = absl::Seconds(60)});
  env->Stall(30s);
  REQUIRE(client.RunUntilDone(call));
  CHECK(call.ok());
  CHECK(server.accepted() == 1);
  CHECK(client.Close());
}

TEST_CASE("the default timeout is 15 s, infinite only when asked for") {
  auto env = std::make_shared<SimEnv>();
  RogueServer server(*env, "10.0.0.1:80");
  server.options().handler = [](const RogueRequest&) { return RogueAnswer::Silence(); };
  SimClient client(env, "static:10.0.0.1:80");
  SimCall& normal = client.Get();
  SimCall& endless = client.Get("/", {.timeout = absl::InfiniteDuration()});
  REQUIRE(client.RunUntilDone(normal));
  CHECK(normal.took() >= 15s);
  CHECK(normal.took() < 15100ms);
  env->RunFor(1h);
  CHECK_FALSE(endless.done());
  endless.handle.Cancel();
  CHECK(client.Close());
}

TEST_CASE("no byte for longer than the idle timeout ends a call that its deadline would let run") {
  auto env = std::make_shared<SimEnv>();
  RogueServer server(*env, "10.0.0.1:80");
  server.options().handler = [](const RogueRequest& request) {
    if (request.path() == "/loris")
      return RogueAnswer{.body = std::string(20, 'x'), .piece = 1, .gap = 500ms};
    return RogueAnswer{.body = "half", .end = false};
  };
  SimClient client(env, "static:10.0.0.1:80");
  const CallOptions options{.timeout = absl::Seconds(100), .idle_timeout = absl::Seconds(2)};
  SimCall& slow = client.Get("/loris", options);
  SimCall& stalled = client.Get("/stalled", options);
  REQUIRE(client.RunUntilAllDone());
  CHECK(slow.ok());
  CHECK(absl::IsDeadlineExceeded(stalled.status()));
  CHECK(Says(stalled.status(), "idle timeout"));
  CHECK(stalled.took() < 5s);
  CHECK(client.Close());
}

TEST_CASE("a response over max_response_bytes fails that call alone") {
  auto env = std::make_shared<SimEnv>();
  RogueServer server(*env, "10.0.0.1:80");
  server.options().handler = [](const RogueRequest&) {
    return RogueAnswer{.body = std::string(100000, 'x')};
  };
  SimClient client(env, "static:10.0.0.1:80");
  SimCall& small = client.Get("/", {.max_response_bytes = 99999});
  SimCall& enough = client.Get("/", {.max_response_bytes = 100000});
  REQUIRE(client.RunUntilAllDone());
  CHECK(absl::IsResourceExhausted(small.status()));
  CHECK(Says(small.status(), "max_response_bytes"));
  REQUIRE(enough.ok());
  CHECK(enough.response().body.size() == 100000);
  CHECK(server.accepted() == 1);
  CHECK(client.Close());
}

TEST_CASE("requests that cannot be sent are refused with the part that is wrong") {
  auto env = std::make_shared<SimEnv>();
  RogueServer server(*env, "10.0.0.1:80");
  SimClient client(env, "static:10.0.0.1:80");
  const auto refused = [&](Request request, const std::string& words) {
    SimCall& call = client.Start(std::move(request));
    REQUIRE(client.RunUntilDone(call));
    CHECK(absl::IsInvalidArgument(call.status()));
    CHECK(Says(call.status(), words));
  };
  refused(Request::Get("no-slash"), "path");
  refused(Request::Get("/a b"), "path");
  refused(Request::Get("/a\r\nx: y"), "path");
  Request method = Request::Get("/");
  method.method = "GE T";
  refused(method, "method");
  method.method = "CONNECT";
  refused(method, "CONNECT");
  refused(Request::Get("/", {{"connection", "close"}}), "connection");
  refused(Request::Get("/", {{"x", "a\nb"}}), "x");
  Request authority = Request::Get("/");
  authority.authority = "a b";
  refused(authority, "authority");
  CHECK(server.request_count() == 0);
  CHECK(client.Close());
}

TEST_CASE("pending calls are bounded, and the one too many says so") {
  auto env = std::make_shared<SimEnv>();
  RogueServer server(*env, "10.0.0.1:80");
  server.options().settings = {{kMaxConcurrentStreams, 1}};
  server.options().handler = [](const RogueRequest&) {
    return RogueAnswer{.body = "x", .delay = 1s};
  };
  ChannelFactory::Options options;
  options.connection.max_pending_per_host = 10;
  SimClient client(env, "static:10.0.0.1:80", options);
  client.Get("/", {.timeout = absl::Seconds(60)});
  env->RunFor(100ms);
  for (int i = 0; i < 11; ++i) client.Get("/", {.timeout = absl::Seconds(60)});
  SimCall& last = client.calls().back();
  env->RunFor(1ms);
  REQUIRE(last.done());
  CHECK(absl::IsResourceExhausted(last.status()));
  CHECK(Says(last.status(), "max_pending_per_host"));
  REQUIRE(client.RunUntilAllDone());
  for (size_t i = 0; i + 1 < client.calls().size(); ++i) CHECK(client.calls()[i].ok());
  CHECK(server.violations().empty());
  CHECK(client.Close());
}

TEST_CASE("MAX_CONCURRENT_STREAMS of any value, changed at any time, is kept to") {
  auto env = std::make_shared<SimEnv>();
  RogueServer server(*env, "10.0.0.1:80");
  server.options().settings = {{kMaxConcurrentStreams, 1}};
  server.options().handler = [](const RogueRequest&) {
    return RogueAnswer{.body = "x", .delay = 5ms};
  };
  SimClient client(env, "static:10.0.0.1:80");
  for (int i = 0; i < 300; ++i) client.Get("/", {.timeout = absl::Seconds(60)});
  for (const uint32_t limit : {3u, 0u, 100u, 2u, 0u, 1u, 50u, 5u}) {
    env->RunFor(20ms);
    server.last().SendSettings({{kMaxConcurrentStreams, limit}});
  }
  REQUIRE(client.RunUntilAllDone());
  for (const SimCall& call : client.calls()) CHECK(call.ok());
  CHECK(server.violations().empty());
  CHECK(server.accepted() == 1);
  CHECK(client.Close());
}

}  // namespace
}  // namespace weft::testing
