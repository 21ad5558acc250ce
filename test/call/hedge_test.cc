// Hedges of calls with one request and one answer: when they start, which answer counts, what
// becomes of the losers.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "call/hedge_world.h"
#include "support/catch.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;
using Why = AttemptInfo::Why;

TEST_CASE("a call that is slow is answered by another host, and the slow one is let off") {
  HedgeWorld world;
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int n) {
    return n == 0 ? RogueAnswer{.body = "slow", .delay = 5s} : RogueAnswer{.body = "quick"};
  };
  SimCall& call = world.client->Get("/", kHedged);
  REQUIRE(world.client->RunUntilDone(call));
  CHECK(call.response().body == "quick");
  CHECK(call.took() >= 20ms);
  CHECK(call.took() < 25ms);
  REQUIRE(world.hosts.size() == 2);
  CHECK(world.hosts[0] != world.hosts[1]);
  CHECK(call.response().info.attempts == 2);
  CHECK(call.response().info.host == world.hosts[1]);

  const AttemptLog& log = call.response().info.log;
  REQUIRE(log.attempts.size() == 2);
  CHECK(log.attempts[0].why == Why::kFirst);
  CHECK(log.attempts[0].lost);
  CHECK(log.attempts[0].host == world.hosts[0]);
  CHECK(log.attempts[1].why == Why::kHedge);
  CHECK_FALSE(log.attempts[1].lost);
  CHECK(log.attempts[1].started == absl::Milliseconds(20));
  CHECK(log.attempts[1].http_status == 200);

  world.env->RunFor(1s);
  CHECK(world.Resets() == 1);
  CHECK(world.client->stats().hedges == 1);
  CHECK(world.client->stats().hedges_won == 1);
  CHECK(world.client->Close());
}

TEST_CASE("a hedge that loses is let off too") {
  HedgeWorld world;
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int n) {
    return n == 0 ? RogueAnswer{.body = "first", .delay = 30ms}
                  : RogueAnswer{.body = "hedge", .delay = 5s};
  };
  SimCall& call = world.client->Get("/", kHedged);
  REQUIRE(world.client->RunUntilDone(call));
  CHECK(call.response().body == "first");
  CHECK(call.response().info.host == world.hosts[0]);
  CHECK(call.response().info.log.attempts.at(1).lost);
  world.env->RunFor(1s);
  CHECK(world.Resets() == 1);
  CHECK(world.client->stats().hedges_won == 0);
  CHECK(world.client->Close());
}

TEST_CASE("a call that is answered in time is not hedged, and only idempotent ones are") {
  HedgeWorld world;
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int) { return RogueAnswer{.delay = 15ms}; };
  REQUIRE(world.client->RunUntilDone(world.client->Get("/", kHedged)));
  CHECK(world.hosts.size() == 1);
  world.answer = [](int) { return RogueAnswer{.delay = 1s}; };
  SimCall& post = world.client->Post("/", "x", kHedged);
  REQUIRE(world.client->RunUntilDone(post));
  CHECK(world.hosts.size() == 2);
  CHECK(post.took() >= 1s);
  SimCall& keyed =
      world.client->Post("/", "x", {.idempotency_key = "k", .hedge_delay = absl::Milliseconds(20)});
  REQUIRE(world.client->RunUntilDone(keyed));
  CHECK(world.hosts.size() == 4);
  CHECK(world.client->Close());
}

TEST_CASE("hedges follow each other up to max_attempts, and each goes to another host") {
  HedgeWorld world({.hedge = {.max_attempts = 3}});
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int) { return RogueAnswer{.delay = 100ms}; };
  SimCall& call = world.client->Get("/", kHedged);
  REQUIRE(world.client->RunUntilDone(call));
  REQUIRE(world.hosts.size() == 3);
  CHECK(world.hosts[0] != world.hosts[1]);
  CHECK(world.hosts[0] != world.hosts[2]);
  CHECK(world.hosts[1] != world.hosts[2]);
  CHECK(world.times[1] - world.times[0] == 20ms);
  CHECK(world.times[2] - world.times[1] == 20ms);
  CHECK(call.response().info.host == world.hosts[0]);
  CHECK(call.took() < 110ms);

  // The call's own limit holds before the channel's.
  SimCall& two = world.client->Get("/", {.max_attempts = 2, .hedge_delay = absl::Milliseconds(20)});
  REQUIRE(world.client->RunUntilDone(two));
  CHECK(two.response().info.attempts == 2);
  SimCall& one = world.client->Get("/", {.max_attempts = 1, .hedge_delay = absl::Milliseconds(20)});
  REQUIRE(world.client->RunUntilDone(one));
  CHECK(one.response().info.attempts == 1);
  CHECK(world.client->Close());
}

TEST_CASE("a channel hedges by its options, and a call can do without") {
  HedgeWorld world(
      {.hedge = {.when = HedgeOptions::When::kAfterDelay, .delay = absl::Milliseconds(50)}});
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int n) { return RogueAnswer{.delay = n % 2 == 0 ? 300ms : 1ms}; };
  SimCall& call = world.client->Get();
  REQUIRE(world.client->RunUntilDone(call));
  CHECK(call.took() >= 50ms);
  CHECK(call.took() < 55ms);
  SimCall& without = world.client->Get("/", {.hedge_delay = absl::InfiniteDuration()});
  REQUIRE(world.client->RunUntilDone(without));
  CHECK(without.took() >= 300ms);
  CHECK(world.client->Close());
}

