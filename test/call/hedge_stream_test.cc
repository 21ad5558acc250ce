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

}  // namespace
}  // namespace weft::testing
