// What goes wrong in a service's life, with figures: how many attempts that costs, which calls are
// answered nevertheless, and when the others end.
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "call/hedge_world.h"
#include "call/watched_stream.h"
#include "support/catch.h"
#include "support/says.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

// Picks the first host, whatever state it is in.
class Stubborn final : public Balancer {
 public:
  std::shared_ptr<const Picker> Update(const std::vector<PickerHost>&) override {
    class First final : public Picker {
      PickResult Pick(const PickFacts&) const override { return PickResult::Host(0); }
    };
    return std::make_shared<First>();
  }
};

TEST_CASE("a balancer that picks a host that is down is not asked again without a pause") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  SimClient client(
      env, "static:10.0.0.1:80",
      {.channel = {.balancer = [](uint64_t) { return std::make_unique<Stubborn>(); }}});
  for (const absl::Duration timeout : {absl::Milliseconds(50), absl::Seconds(5)}) {
    SimCall& call = client.Get("/", {.timeout = timeout});
    REQUIRE(client.RunUntilDone(call));
    CHECK(call.took() <= absl::ToChronoNanoseconds(timeout));
    CHECK_FALSE(call.ok());
    CHECK(call.error().attempts < 100);
  }
  CHECK(client.Close());
}

// Ten hosts, and calls at a steady rate.
struct Fleet {
  explicit Fleet(ChannelOptions channel) {
    std::string target = "static:";
    for (int i = 0; i < 10; ++i) {
      const std::string address = absl::StrCat("10.0.1.", i, ":80");
      absl::StrAppend(&target, i == 0 ? "" : ",", address);
      servers.emplace_back(*env, address);
      servers.back().options().record = false;
      servers.back().options().handler = [this, i](const RogueRequest& request) {
        if (request.path() == "/ready") return RogueAnswer{};
        ++attempts;
        if (!failing(i)) return RogueAnswer{.delay = 5ms};
        return RogueAnswer{.status = 503, .delay = 1ms};
      };
    }
    client = std::make_unique<SimClient>(
        env, target,
        ChannelFactory::Options{.channel = std::move(channel),
                                .connection = {.reconnect_max = absl::Seconds(1)}});
    REQUIRE(client->RunUntilReady());
    env->RunFor(1s);  // all hosts
  }
  // One each millisecond. How many were answered well.
  int Call(int count) {
    std::vector<SimCall*> calls;
    for (int i = 0; i < count; ++i) {
      calls.push_back(&client->Get("/", {.timeout = absl::Seconds(1)}));
      env->RunFor(1ms);
    }
    REQUIRE(client->RunUntilAllDone());
    int good = 0;
    for (const SimCall* call : calls) good += call->ok() && call->response().status == 200 ? 1 : 0;
    return good;
  }
  uint64_t extra() const { return client->stats().retries + client->stats().hedges; }

  std::shared_ptr<SimEnv> env = std::make_shared<SimEnv>();
  std::deque<RogueServer> servers;
  std::function<bool(int)> failing = [](int) { return false; };
  int attempts = 0;
  std::unique_ptr<SimClient> client;
};

constexpr int kCalls = 3000;
const RetryOptions kRetries = {.retryable = {absl::StatusCode::kUnavailable},
                               .budget_ratio = 0.2,
                               .budget_reserve_per_second = 10};

// Of n calls 0.3 n fail at first. The budget allows 0.2 n retries, whatever the reserve adds; each
// goes to one of nine other hosts, of which two fail (third attempts, to one of eight, of which one
// fails, do better). So 0.7 n + 0.2 n * 7/9 = 0.856 n are good; the retried ones' deviation is
// sqrt(0.2 n * 2/9 * 7/9) = 10 for 3000, and four of those are 0.014 n.
TEST_CASE("three hosts of ten fail: few attempts more, and most calls are good") {
  ChannelOptions channel = {.retry = kRetries};
  const bool hedged = GENERATE(false, true);
  if (hedged) channel.hedge = {.when = HedgeOptions::When::kAtPercentile, .percentile = 0.95};
  Fleet fleet(channel);
  WEFT_SEED_INFO(*fleet.env);
  fleet.failing = [](int host) { return host < 3; };
  const int good = fleet.Call(kCalls);
  CHECK(good >= static_cast<int>(0.842 * kCalls));
  CHECK(fleet.attempts <= static_cast<int>(1.2 * kCalls) + 100);
  CHECK(fleet.extra() <= static_cast<uint64_t>(0.2 * kCalls) + 100);
  CHECK(fleet.client->Close());
}

