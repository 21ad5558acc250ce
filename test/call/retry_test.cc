// Retries: which attempts are followed by another one, when, and what they cost.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/rogue_server.h"
#include "support/says.h"
#include "support/sim_client.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

// Two hosts, and what every request is answered with, by its number from 0.
struct World {
  explicit World(RetryOptions retry = {.retryable = {absl::StatusCode::kUnavailable}})
      : a(*env, "10.0.0.1:80"),
        b(*env, "10.0.0.2:80"),
        client(env, "static:10.0.0.1:80,10.0.0.2:80", {.channel = {.retry = std::move(retry)}}) {
    for (RogueServer* server : {&a, &b}) {
      server->options().handler = [this](const RogueRequest& request) {
        if (request.path() == "/ready") return RogueAnswer{};
        times.push_back(env->Now());
        hosts.push_back(std::string(request.authority()));
        previous.push_back(std::string(request.header("grpc-previous-rpc-attempts")));
        return answer(static_cast<int>(times.size()) - 1);
      };
    }
    REQUIRE(client.RunUntilReady());
    env->RunFor(1s);  // both hosts
  }
  base::MonoDuration Pause(size_t n) const { return times.at(n + 1) - times.at(n); }

  std::shared_ptr<SimEnv> env = std::make_shared<SimEnv>();
  RogueServer a;
  RogueServer b;
  std::function<RogueAnswer(int)> answer;
  std::vector<base::MonoTime> times;
  std::vector<std::string> hosts;
  std::vector<std::string> previous;
  SimClient client;
};

RogueAnswer Status(int status, HeaderList headers = {}) {
  return {.status = status, .headers = std::move(headers)};
}
RogueAnswer GrpcTrailersOnly(const char* code, HeaderList more = {}) {
  HeaderList headers = {{"content-type", "application/grpc"}, {"grpc-status", code}};
  headers.insert(headers.end(), more.begin(), more.end());
  return {.headers = std::move(headers)};
}

TEST_CASE("an idempotent call whose answer is retryable goes to the other host, after a pause") {
  World world;
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int n) { return n < 2 ? Status(503) : RogueAnswer{.body = "good"}; };
  SimCall& call = world.client.Get();
  REQUIRE(world.client.RunUntilDone(call));
  CHECK(call.response().status == 200);
  CHECK(call.response().body == "good");
  CHECK(call.response().info.attempts == 3);
  CHECK(world.hosts[0] != world.hosts[1]);
  CHECK(world.Pause(0) >= 8ms);
  CHECK(world.Pause(0) <= 14ms);
  CHECK(world.Pause(1) >= 16ms);
  CHECK(world.Pause(1) <= 26ms);
  CHECK(world.client.stats().retries == 2);
  CHECK(world.client.Close());
}

TEST_CASE("what is not retryable, or not idempotent, is answered as it is") {
  World world;
  WEFT_SEED_INFO(*world.env);
  int status = 503;
  world.answer = [&](int) { return Status(status); };
  SimCall& post = world.client.Post("/", "x");
  REQUIRE(world.client.RunUntilDone(post));
  CHECK(post.response().status == 503);
  CHECK(post.response().info.attempts == 1);
  SimCall& key = world.client.Post("/", "x", {.idempotency_key = "k"});
  REQUIRE(world.client.RunUntilDone(key));
  CHECK(key.response().status == 503);
  CHECK(key.response().info.attempts == 3);
  SimCall& once = world.client.Get("/", {.max_attempts = 1});
  REQUIRE(world.client.RunUntilDone(once));
  CHECK(once.response().info.attempts == 1);
  for (const int other : {200, 302, 400, 404, 500}) {
    status = other;
    SimCall& call = world.client.Get();
    REQUIRE(world.client.RunUntilDone(call));
    CHECK(call.response().status == other);
    CHECK(call.response().info.attempts == 1);
  }
  CHECK(world.client.Close());
}

