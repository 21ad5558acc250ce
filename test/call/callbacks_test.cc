// Where callbacks run, what may be done in them, and what a handle promises.
#include <coroutine>
#include <memory>
#include <string>
#include <vector>

#include "event/loop.h"
#include "support/catch.h"
#include "support/rogue_server.h"
#include "support/sim_client.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

struct World {
  std::shared_ptr<SimEnv> env = std::make_shared<SimEnv>();
  RogueServer server{*env, "10.0.0.1:80"};
  SimClient client{env, "static:10.0.0.1:80"};
};

TEST_CASE(
    "a callback never runs inside the call that passes it, not even where that fails at once") {
  World w;
  bool ran = false;
  CallHandle handle =
      w.client.channel().Start(Request::Get("not a path"), {}, [&](auto) { ran = true; });
  CHECK_FALSE(ran);
  w.env->RunFor(1ms);
  CHECK(ran);
}

TEST_CASE("callbacks run on a loop, a blocking call in one is refused, not a deadlock") {
  World w;
  bool on_loop = false;
  absl::Status blocking;
  absl::Status ready;
  CallHandle handle = w.client.channel().Start(Request::Get("/"), {}, [&](auto) {
    on_loop = event::OnAnyLoop();
    blocking = w.client.channel().Call(Request::Get("/")).status();
    ready = w.client.channel().WaitForReady(absl::Seconds(1));
  });
  w.env->RunFor(1s);
  CHECK(on_loop);
  CHECK(absl::IsFailedPrecondition(blocking));
  CHECK(std::string(blocking.message()).find("loop thread") != std::string::npos);
  CHECK(absl::IsFailedPrecondition(ready));
}

TEST_CASE("with an executor, callbacks run there and nowhere else") {
  World w;
  std::vector<absl::AnyInvocable<void() &&>> queue;
  const Executor executor = [&](absl::AnyInvocable<void() &&> closure) {
    queue.push_back(std::move(closure));
  };
  bool ran = false;
  CallHandle handle =
      w.client.channel().Start(Request::Get("/"), {.executor = &executor}, [&](auto r) {
        ran = true;
        CHECK(r.ok());
        CHECK_FALSE(event::OnAnyLoop());
      });
  w.env->RunFor(1s);
  CHECK_FALSE(ran);
  REQUIRE(queue.size() == 1);
  std::move(queue[0])();
  CHECK(ran);
}

TEST_CASE(
    "a handle destroyed between the end and the executor's turn still silences the callback") {
  World w;
  std::vector<absl::AnyInvocable<void() &&>> queue;
  const Executor executor = [&](absl::AnyInvocable<void() &&> closure) {
    queue.push_back(std::move(closure));
  };
  bool ran = false;
  CallHandle handle = w.client.channel().Start(Request::Get("/"), {.executor = &executor},
                                               [&](auto) { ran = true; });
  w.env->RunFor(1s);
  REQUIRE(queue.size() == 1);
  handle.Reset();
  std::move(queue[0])();
  CHECK_FALSE(ran);
}

TEST_CASE(
    "a callback may destroy its own handle, start and cancel other calls, and drop the channel") {
  World w;
  auto channel = w.client.factory().GetChannel("static:10.0.0.1:80").value();
  auto handle = std::make_unique<CallHandle>();
  CallHandle other;
  int ends = 0;
  *handle = channel->Start(Request::Get("/"), {}, [&](auto) {
    ++ends;
    handle.reset();
    other = channel->Start(Request::Get("/other"), {}, [&](auto) { ++ends; });
    CallHandle cancelled = channel->Start(Request::Get("/cancelled"), {}, [&](auto) { ++ends; });
    channel.reset();
  });
  w.env->RunFor(1s);
  CHECK(ends == 2);
  CHECK(w.client.Close());
}

