// Streams with two attempts at a time: what is written goes to both, one of them is shown.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "call/hedge_world.h"
#include "call/watched_stream.h"
#include "support/catch.h"
#include "support/says.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;
using Why = AttemptInfo::Why;

constexpr CallOptions kHedgedPost = {
    .timeout = absl::Seconds(5), .idempotent = true, .hedge_delay = absl::Milliseconds(20)};

// What comes is answered by hand, from its head on.
struct StreamWorld : HedgeWorld {
  explicit StreamWorld(ChannelOptions channel = {}, ConnectionOptions connection = {})
      : HedgeWorld(std::move(channel), /*warm_calls=*/100, connection) {
    for (RogueServer& server : servers) server.options().answer_at_head = true;
    answer = [](int) { return RogueAnswer::Silence(); };
  }
  Channel& channel() { return client->channel(); }
  // A stream with two attempts.
  std::unique_ptr<WatchedStream> OpenTwice(Request request, CallOptions options = kHedgedPost,
                                           bool end = false) {
    auto opened =
        std::make_unique<WatchedStream>(*env, channel(), std::move(request), options, end);
    REQUIRE(env->RunUntil([&] { return hosts.size() == 2; }, 1s));
    env->RunFor(10ms);
    return opened;
  }
  bool RunUntilDone(const WatchedStream& stream) {
    return env->RunUntil([&] { return stream.done(); }, 60s);
  }
};

// Its end, and that of all.
void CheckGood(StreamWorld& world, std::unique_ptr<WatchedStream> stream) {
  REQUIRE(world.RunUntilDone(*stream));
  INFO(stream->end());
  CHECK(stream->end().ok());
  CHECK(stream->heads() == 1);
  CHECK(stream->ends_of_body() == 1);
  CHECK(stream->ends() == 1);
  CHECK(world.Violations().empty());
  world.env->RunFor(3s);
  CHECK(world.OpenStreams() == 0);
  INFO(world.channel().DebugString());
  CHECK(world.InFlight() == 0);
  stream.reset();
  CHECK(world.client->Close());
}

TEST_CASE("what is written goes to both attempts of a stream, whenever it was written") {
  StreamWorld world;
  WEFT_SEED_INFO(*world.env);
  auto stream = world.OpenTwice(Request::Post("/", "one "));
  CHECK(world.hosts[0] != world.hosts[1]);
  stream->Write("two ");
  world.env->RunFor(5ms);
  stream->Write("three");
  REQUIRE(stream->stream().WritesDone({{"my", "trailer"}}).ok());
  world.env->RunFor(5ms);
  for (const size_t n : {size_t{0}, size_t{1}}) {
    CHECK(world.Asked(n).body == "one two three");
    CHECK(world.Asked(n).trailers == HeaderList{{"my", "trailer"}});
    CHECK(world.Asked(n).complete);
  }
  CHECK_FALSE(stream->head().has_value());
  const size_t winner = GENERATE(0u, 1u);
  world.Answer(winner, {.body = "answer", .trailers = {{"t", "1"}}});
  REQUIRE(world.RunUntilDone(*stream));
  CHECK(stream->body() == "answer");
  CHECK(stream->stream().Trailers()["t"] == "1");
  CHECK(stream->stream().Info().host == world.hosts[winner]);
  const AttemptLog log = stream->stream().Info().log;
  REQUIRE(log.attempts.size() == 2);
  CHECK(log.attempts[1 - winner].lost);
  CHECK_FALSE(log.attempts[winner].lost);
  world.env->RunFor(5ms);
  CHECK(world.Asked(1 - winner).reset.has_value());
  CHECK(world.client->stats().hedges_won == winner);
  CheckGood(world, std::move(stream));
}