TEST_CASE("a status of gRPC is retryable wherever it comes, and the host learns how often it was") {
  World world;
  WEFT_SEED_INFO(*world.env);
  const bool trailers_only = GENERATE(false, true);
  world.answer = [&](int n) {
    if (n == 2) return RogueAnswer::Grpc("good");
    return trailers_only ? GrpcTrailersOnly("14") : RogueAnswer::Grpc("bad", 14);
  };
  SimCall& call = world.client.Post("/s/m", "x", {.protocol = Protocol::kGrpc});
  REQUIRE(world.client.RunUntilDone(call));
  CHECK(call.response().trailers["grpc-status"] == "0");
  CHECK(call.response().body.substr(5) == "good");
  CHECK(call.response().info.attempts == 3);
  CHECK(world.previous == std::vector<std::string>{"", "1", "2"});
  CHECK(world.client.Close());
}

TEST_CASE("a host says how long to wait, or not to try again") {
  World world;
  WEFT_SEED_INFO(*world.env);
  HeaderList said;
  world.answer = [&](int n) { return n % 2 == 0 ? Status(503, said) : RogueAnswer{}; };
  const auto call = [&](HeaderList headers, CallOptions options = {}) -> SimCall& {
    world.times.clear();
    said = std::move(headers);
    SimCall& made = world.client.Get("/", options);
    REQUIRE(world.client.RunUntilDone(made));
    return made;
  };
  CHECK(call({{"grpc-retry-pushback-ms", "70"}}).response().status == 200);
  CHECK(world.Pause(0) >= 70ms);
  CHECK(world.Pause(0) < 75ms);
  CHECK(call({{"grpc-retry-pushback-ms", "-1"}}).response().status == 503);
  CHECK(call({{"retry-after", "2"}}).response().status == 200);
  CHECK(world.Pause(0) >= 2s);
  // No use in waiting for what would be too late.
  SimCall& late = call({{"retry-after", "20"}}, {.timeout = absl::Seconds(10)});
  CHECK(late.response().status == 503);
  CHECK(late.took() < 1s);
  CHECK(world.client.Close());
}

TEST_CASE("an attempt that takes too long is given up for another host, where it may be repeated") {
  World world({.attempt_timeout = absl::Milliseconds(50)});
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int n) { return n == 0 ? RogueAnswer::Silence() : RogueAnswer{}; };
  SimCall& call = world.client.Get();
  REQUIRE(world.client.RunUntilDone(call));
  CHECK(call.response().status == 200);
  CHECK(call.response().info.attempts == 2);
  CHECK(world.Pause(0) >= 58ms);
  CHECK(world.Pause(0) <= 65ms);
  world.times.clear();
  SimCall& post = world.client.Post("/", "x");
  REQUIRE(world.client.RunUntilDone(post));
  CHECK(absl::IsUnavailable(post.status()));
  CHECK(Says(post.status(), "no answer within the attempt timeout of 50ms"));
  CHECK(post.error().processed == Processed::kMaybeProcessed);
  world.times.clear();
  SimCall& own = world.client.Get("/", {.attempt_timeout = absl::Milliseconds(200)});
  REQUIRE(world.client.RunUntilDone(own));
  CHECK(world.Pause(0) >= 200ms);
  CHECK(world.a.violations().empty());
  CHECK(world.client.Close());
}

TEST_CASE("an attempt that moves no byte for the idle timeout has not met its own timeout") {
  World world({.attempt_timeout = absl::Milliseconds(500)});
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int) { return RogueAnswer::Silence(); };
  SimCall& call = world.client.Get("/", {.idle_timeout = absl::Milliseconds(50)});
  REQUIRE(world.client.RunUntilDone(call));
  CHECK(absl::IsDeadlineExceeded(call.status()));
  CHECK(Says(call.status(), "no byte moved within the idle timeout"));
  CHECK(world.times.size() == 1);
  CHECK(world.client.Close());
}