TEST_CASE("a callback may destroy the factory") {
  auto env = std::make_shared<SimEnv>();
  RogueServer server(*env, "10.0.0.1:80");
  server.options().handler = [](const RogueRequest& request) {
    return request.path() == "/never" ? RogueAnswer::Silence() : RogueAnswer{.body = "x"};
  };
  auto factory = ChannelFactory::Create({.loops = 2, .env = env}).value();
  auto channel = factory->GetChannel("static:10.0.0.1:80").value();
  std::vector<absl::Status> ends;
  CallHandle never =
      channel->Start(Request::Get("/never"), {}, [&](auto r) { ends.push_back(r.status()); });
  CallHandle call = channel->Start(Request::Get("/"), {}, [&](auto r) {
    ends.push_back(r.status());
    factory.reset();
  });
  REQUIRE(env->RunUntil([&] { return ends.size() == 2; }, 10s));
  CHECK(ends[0].ok());
  CHECK(absl::IsCancelled(ends[1]));
  absl::Status after;
  CallHandle late = channel->Start(Request::Get("/"), {}, [&](auto r) { after = r.status(); });
  env->RunFor(1ms);
  CHECK(absl::IsCancelled(after));
  late.Reset();
  call.Reset();
  never.Reset();
  channel.reset();
  REQUIRE(env->RunUntilIdle());
  CHECK(env->loops().empty());
  CHECK(server.open_connections() == 0);
}

TEST_CASE("Detach lets the call end by itself") {
  World w;
  bool ran = false;
  w.client.channel().Start(Request::Get("/"), {}, [&](auto r) { ran = r.ok(); }).Detach();
  w.env->RunFor(1s);
  CHECK(ran);
}

TEST_CASE("a slow callback holds up its own loop only") {
  auto env = std::make_shared<SimEnv>();
  RogueServer a(*env, "10.0.0.1:80");
  RogueServer b(*env, "10.0.0.2:80");
  SimClient client(env, "static:10.0.0.1:80");
  auto channel_b = client.factory().GetChannel("static:10.0.0.2:80").value();
  CallHandle warm = channel_b->Start(Request::Get("/"), {}, [](auto) {});
  env->RunFor(1s);
  CallHandle slow = client.channel().Start(Request::Get("/"), {}, [&](auto) { env->BusyFor(5s); });
  env->RunFor(100ms);
  const base::MonoTime before = env->Now();
  bool done = false;
  CallHandle quick = channel_b->Start(Request::Get("/"), {}, [&](auto r) { done = r.ok(); });
  REQUIRE(env->RunUntil([&] { return done; }, 10s));
  CHECK(env->Now() - before < 100ms);
  env->RunFor(6s);
  CHECK(client.stats().slow_callbacks == 1);
  slow.Reset();
  quick.Reset();
  warm.Reset();
  channel_b.reset();
  CHECK(client.Close());
}

// The smallest coroutine type there is: starts at once, nobody awaits it.
struct Fire {
  struct promise_type {
    Fire get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

Fire TwoCalls(Channel& channel, std::vector<std::string>& bodies) {
  for (const char* body : {"one", "two"}) {
    absl::StatusOr<Response> response = co_await channel.Async(Request::Post("/", body));
    bodies.push_back(response.ok() ? response->body : std::string(response.status().message()));
  }
}

TEST_CASE("co_await gives the answer, destroying the suspended coroutine cancels") {
  World w;
  std::vector<std::string> bodies;
  Fire coroutine = TwoCalls(w.client.channel(), bodies);
  w.env->RunFor(1s);
  CHECK(bodies == std::vector<std::string>{"one", "two"});
  CHECK(coroutine.handle.done());
  coroutine.handle.destroy();

  w.server.options().handler = [](const RogueRequest&) { return RogueAnswer::Silence(); };
  bodies.clear();
  Fire suspended = TwoCalls(w.client.channel(), bodies);
  w.env->RunFor(1s);
  CHECK(w.server.open_streams() == 1);
  suspended.handle.destroy();
  w.env->RunFor(1s);
  CHECK(w.server.open_streams() == 0);
  CHECK(bodies.empty());
  CHECK(w.client.Close());
}

}  // namespace
}  // namespace weft::testing