TEST_CASE("a call that does without hedges is not tried more often for it") {
  HedgeWorld world({.retry = {.max_attempts = 1, .retryable = {absl::StatusCode::kUnavailable}},
                    .hedge = {.when = HedgeOptions::When::kAfterDelay, .max_attempts = 3}});
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int) { return RogueAnswer{.status = 503}; };
  SimCall& call = world.client->Get("/", {.hedge_delay = absl::InfiniteDuration()});
  REQUIRE(world.client->RunUntilDone(call));
  CHECK(call.response().status == 503);
  CHECK(world.hosts.size() == 1);
  CHECK(world.client->Close());
}

TEST_CASE("an answer that is not to be bettered ends the call, whoever gave it") {
  HedgeWorld world;
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int n) {
    return n == 0 ? RogueAnswer{.delay = 1s} : RogueAnswer{.status = 404};
  };
  SimCall& call = world.client->Get("/", kHedged);
  REQUIRE(world.client->RunUntilDone(call));
  CHECK(call.response().status == 404);
  CHECK(call.took() < 25ms);
  CHECK(world.client->Close());
}

TEST_CASE("what is to be bettered does not end a call while another attempt runs") {
  HedgeWorld world({.retry = {.retryable = {absl::StatusCode::kUnavailable}}});
  WEFT_SEED_INFO(*world.env);
  RogueAnswer bad;
  SECTION("a retryable status") { bad = {.status = 503}; }
  SECTION("a connection that is lost") {}
  const bool lost = bad.status == 200;
  world.answer = [&](int n) {
    if (n == 0) return RogueAnswer{.body = "good", .delay = 200ms};
    if (lost) world.Server(world.hosts[1]).last().stream().Reset();
    return lost ? RogueAnswer::Silence() : bad;
  };
  SimCall& call = world.client->Get("/", kHedged);
  REQUIRE(world.client->RunUntilDone(call));
  REQUIRE(call.ok());
  CHECK(call.response().status == 200);
  CHECK(call.response().body == "good");
  CHECK(call.took() >= 200ms);
  CHECK(call.response().info.attempts == 2);
  const AttemptLog& log = call.response().info.log;
  CHECK_FALSE(log.attempts.at(1).lost);
  CHECK(log.attempts.at(1).code == absl::StatusCode::kUnavailable);
  CHECK(log.attempts.at(1).http_status == (lost ? 0 : 503));
  CHECK(world.client->Close());
}

TEST_CASE("a hedge that comes due by a bad answer does not wait for its time") {
  HedgeWorld world(
      {.retry = {.retryable = {absl::StatusCode::kUnavailable}}, .hedge = {.max_attempts = 3}});
  WEFT_SEED_INFO(*world.env);
  std::optional<std::string> pushback;
  SECTION("at once") {}
  SECTION("after what the host asks for") { pushback = "5"; }
  SECTION("or not at all") { pushback = "-1"; }
  world.answer = [&](int n) {
    if (n == 0) return RogueAnswer{.body = "first", .delay = 100ms};
    if (n == 2) return RogueAnswer{.body = "third"};
    RogueAnswer answer{.status = 503, .delay = 3ms};
    if (pushback.has_value()) answer.headers.push_back({"grpc-retry-pushback-ms", *pushback});
    return answer;
  };
  SimCall& call = world.client->Get("/", kHedged);
  REQUIRE(world.client->RunUntilDone(call));
  CHECK(call.response().body == (pushback == "-1" ? "first" : "third"));
  if (pushback != "-1") {
    const base::MonoDuration answered = world.times.at(2) - world.times.at(1);
    CHECK(answered >= (pushback == "5" ? 8ms : 3ms));
    CHECK(answered < (pushback == "5" ? 10ms : 5ms));
  } else {
    CHECK(world.times.size() == 2);
  }
  CHECK(world.client->Close());
}

TEST_CASE("a host that asks for no other attempt is heard to the end of the call") {
  HedgeWorld world({.retry = {.max_attempts = 5, .retryable = {absl::StatusCode::kUnavailable}},
                    .hedge = {.max_attempts = 5}});
  WEFT_SEED_INFO(*world.env);
  // Four run when the second says so; what runs goes on.
  const bool last_is_good = GENERATE(false, true);
  world.answer = [&](int n) {
    RogueAnswer answer{.status = 503, .delay = n == 0 ? 80ms : n == 1 ? 45ms : 30ms};
    if (n == 1) answer.headers.push_back({"grpc-retry-pushback-ms", "-1"});
    if (n == 0 && last_is_good) answer.status = 200;
    return answer;
  };
  // They start at 0, 20, 40 and 60 ms; the second is answered after 65, the third after 70.
  SimCall& call = world.client->Get("/", {.hedge_delay = absl::Milliseconds(20)});
  REQUIRE(world.env->RunUntil([&] { return world.hosts.size() == 3; }, 1s));
  REQUIRE(world.client->RunUntilDone(call));
  CHECK(call.response().status == (last_is_good ? 200 : 503));
  CHECK(call.response().info.attempts == 4);
  if (!last_is_good) CHECK(call.response().info.log.why_no_more == "a host asked for no other");
  CHECK(world.client->Close());
}