TEST_CASE("the deadline is the call's, however many attempts there are") {
  World world({.max_attempts = 5,
               .retryable = {absl::StatusCode::kUnavailable},
               .initial_backoff = absl::Milliseconds(1),
               .backoff_multiplier = 1,
               .budget_ratio = 10});
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int) {
    RogueAnswer answer = Status(503);
    answer.delay = 30ms;
    return answer;
  };
  for (int ms = 1; ms < 200; ms += 7) {
    SimCall& call = world.client.Get("/", {.timeout = absl::Milliseconds(ms)});
    REQUIRE(world.client.RunUntilDone(call));
    CHECK(call.ends() == 1);
    CHECK(call.took() <= std::chrono::milliseconds(ms) + 2ms);
    CHECK((call.ok() || absl::IsDeadlineExceeded(call.status())));
  }
  CHECK(world.client.Close());
}

TEST_CASE("an answer that was to be bettered is given where no host is left to try") {
  World world(
      {.retryable = {absl::StatusCode::kUnavailable}, .initial_backoff = absl::Milliseconds(500)});
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int) {
    RogueAnswer answer = Status(503, {{"x", "y"}});
    answer.body = "sorry";
    return answer;
  };
  SimCall& call = world.client.Get("/", {.timeout = absl::Seconds(60)});
  world.env->RunFor(100ms);
  REQUIRE(world.times.size() == 1);
  world.a.Kill();
  world.b.Kill();
  REQUIRE(world.client.RunUntilDone(call));
  REQUIRE(call.ok());
  CHECK(call.response().status == 503);
  CHECK(call.response().headers["x"] == "y");
  CHECK(call.response().body == "sorry");
  CHECK(world.client.Close());
}

TEST_CASE(
    "a call that waits for its next attempt can be cancelled, dropped, and ended with the "
    "factory") {
  World world({.retryable = {absl::StatusCode::kUnavailable},
               .initial_backoff = absl::Seconds(1),
               .max_backoff = absl::Seconds(1)});
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int) { return Status(503); };
  SimCall& cancelled = world.client.Get();
  SimCall& dropped = world.client.Get();
  SimCall& ended = world.client.Get();
  world.env->RunFor(100ms);
  REQUIRE(world.times.size() == 3);
  cancelled.handle.Cancel();
  world.client.Drop(dropped);
  world.env->RunFor(10ms);
  REQUIRE(cancelled.done());
  CHECK(absl::IsCancelled(cancelled.status()));
  CHECK_FALSE(ended.done());
  CHECK(world.client.Close());
  REQUIRE(ended.done());
  CHECK(absl::IsCancelled(ended.status()));
  CHECK(world.times.size() == 3);
}

TEST_CASE("the log of a call tells each attempt, and why there were no more") {
  World world;
  WEFT_SEED_INFO(*world.env);
  using Why = AttemptInfo::Why;
  world.answer = [](int n) {
    if (n == 0) return RogueAnswer::Refused();
    if (n == 1) return Status(503);
    return n == 2 ? RogueAnswer{} : RogueAnswer::Reset(kInternalError);
  };
  SimCall& call = world.client.Get();
  REQUIRE(world.client.RunUntilDone(call));
  REQUIRE(call.ok());
  const AttemptLog& log = call.response().info.log;
  REQUIRE(log.attempts.size() == 3);
  CHECK(log.attempts[0].why == Why::kFirst);
  CHECK(log.attempts[0].code == absl::StatusCode::kUnavailable);
  CHECK(log.attempts[0].http_status == 0);
  CHECK_FALSE(log.attempts[0].error.empty());
  CHECK(log.attempts[1].why == Why::kByItself);
  CHECK(log.attempts[1].code == absl::StatusCode::kUnavailable);
  CHECK(log.attempts[1].http_status == 503);
  CHECK(log.attempts[2].why == Why::kRetry);
  CHECK(log.attempts[2].code == absl::StatusCode::kOk);
  CHECK(log.attempts[2].http_status == 200);
  CHECK(log.attempts[2].started >= log.attempts[1].started + absl::Milliseconds(8));
  CHECK(log.attempts[0].host != log.attempts[1].host);
  CHECK(log.why_no_more.empty());

  SimCall& bad = world.client.Post("/", "x");
  REQUIRE(world.client.RunUntilDone(bad));
  const AttemptLog failed = bad.error().log;
  CHECK(failed.attempts.size() == 1);
  CHECK(failed.why_no_more == "such an end is not repeated");
  world.answer = [](int) { return Status(503); };
  SimCall& last = world.client.Get("/", {.max_attempts = 2});
  REQUIRE(world.client.RunUntilDone(last));
  const AttemptLog& all = last.response().info.log;
  CHECK(all.attempts.size() == 2);
  CHECK(all.why_no_more == "max_attempts were made");
  CHECK(world.client.Close());
}