TEST_CASE("the attempt that is answered first gets all of the body, however far behind it was") {
  StreamWorld world;
  WEFT_SEED_INFO(*world.env);
  const std::string body(150'000, 'b');
  // Each host takes what a stream's first window has, and the first one no more.
  for (RogueServer& server : world.servers) {
    server.options().on_frame = [&](RogueConnection& connection, const Frame& frame) {
      const bool first = frame.stream == connection.last_stream() && !world.hosts.empty() &&
                         &world.Connection(0) == &connection;
      connection.options().return_windows = !first;
      return false;
    };
  }
  auto stream = world.OpenTwice(Request::Post("/"));
  for (int i = 0; i < 5; ++i) {
    stream->Write(body.substr(0, 30'000));
    world.env->RunFor(20ms);
  }
  REQUIRE(stream->written() == 5);
  REQUIRE(stream->stream().WritesDone().ok());
  world.env->RunFor(50ms);
  REQUIRE(world.Asked(1).body.size() == body.size());
  const size_t sent = world.Asked(0).body.size();
  REQUIRE(sent < 70'000);

  RogueConnection& slow = world.Connection(0);
  slow.SendHead(slow.last_stream(), 200);
  world.env->RunFor(10ms);
  REQUIRE(stream->head().has_value());
  // It is taken after all.
  slow.Send(WindowUpdateFrame(0, 1 << 20));
  slow.Send(WindowUpdateFrame(slow.last_stream(), 1 << 20));
  world.env->RunFor(100ms);
  CHECK((world.Asked(0).body == body));
  CHECK(world.Asked(0).complete);
  slow.SendBody(slow.last_stream(), "late", true);
  REQUIRE(world.RunUntilDone(*stream));
  CHECK(stream->body() == "late");
  CheckGood(world, std::move(stream));
}

TEST_CASE("an answer that breaks off when it has begun ends the call, whatever still runs") {
  StreamWorld world({.hedge = {.max_attempts = 3}});
  WEFT_SEED_INFO(*world.env);
  CallOptions options = kHedgedPost;
  options.hedge_delay = absl::ZeroDuration();
  WatchedStream stream(*world.env, world.channel(), Request::Post("/", "request"), options);
  REQUIRE(world.env->RunUntil([&] { return world.hosts.size() == 3; }, 1s));
  world.env->RunFor(10ms);
  const size_t winner = GENERATE(0u, 1u, 2u);
  RogueConnection& connection = world.Connection(winner);
  RogueAnswer half{.body = "half", .end = false};
  SECTION("reset by the host") { half.reset = kInternalError; }
  SECTION("with a second head") { half.trailers = {{"t", "1"}}; }
  SECTION("with the connection") {
    connection.SendHead(connection.last_stream(), 200);
    connection.SendRaw("this is no frame at all, whatever the client makes of it");
    half.head = false;
  }
  world.Answer(winner, half);
  REQUIRE(world.env->RunUntil([&] { return stream.done(); }, 1s));
  CHECK_FALSE(stream.end().ok());
  CHECK_FALSE(absl::IsDeadlineExceeded(stream.end()));
  CHECK(stream.ends() == 1);
  CHECK(world.hosts.size() == 3);
  world.env->RunFor(3s);
  CHECK(world.InFlight() == 0);
  stream.Drop();
  CHECK(world.client->Close());
}

TEST_CASE("a loser that is drained shows nothing, returns its windows and ends") {
  StreamWorld world({}, {.connection_window = 65'535, .reset_burst = 0});
  WEFT_SEED_INFO(*world.env);
  auto stream = world.OpenTwice(Request::Get("/"), kHedgedPost, /*end=*/true);
  const size_t winner = GENERATE(0u, 1u);
  const size_t loser = 1 - winner;
  // More than a connection's window, from both.
  RogueConnection& slow = world.Connection(loser);
  const uint32_t lost = slow.last_stream();
  world.Answer(winner, {.body = std::string(100'000, 'w'), .piece = 10'000, .gap = 1ms});
  world.env->RunFor(5ms);
  REQUIRE(stream->head().has_value());
  slow.Answer(lost, {.body = std::string(300'000, 'l'), .piece = 10'000, .gap = 1ms});
  REQUIRE(world.RunUntilDone(*stream));
  CHECK((stream->body() == std::string(100'000, 'w')));
  world.env->RunFor(200ms);
  CHECK(slow.blocked_bytes() == 0);
  CHECK(slow.request(lost)->answered);
  CHECK_FALSE(slow.request(lost)->reset.has_value());
  CHECK(world.client->stats().losers_drained == 1);
  CheckGood(world, std::move(stream));
}

TEST_CASE("data of a loser that comes with the winner's head is not shown") {
  StreamWorld world;
  WEFT_SEED_INFO(*world.env);
  auto stream = world.OpenTwice(Request::Get("/"), kHedgedPost, /*end=*/true);
  // At the same time, in any order.
  for (const size_t n : {size_t{0}, size_t{1}})
    world.Answer(n, {.body = std::string(50'000, n == 0 ? 'a' : 'b'), .trailers = {{"t", "1"}}});
  REQUIRE(world.RunUntilDone(*stream));
  const std::string& body = stream->body();
  REQUIRE(body.size() == 50'000);
  const char shown = stream->stream().Info().host == world.hosts[0] ? 'a' : 'b';
  CHECK((body == std::string(50'000, shown)));
  CheckGood(world, std::move(stream));
}

TEST_CASE("two answers in one packet are one answer") {
  StreamWorld world;
  WEFT_SEED_INFO(*world.env);
  // The only host that is left is hedged with itself.
  world.servers[1].Kill();
  world.servers[2].Kill();
  world.env->RunFor(10ms);
  auto stream = world.OpenTwice(Request::Get("/"), kHedgedPost, /*end=*/true);
  REQUIRE(world.hosts[0] == world.hosts[1]);
  RogueConnection& connection = world.Connection(0);
  const uint32_t second = connection.last_stream();
  const bool second_is_first = GENERATE(false, true);
  // What a handler answers leaves at once.
  const uint32_t one = second_is_first ? second : second - 2;
  const uint32_t other = second_is_first ? second - 2 : second;
  world.answer = [&](int) {
    connection.Answer(one, {.headers = {{"who", "one"}}, .body = "one ", .end = false});
    connection.Answer(other, {.headers = {{"who", "other"}}, .body = "other "});
    connection.SendBody(one, "answer", true);
    return RogueAnswer{};
  };
  world.client->Get();
  REQUIRE(world.RunUntilDone(*stream));
  REQUIRE((stream->head().has_value() && stream->head()->ok()));
  CHECK(stream->head()->value().headers["who"] == "one");
  CHECK(stream->body() == "one answer");
  CheckGood(world, std::move(stream));
}

TEST_CASE("once more was sent than is kept the furthest attempt is the only one") {
  StreamWorld world({.retry = {.max_attempts = 5}});
  WEFT_SEED_INFO(*world.env);
  const size_t fast = GENERATE(0u, 1u);
  for (RogueServer& server : world.servers) {
    server.options().on_frame = [&](RogueConnection& connection, const Frame&) {
      const bool one = world.hosts.size() > fast && &world.Connection(fast) == &connection;
      connection.options().return_windows = one;
      return false;
    };
  }
  auto stream = world.OpenTwice(Request::Post("/"));
  const std::string piece(40'000, 'p');
  for (int i = 0; i < 10; ++i) {
    stream->Write(piece);
    REQUIRE(world.env->RunUntil([&] { return !stream->writing(); }, 1s));
    world.env->RunFor(2ms);
  }
  CHECK(world.Asked(1 - fast).reset.has_value());
  CHECK(world.Asked(1 - fast).body.size() < 100'000);
  CHECK(world.Asked(fast).body.size() == 400'000);
  REQUIRE(stream->stream().WritesDone().ok());
  const bool good = GENERATE(true, false);
  if (good) {
    world.Answer(fast, {.body = "good"});
    REQUIRE(world.RunUntilDone(*stream));
    CHECK(stream->body() == "good");
    CHECK(world.client->stats().hedges_won == fast);
    CheckGood(world, std::move(stream));
  } else {
    // It is not tried again.
    world.Connection(fast).stream().Reset();
    REQUIRE(world.RunUntilDone(*stream));
    CHECK(absl::IsUnavailable(stream->end()));
    CHECK(stream->took() < 1s);
    CHECK(world.hosts.size() == 2);
    CHECK(world.client->stats().hedges_won == 0);
    CHECK(stream->error().log.why_no_more ==
          "something of an answer, or too much of the request, has passed");
    stream.reset();
    CHECK(world.client->Close());
  }
}

TEST_CASE("a bad answer without a body leaves a stream to its other attempt") {
  StreamWorld world({.retry = {.max_attempts = 2, .retryable = {absl::StatusCode::kUnavailable}}});
  WEFT_SEED_INFO(*world.env);
  CallOptions options = kHedgedPost;
  options.protocol = Protocol::kGrpc;
  options.max_attempts = 2;
  auto stream = world.OpenTwice(Request::Post("/s/m", "request"), options);
  const size_t bad = GENERATE(0u, 1u);
  const RogueAnswer unavailable = {.headers = {{"content-type", "application/grpc"},
                                               {"grpc-status", "14"},
                                               {"who", std::to_string(bad)}}};
  world.Answer(bad, unavailable);
  world.env->RunFor(20ms);
  CHECK_FALSE(stream->head().has_value());
  CHECK(stream->ends_of_body() == 0);
  stream->Write("more");
  REQUIRE(stream->stream().WritesDone().ok());
  world.env->RunFor(20ms);
  CHECK(world.Asked(1 - bad).body == "requestmore");
  const bool good = GENERATE(true, false);
  world.Answer(1 - bad, good ? RogueAnswer::Grpc("good") : unavailable);
  REQUIRE(world.RunUntilDone(*stream));
  CHECK(stream->stream().Trailers()["grpc-status"] == (good ? "0" : ""));
  CHECK(stream->head()->value().headers.Has("grpc-status") == !good);
  CHECK(world.hosts.size() == 2);
  CheckGood(world, std::move(stream));
}

TEST_CASE("Cancel, Finish and the destructor of a stream end all of its attempts") {
  StreamWorld world;
  WEFT_SEED_INFO(*world.env);
  auto stream = world.OpenTwice(Request::Post("/", "request"));
  SECTION("Cancel") {
    stream->stream().Cancel();
    REQUIRE(world.env->RunUntil([&] { return stream->done(); }, 1ms));
    CHECK(absl::IsCancelled(stream->end()));
    CHECK(stream->error().processed == Processed::kMaybeProcessed);
    CHECK(stream->heads() == 1);
  }
  SECTION("the destructor") { stream->Drop(); }
  SECTION("Finish, which completes the request of both") {
    int finished = 0;
    stream->stream().FinishThen([&](absl::Status) { ++finished; });
    world.env->RunFor(5ms);
    CHECK(world.Asked(0).complete);
    CHECK(world.Asked(1).complete);
    CHECK(finished == 0);
    world.Answer(1, {.body = "thrown away"});
    REQUIRE(world.env->RunUntil([&] { return finished == 1; }, 1s));
    CHECK(stream->stream().Info().host == world.hosts[1]);
  }
  world.env->RunFor(10ms);
  CHECK(world.OpenStreams() == 0);
  world.env->RunFor(3s);
  CHECK(world.InFlight() == 0);
  stream.reset();
  CHECK(world.Violations().empty());
  CHECK(world.client->Close());
}

TEST_CASE("what all streams keep to be sent again is bounded, and given back when they end") {
  StreamWorld world({}, {.connection_window = 65'535});
  WEFT_SEED_INFO(*world.env);
  for (RogueServer& server : world.servers) {
    server.options().record = false;
    server.options().settings = {{kMaxConcurrentStreams, 1000}};
    server.last().SendSettings({{kMaxConcurrentStreams, 1000}, {kInitialWindowSize, 1 << 20}});
  }
  world.env->RunFor(10ms);
  const std::string body(200'000, 'k');
  const CallOptions options = {.timeout = absl::Seconds(100), .idempotent = true};
  // Whether a stream that has sent that much is tried again when its connection is lost.
  const auto is_kept = [&] {
    world.Forget();
    WatchedStream stream(*world.env, world.channel(), Request::Post("/", body), options);
    world.env->RunFor(20ms);
    REQUIRE(world.hosts.size() == 1);
    world.Connection(0).SendReset(world.Connection(0).last_stream(), kRefusedStream);
    world.env->RunFor(20ms);
    const bool again = world.hosts.size() == 2;
    stream.Drop();
    world.env->RunFor(5ms);
    return again;
  };
  CHECK(is_kept());
  std::vector<std::unique_ptr<WatchedStream>> streams;
  for (int i = 0; i < 340; ++i) {  // 64 MiB and a little
    streams.push_back(std::make_unique<WatchedStream>(*world.env, world.channel(),
                                                      Request::Post("/", body), options));
    world.env->RunFor(1ms);
  }
  world.env->RunFor(100ms);
  CHECK_FALSE(is_kept());
  // Some end so, some so; all is given back.
  for (size_t i = 0; i < streams.size(); ++i) {
    if (i % 2 == 0) streams[i]->stream().Cancel();
    if (i % 2 == 1) streams[i]->Drop();
  }
  world.env->RunFor(100ms);
  streams.clear();
  CHECK(is_kept());
  for (int i = 0; i < 300; ++i) {
    streams.push_back(std::make_unique<WatchedStream>(*world.env, world.channel(),
                                                      Request::Post("/", body), options));
    world.env->RunFor(1ms);
  }
  CHECK(is_kept());
  streams.clear();
  CHECK(world.client->Close());
}

}  // namespace
}  // namespace weft::testing