TEST_CASE("all hosts fail for five seconds: attempts are bounded, and the end of it is the end") {
  Fleet fleet({.retry = kRetries, .hedge = {.when = HedgeOptions::When::kAdaptive}});
  WEFT_SEED_INFO(*fleet.env);
  REQUIRE(fleet.Call(1000) == 1000);
  SECTION("they answer that they cannot") {
    const int before = fleet.attempts;
    fleet.failing = [](int) { return true; };
    CHECK(fleet.Call(5000) == 0);
    // Those that were made before have left a fifth of themselves too.
    CHECK(fleet.attempts - before <= 5000 + (5000 + 1000) / 5 + 100);
    fleet.failing = [](int) { return false; };
    const uint64_t extra = fleet.extra();
    CHECK(fleet.Call(1000) == 1000);
    CHECK(fleet.extra() - extra <= 50);
  }
  SECTION("they are gone") {
    for (RogueServer& server : fleet.servers) server.Kill();
    CHECK(fleet.Call(5000) == 0);
    CHECK(fleet.client->stats().dials < 10 * 60);  // ten hosts, each at most each 100 ms
    for (RogueServer& server : fleet.servers) server.Listen();
    fleet.env->RunFor(1s);  // reconnect_max
    CHECK(fleet.Call(1000) == 1000);
  }
  CHECK(fleet.client->Close());
}

TEST_CASE("with the budget used up and nothing in flight a call ends at once") {
  HedgeWorld world({.retry = {.max_attempts = 5,
                              .retryable = {absl::StatusCode::kUnavailable},
                              .budget_ratio = 0,
                              .budget_reserve_per_second = 0},
                    .hedge = {.max_attempts = 5}});
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int) { return RogueAnswer{.status = 503, .delay = 30ms}; };
  SimCall& call = world.client->Get("/", kHedged);
  REQUIRE(world.client->RunUntilDone(call));
  CHECK(call.response().status == 503);
  CHECK(call.took() < 32ms);
  CHECK(world.times.size() == 1);
  CHECK(call.response().info.log.why_no_more == "the budget is used up");
  CHECK(world.client->stats().hedges_refused_by_budget == 1);
  CHECK(world.client->Close());
}

TEST_CASE("pauses of a millisecond do not carry a call beyond its deadline") {
  HedgeWorld world({.retry = {.max_attempts = 5,
                              .retryable = {absl::StatusCode::kUnavailable},
                              .initial_backoff = absl::Milliseconds(1),
                              .backoff_multiplier = 1,
                              .budget_ratio = 10}});
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int) { return RogueAnswer{.status = 503}; };
  for (auto timeout = 100us; timeout < 8ms; timeout += 50us) {
    SimCall& call = world.client->Get("/", {.timeout = absl::FromChrono(timeout)});
    REQUIRE(world.client->RunUntilDone(call));
    CHECK(call.ends() == 1);
    CHECK(call.took() <= timeout);
    CHECK((call.ok() || absl::IsDeadlineExceeded(call.status())));
    if (!call.ok()) CHECK(call.took() == timeout);
  }
  CHECK(world.client->Close());
}

// At every tenth of a microsecond of the time in which the GOAWAY is on its way and replaced.
TEST_CASE("a GOAWAY between the pick and the start costs a call nothing") {
  const ConnectionOptions connection = {.reconnect_base = absl::Milliseconds(1)};
  HedgeWorld world(
      {.retry = {.max_attempts = 1, .budget_ratio = 0, .budget_reserve_per_second = 0}}, 0,
      connection);
  WEFT_SEED_INFO(*world.env);
  const bool close = GENERATE(false, true);
  for (auto after = 0us; after < 600us; after += 10us) {
    for (RogueServer& server : world.servers) {
      RogueConnection& last = server.last();
      last.SendGoaway(last.last_stream());
      if (close) last.stream().Close();
    }
    world.env->RunFor(after);
    for (int i = 0; i < 3; ++i) world.client->Post("/", "x", {.wait_for_ready = true});
    REQUIRE(world.client->RunUntilAllDone());
    world.env->RunFor(20ms);
  }
  for (const SimCall& call : world.client->calls()) {
    INFO(call.id());
    CHECK(call.ok());
  }
  CHECK(world.client->stats().transparent_retries > 0);
  CHECK(world.client->stats().retries == 0);
  CHECK(world.client->stats().retries_refused_by_budget == 0);
  CHECK(world.hosts.size() == world.client->calls().size());
  CHECK(world.client->Close());
}