TEST_CASE("a stream is tried again while nobody has seen anything of an answer") {
  World world;
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int n) { return n < 2 ? GrpcTrailersOnly("14") : RogueAnswer::Grpc("good"); };
  Stream stream = world.client.channel().Open(Request::Post("/s/m", "first"),
                                              {.protocol = Protocol::kGrpc}, true);
  std::optional<absl::StatusOr<ResponseHead>> head;
  std::optional<absl::Status> end;
  std::string body;
  stream.HeadThen([&](absl::StatusOr<ResponseHead> came) { head = std::move(came); });
  stream.ReadThen([&](std::optional<std::string> piece) {
    body = piece.value_or("none");
    stream.FinishThen([&](absl::Status status) { end = status; });
  });
  REQUIRE(world.env->RunUntil([&] { return end.has_value(); }, 10s));
  CHECK(end->ok());
  CHECK(body.substr(5) == "good");
  REQUIRE((head.has_value() && head->ok()));
  CHECK_FALSE((*head)->headers.Has("grpc-status"));
  CHECK(stream.Info().attempts == 3);
  CHECK(stream.Trailers()["grpc-status"] == "0");
  CHECK(world.client.Close());
}

TEST_CASE("a stream whose attempts are used up gets the last answer") {
  World world;
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int) { return GrpcTrailersOnly("14", {{"grpc-message", "no"}}); };
  Stream stream = world.client.channel().Open(Request::Post("/s/m", "first"),
                                              {.protocol = Protocol::kGrpc}, true);
  std::optional<absl::Status> end;
  stream.FinishThen([&](absl::Status status) { end = status; });
  REQUIRE(world.env->RunUntil([&] { return end.has_value(); }, 10s));
  CHECK(end->ok());
  REQUIRE(stream.TryHead().has_value());
  CHECK(stream.TryHead()->headers["grpc-message"] == "no");
  CHECK(world.times.size() == 3);
  CHECK(world.client.Close());
}