TEST_CASE("where all that ran ended badly, the call is retried within its attempts") {
  HedgeWorld world({.retry = {.max_attempts = 3, .retryable = {absl::StatusCode::kUnavailable}}});
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int n) {
    if (n < 2) return RogueAnswer{.status = 503, .delay = 30ms};
    return RogueAnswer{.body = "third"};
  };
  SimCall& call = world.client->Get("/", kHedged);
  REQUIRE(world.client->RunUntilDone(call));
  CHECK(call.response().body == "third");
  CHECK(world.hosts.size() == 3);
  CHECK(call.response().info.log.attempts.at(2).why == Why::kRetry);
  CHECK(world.times[2] - world.times[1] >= 38ms);  // its answer, and the pause

  world.Forget();
  world.answer = [](int) { return RogueAnswer{.status = 503, .delay = 30ms}; };
  SimCall& bad = world.client->Get("/", kHedged);
  REQUIRE(world.client->RunUntilDone(bad));
  CHECK(bad.response().status == 503);
  CHECK(world.hosts.size() == 3);
  CHECK(bad.response().info.log.why_no_more == "max_attempts were made");
  CHECK(world.client->Close());
}

TEST_CASE("what was not processed is repeated beside the others, for nothing") {
  HedgeWorld world;
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int n) {
    if (n == 0) return RogueAnswer{.body = "first", .delay = 100ms};
    return n == 1 ? RogueAnswer::Refused() : RogueAnswer{.body = "third"};
  };
  SimCall& call = world.client->Get("/", kHedged);
  REQUIRE(world.client->RunUntilDone(call));
  CHECK(call.response().body == "third");
  CHECK(call.took() < 30ms);
  CHECK(call.response().info.log.attempts.at(2).why == Why::kByItself);
  CHECK(world.client->stats().hedges == 1);
  CHECK(world.client->Close());
}

TEST_CASE("a call with several attempts ends once: cancelled, late, or with its factory") {
  HedgeWorld world({.hedge = {.max_attempts = 3}});
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int) { return RogueAnswer::Silence(); };
  SimCall& call = world.client->Get(
      "/", {.timeout = absl::Milliseconds(500), .hedge_delay = absl::Milliseconds(20)});
  REQUIRE(world.env->RunUntil([&] { return world.hosts.size() == 3; }, 1s));
  SECTION("cancelled") {
    call.handle.Cancel();
    REQUIRE(world.client->RunUntilDone(call));
    CHECK(absl::IsCancelled(call.status()));
    CHECK(call.error().processed == Processed::kMaybeProcessed);
  }
  SECTION("late") {
    REQUIRE(world.client->RunUntilDone(call));
    CHECK(absl::IsDeadlineExceeded(call.status()));
    CHECK(call.took() == 500ms);
    CHECK(call.error().attempts == 3);
    CHECK(call.error().log.attempts.size() == 3);
  }
  SECTION("dropped") { world.client->Drop(call); }
  SECTION("with the factory") {}
  CHECK(world.client->Close());
  CHECK(world.OpenStreams() == 0);
}

TEST_CASE("the budget has half of itself for hedges, and says when that is gone") {
  HedgeWorld world({.retry = {.budget_ratio = 0.2}}, /*warm_calls=*/50);
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int) { return RogueAnswer{.delay = 100ms}; };
  std::vector<SimCall*> calls;
  for (int i = 0; i < 10; ++i) calls.push_back(&world.client->Get("/", kHedged));
  REQUIRE(world.client->RunUntilAllDone());
  // 60 calls and what the set-up made, a fifth of which may be extra, half of that hedges.
  CHECK(world.client->stats().hedges == 6);
  CHECK(world.client->stats().hedges_refused_by_budget == 4);
  int refused = 0;
  for (const SimCall* call : calls) {
    REQUIRE(call->ok());
    if (call->response().info.log.why_no_more == "the budget has nothing left for hedges")
      ++refused;
  }
  CHECK(refused == 4);
  CHECK(world.client->Close());
}

TEST_CASE("a host counts a loser as in flight for two seconds more") {
  HedgeWorld world;
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int n) { return n == 0 ? RogueAnswer::Silence() : RogueAnswer{}; };
  SimCall& call = world.client->Get("/", kHedged);
  REQUIRE(world.client->RunUntilDone(call));
  const auto in_flight = [&] {
    const std::string text = world.client->channel().DebugString();
    return text.find("in flight 1") != std::string::npos;
  };
  INFO(world.client->channel().DebugString());
  CHECK(in_flight());
  world.env->RunFor(1900ms);
  CHECK(in_flight());
  world.env->RunFor(200ms);
  CHECK_FALSE(in_flight());
  CHECK(world.client->Close());
}

}  // namespace
}  // namespace weft::testing