// The answer arrives 200 us after it was sent, and the request took as long: around that the
// attempt timeout and the answer come in either order, and in one instant.
TEST_CASE(
    "an attempt timeout and an answer in the same instant have one outcome, as the log says") {
  HedgeWorld world({.retry = {.max_attempts = 2,
                              .initial_backoff = absl::Milliseconds(1),
                              .attempt_timeout = absl::Milliseconds(10),
                              .budget_ratio = 10}});
  WEFT_SEED_INFO(*world.env);
  base::MonoDuration delay{0};
  world.answer = [&](int n) { return RogueAnswer{.delay = n == 0 ? delay : 1ms}; };
  int once = 0;
  int twice = 0;
  for (int ns = -40; ns <= 40; ++ns) {
    world.Forget();
    delay = 9'800us + std::chrono::nanoseconds(ns);
    const uint64_t retries = world.client->stats().retries;
    SimCall& call = world.client->Get();
    REQUIRE(world.client->RunUntilDone(call));
    world.env->RunFor(20ms);
    CHECK(call.ends() == 1);
    REQUIRE(call.ok());
    CHECK(call.response().status == 200);
    const int attempts = call.response().info.attempts;
    CHECK(static_cast<size_t>(attempts) == world.hosts.size());
    CHECK(world.client->stats().retries - retries == static_cast<uint64_t>(attempts - 1));
    (attempts == 1 ? once : twice) += 1;
    if (attempts == 1) {
      CHECK(call.took() <= 10ms);
      continue;
    }
    const AttemptLog& log = call.response().info.log;
    REQUIRE(log.attempts.size() == 2);
    CHECK(log.attempts[0].took == absl::Milliseconds(10));
    CHECK(log.attempts[0].code == absl::StatusCode::kUnavailable);
    CHECK(log.attempts[0].http_status == 0);
    CHECK(log.attempts[1].http_status == 200);
    CHECK(call.response().info.host == log.attempts[1].host);
  }
  CHECK(once >= 40);
  CHECK(twice >= 40);
  CHECK(world.InFlight() == 0);
  CHECK(world.client->Close());
}

// The hosts keep the attempts in different states; the call ends with its deadline, wherever its
// attempts are.
TEST_CASE("the deadline ends a call with three attempts on time, whatever each of them waits for") {
  HedgeWorld world({.hedge = {.max_attempts = 3}});
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int) { return RogueAnswer::Silence(); };
  // Waiting for a stream; with a body against a closed window; with half of an answer.
  world.servers[0].last().SendSettings({{kMaxConcurrentStreams, 0}});
  world.servers[1].last().SendSettings({{kInitialWindowSize, 10}});
  world.servers[1].options().return_windows = false;
  const auto handler = world.servers[2].options().handler;
  const bool half = GENERATE(false, true);
  world.servers[2].options().handler = [handler, half](const RogueRequest& request) {
    const RogueAnswer silence = handler(request);
    return half ? RogueAnswer{.body = "half", .end = false} : silence;
  };
  world.env->RunFor(10ms);
  for (int i = 0; i < 6; ++i) {
    CallOptions options = {.timeout = absl::Milliseconds(300),
                           .idempotent = true,
                           .hedge_delay = absl::Milliseconds(20)};
    const bool streams = i % 2 == 1;
    if (streams) {
      WatchedStream stream(*world.env, world.client->channel(),
                           Request::Post("/", std::string(1000, 'b')), options, true);
      REQUIRE(world.env->RunUntil([&] { return stream.done(); }, 1s));
      CHECK(absl::IsDeadlineExceeded(stream.end()));
      CHECK(stream.ends() == 1);
      CHECK(stream.took() == 300ms);
    } else {
      SimCall& call = world.client->Post("/", std::string(1000, 'b'), options);
      REQUIRE(world.client->RunUntilDone(call));
      CHECK(absl::IsDeadlineExceeded(call.status()));
      CHECK(call.ends() == 1);
      CHECK(call.took() == 300ms);
      CHECK(call.error().attempts == 3);
    }
  }
  world.env->RunFor(3s);
  CHECK(world.InFlight() == 0);
  CHECK(world.client->Close());
}

}  // namespace
}  // namespace weft::testing