// Under any pattern of failures: one end for each call, no more attempts than allowed, and no more
// extra ones than the budget has.
TEST_CASE("attempts stay within the budget under random failures") {
  const int seed = GENERATE(range(1, 9));
  World world({.max_attempts = 4,
               .retryable = {absl::StatusCode::kUnavailable},
               .budget_ratio = 0.2,
               .budget_reserve_per_second = 1});
  WEFT_SEED_INFO(*world.env);
  base::Random random(static_cast<uint64_t>(seed));
  const double share = 0.125 * seed;  // of attempts that fail
  world.answer = [&](int) {
    const double chance = random.Uniform(0, 1);
    if (chance >= share) return RogueAnswer{};
    if (chance < share / 4) return RogueAnswer::Reset(kInternalError);
    if (chance < share / 2) return RogueAnswer::Refused();
    return Status(503);
  };
  constexpr int kCalls = 2000;
  for (int i = 0; i < kCalls; ++i) {
    world.client.Get();
    if (i % 10 == 9) world.env->RunFor(10ms);
  }
  REQUIRE(world.client.RunUntilAllDone());
  int attempts = 0;
  for (const SimCall& call : world.client.calls()) {
    CHECK(call.ends() == 1);
    const int made = call.ok() ? call.response().info.attempts : call.error().attempts;
    CHECK(made <= 5);  // one of them may have been refused, and repeated by itself
    attempts += made;
  }
  const auto stats = world.client.stats();
  CHECK(static_cast<uint64_t>(attempts) == kCalls + stats.retries + stats.transparent_retries);
  CHECK(stats.retries <= kCalls * 0.2 + 10);
  if (share > 0.5) CHECK(stats.retries_refused_by_budget > 0);
  CHECK(world.client.Close());
}

TEST_CASE("a stream of plain HTTP is tried again after a small answer that is retryable") {
  World world;
  WEFT_SEED_INFO(*world.env);
  size_t page = 100;
  SECTION("small") {}
  SECTION("too large to be held back") { page = 20000; }
  world.answer = [&](int n) {
    return RogueAnswer{.status = n < 2 ? 503 : 200, .body = std::string(n < 2 ? page : 10, 'x')};
  };
  Stream stream = world.client.channel().Open(Request::Get("/"), {}, true);
  std::optional<ResponseHead> head;
  std::optional<absl::Status> end;
  std::string body;
  std::function<void(std::optional<std::string>)> on_piece = [&](std::optional<std::string> piece) {
    if (piece.has_value()) {
      body += *piece;
      stream.ReadThen(on_piece);
    } else {
      stream.FinishThen([&](absl::Status status) { end = status; });
    }
  };
  stream.HeadThen([&](absl::StatusOr<ResponseHead> came) { head = std::move(came).value(); });
  stream.ReadThen(on_piece);
  REQUIRE(world.env->RunUntil([&] { return end.has_value(); }, 10s));
  CHECK(end->ok());
  REQUIRE(head.has_value());
  CHECK(head->status == (page == 100 ? 200 : 503));
  CHECK(body == std::string(page == 100 ? 10 : page, 'x'));
  CHECK(stream.Info().attempts == (page == 100 ? 3 : 1));
  CHECK(stream.Info().body_bytes == body.size());
  CHECK(world.client.Close());
}

TEST_CASE("the last answer of a stream that could not be bettered is shown whole") {
  World world;
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int n) {
    return RogueAnswer{
        .status = 503, .body = "page " + std::to_string(n), .trailers = {{"t", "1"}}};
  };
  Stream stream = world.client.channel().Open(Request::Get("/"), {}, true);
  std::optional<absl::Status> end;
  std::optional<ResponseHead> head;
  std::string body;
  bool waits = false;
  SECTION("to who waits for it") { waits = true; }
  SECTION("to who comes later") {}
  const auto read = [&] {
    stream.HeadThen([&](absl::StatusOr<ResponseHead> came) { head = std::move(came).value(); });
    stream.ReadThen([&](std::optional<std::string> piece) {
      body = piece.value_or("none");
      stream.FinishThen([&](absl::Status status) { end = status; });
    });
  };
  if (!waits) world.env->RunFor(5s);
  read();
  REQUIRE(world.env->RunUntil([&] { return end.has_value(); }, 10s));
  CHECK(end->ok());
  REQUIRE(head.has_value());
  CHECK(head->status == 503);
  CHECK(body == "page 2");
  CHECK(stream.Trailers()["t"] == "1");
  CHECK(stream.Info().log.attempts.size() == 3);
  CHECK(stream.Info().log.attempts.back().code == absl::StatusCode::kUnavailable);
  CHECK(world.client.Close());
}

}  // namespace
}  // namespace weft::testing
