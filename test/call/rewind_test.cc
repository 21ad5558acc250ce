// Bodies that their source gives again: calls that are tried again however much was sent.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "call/hedge_world.h"
#include "support/catch.h"
#include "support/says.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

constexpr size_t kSize = 1'000'000;

// Each byte says whether it is in its place.
std::string Piece(size_t from, size_t size) {
  std::string piece(size, '\0');
  for (size_t i = 0; i < size; ++i)
    piece[i] = static_cast<char>((from + i) * 7 + ((from + i) >> 8));
  return piece;
}

class RewindingSource final : public BodySource {
 public:
  explicit RewindingSource(size_t size = kSize) : size_(size) {}
  absl::StatusOr<bool> Read(std::string& out) override {
    ++reads;
    if (on_read) on_read();
    const size_t n = std::min<size_t>(20'000, size_ - at_);
    out += Piece(at_, n);
    at_ += n;
    return at_ < size_;
  }
  Headers Trailers() override { return {{"source", "done"}}; }
  bool can_rewind() const override { return true; }
  absl::Status Rewind() override {
    ++rewinds;
    at_ = 0;
    return rewound;
  }

  std::function<void()> on_read;
  absl::Status rewound;
  int reads = 0;
  int rewinds = 0;

 private:
  const size_t size_;
  size_t at_ = 0;
};

struct RewindWorld : HedgeWorld {
  using HedgeWorld::HedgeWorld;
  SimCall& Put(CallOptions options = {}) {
    Request request = Request::Get("/");
    request.method = "PUT";
    request.source = source;
    options.protocol = Protocol::kGrpc;
    return client->Start(std::move(request), options);
  }
  const std::shared_ptr<RewindingSource> source = std::make_shared<RewindingSource>();
};

// Nothing of it is shown until it is the last.
RogueAnswer Unavailable(base::MonoDuration delay = 0ms) {
  return {.headers = {{"content-type", "application/grpc"}, {"grpc-status", "14"}}, .delay = delay};
}

const ChannelOptions kRetried = {.retry = {.retryable = {absl::StatusCode::kUnavailable}}};

TEST_CASE("a body that can be rewound is sent whole to the next host, however much was sent") {
  RewindWorld world(kRetried);
  WEFT_SEED_INFO(*world.env);
  SECTION("after an answer to the whole of it") {}
  SECTION("after a connection that was lost in the middle of it") {
    world.servers[0].options().on_frame = world.servers[1].options().on_frame =
        world.servers[2].options().on_frame = [&](RogueConnection& connection, const Frame& frame) {
          if (frame.type != kData || connection.request(frame.stream)->body.size() < 500'000)
            return false;
          for (RogueServer& server : world.servers) server.options().on_frame = nullptr;
          connection.stream().Reset();
          return true;
        };
  }
  int bodies = 0;
  world.answer = [&](int n) {
    const RogueRequest* request = nullptr;
    for (const RogueRequest* one : world.Server(world.hosts.back()).requests()) request = one;
    bodies += (request->body == Piece(0, kSize)) ? 1 : 0;
    CHECK(request->trailers == HeaderList{{"source", "done"}});
    return n == 0 && world.source->rewinds == 0 ? Unavailable() : RogueAnswer::Grpc("good");
  };
  SimCall& call = world.Put();
  REQUIRE(world.client->RunUntilDone(call));
  REQUIRE(call.ok());
  CHECK(call.response().body.substr(5) == "good");
  CHECK(call.response().info.attempts == 2);
  CHECK(bodies == static_cast<int>(world.hosts.size()));
  CHECK(world.source->rewinds == 1);
  CHECK(world.Violations().empty());
  CHECK(world.client->Close());
}

TEST_CASE("a Rewind that fails ends the call with its error") {
  RewindWorld world(kRetried);
  WEFT_SEED_INFO(*world.env);
  world.source->rewound = absl::DataLossError("the tape is torn");
  world.answer = [](int n) { return n == 0 ? Unavailable() : RogueAnswer::Grpc("good"); };
  SimCall& call = world.Put();
  REQUIRE(world.client->RunUntilDone(call));
  CHECK(absl::IsDataLoss(call.status()));
  CHECK(Says(call.status(), "the tape is torn"));
  CHECK(world.hosts.size() == 1);
  CHECK(world.source->rewinds == 1);
  world.env->RunFor(1s);
  CHECK(world.OpenStreams() == 0);
  CHECK(world.client->Close());
}

TEST_CASE("a body that can be rewound is not hedged: its source is at one place") {
  RewindWorld world(
      {.hedge = {.when = HedgeOptions::When::kAfterDelay, .delay = absl::Milliseconds(5)}});
  WEFT_SEED_INFO(*world.env);
  world.answer = [](int) { return RogueAnswer{.delay = 100ms}; };
  SimCall& call = world.Put();
  REQUIRE(world.client->RunUntilDone(call));
  CHECK(call.response().status == 200);
  CHECK(world.hosts.size() == 1);
  CHECK(world.source->rewinds == 0);
  CHECK(world.client->Close());
}

TEST_CASE("a source whose next piece is asked for when the call is tried again begins anew") {
  RewindWorld world(kRetried);
  WEFT_SEED_INFO(*world.env);
  // Whatever is to run does so a little later: the host answers between two pieces, wherever the
  // source has been.
  const Executor later = [&](absl::AnyInvocable<void() &&> task) {
    auto shared = std::make_shared<absl::AnyInvocable<void() &&>>(std::move(task));
    world.env->After(500us, [shared] { std::move(*shared)(); });
  };
  for (RogueServer& server : world.servers) server.options().answer_at_head = true;
  const auto delay = GENERATE(range(0, 12)) * 250us;
  world.answer = [&](int n) { return n == 0 ? Unavailable(delay) : RogueAnswer::Silence(); };
  SimCall& call = world.Put({.executor = &later});
  REQUIRE(world.env->RunUntil([&] { return world.hosts.size() == 2; }, 1s));
  world.env->RunFor(500ms);
  CHECK(world.source->rewinds == 1);
  CHECK((world.Asked(1).body == Piece(0, kSize)));
  CHECK(world.Asked(1).complete);
  world.Answer(1, RogueAnswer::Grpc("good"));
  REQUIRE(world.client->RunUntilDone(call));
  REQUIRE(call.ok());
  CHECK(call.response().body.substr(5) == "good");
  CHECK(world.Violations().empty());
  CHECK(world.client->Close());
}

TEST_CASE("a rewinding that comes when the call is over finds its source still there") {
  RewindWorld world(kRetried);
  WEFT_SEED_INFO(*world.env);
  // The loop of the first host is busy when the body is wanted again; meanwhile the second host
  // answers, on another loop, without a look at the body.
  for (RogueServer& server : world.servers) server.options().answer_at_head = true;
  world.answer = [](int) { return RogueAnswer::Silence(); };
  for (int skipped = GENERATE(0, 1, 2); skipped > 0; --skipped)
    world.client->Get("/", {.timeout = absl::Milliseconds(1)});
  REQUIRE(world.client->RunUntilAllDone());
  world.Forget();
  std::optional<absl::StatusOr<Response>> result;
  {
    Request request = Request::Get("/");
    request.method = "PUT";
    request.source = std::make_shared<RewindingSource>();
    CallHandle handle = world.client->channel().Start(
        std::move(request), {.protocol = Protocol::kGrpc},
        [&](absl::StatusOr<Response> came) { result = std::move(came); });
    handle.Detach();
  }
  REQUIRE(world.env->RunUntil([&] { return world.hosts.size() == 1; }, 1s));
  world.env->RunFor(20ms);
  RogueConnection& connection = world.Connection(0);
  const uint32_t put = connection.last_stream();
  std::vector<CallHandle> busy;
  while (world.hosts.size() == 1 || world.hosts.back() != world.hosts[0]) {
    const size_t before = world.hosts.size();
    busy.push_back(world.client->channel().Start(Request::Get("/"), {},
                                                 [&](auto) { world.env->BusyFor(50ms); }));
    REQUIRE(world.env->RunUntil([&] { return world.hosts.size() > before; }, 1s));
  }
  world.answer = [](int) { return RogueAnswer::Grpc("good"); };
  connection.Answer(put, Unavailable());  // the pause is 8 ms or more
  world.env->RunFor(5ms);
  connection.Answer(connection.last_stream(), {});
  REQUIRE(world.env->RunUntil([&] { return result.has_value(); }, 1s));
  REQUIRE(result->ok());
  CHECK((*result)->body.substr(5) == "good");
  world.env->RunFor(200ms);
  busy.clear();
  CHECK(world.client->Close());
}

}  // namespace
}  // namespace weft::testing
