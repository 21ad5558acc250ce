// A connection whose stream ids run out (RFC 9113 section 5.1.1) is replaced before they do.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pool/exchange.h"
#include "pool/host_pool.h"
#include "support/catch.h"
#include "support/rogue_server.h"
#include "support/sim_env.h"
#include "telemetry/counters.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

// One GET, and how it ended.
class Get final : public pool::Exchange {
 public:
  Get(SimEnv& env, pool::HostPool& host) {
    Bind(host, env.Now(), env.Now() + 10s, base::MonoDuration::zero());
    Start();
  }
  const std::optional<http::StreamEnd>& end() const { return end_; }
  int status() const { return status_; }

 private:
  http::BodyPiece ReadBody(char*, size_t) override { return {}; }
  void OnHead(int status, Headers) override { status_ = status; }
  void OnData(std::string_view bytes) override { ConsumeNow(bytes.size()); }
  void OnTrailers(Headers) override {}
  http::RequestHead RequestHeadFor(bool) override {
    return {.method = "GET", .scheme = "http", .authority = "a", .path = "/"};
  }
  void OnExchangeEnd(http::StreamEnd end) override {
    REQUIRE_FALSE(end_.has_value());
    end_ = std::move(end);
  }
  void Keep() override {}
  void Drop() override {}

  int status_ = 0;
  std::optional<http::StreamEnd> end_;
};

// A host of its own, whose first connection begins at a stream id.
struct World {
  explicit World(int32_t first_stream_id) {
    pool::HostSetup setup;
    setup.loop = loop.get();
    setup.read_buffer = &buffer;
    setup.counters = &counters;
    setup.options = &options;
    setup.connector.network = &env.network();
    setup.seed = env.NewSeed();
    setup.first_stream_id = first_stream_id;
    host = base::MakeRef<pool::HostPool>(*net::Address::Parse("10.0.0.1:80"), std::move(setup));
  }
  ~World() {
    bool closed = false;
    host->Shutdown(pool::HostPool::How::kNow, absl::CancelledError("over"), [&] { closed = true; });
    CHECK(env.RunUntil([&] { return closed; }, 10s));
    host = {};
    CHECK(env.RunUntilIdle());
  }

  // So many at once; all of them have to be answered.
  void Ask(int count) {
    std::vector<std::unique_ptr<Get>> gets;
    for (int i = 0; i < count; ++i) gets.push_back(std::make_unique<Get>(env, *host));
    const auto all_ended = [&] {
      return std::all_of(gets.begin(), gets.end(),
                         [](const auto& get) { return get->end().has_value(); });
    };
    REQUIRE(env.RunUntil(all_ended, 20s));
    for (const auto& get : gets) {
      CHECK(get->end()->status == absl::OkStatus());
      CHECK(get->status() == 200);
    }
  }

  SimEnv env;
  RogueServer server{env, "10.0.0.1:80"};
  std::unique_ptr<event::Loop> loop = *env.NewLoop(0, nullptr);
  pool::ReadBuffer buffer = pool::ReadBuffer(16384);
  telemetry::Counters counters;
  ConnectionOptions options;
  base::Ref<pool::HostPool> host;
};

TEST_CASE("a connection that runs out of stream ids gets a successor, and no exchange fails") {
  const int32_t first = GENERATE(INT32_MAX - 4, INT32_MAX - 2000);
  World world(first);
  WEFT_SEED_INFO(world.env);
  // Ten at once are more than the ids that are left, or less.
  for (int round = 0; round < 3; ++round) world.Ask(10);
  RogueServer& server = world.server;
  CHECK(server.accepted() == 2);
  // The successor begins anew, and nothing more is sent on the first.
  CHECK(server.connection(0).last_stream() >= static_cast<uint32_t>(first));
  CHECK(server.connection(1).last_stream() < 100);
  CHECK(server.connection(0).request_count() + server.connection(1).request_count() == 30);
  CHECK(server.violations() == std::vector<std::string>{});
  REQUIRE(world.env.RunUntil([&] { return server.open_connections() == 1; }, 60s));
}

TEST_CASE(
    "a successor that cannot be dialled is tried again after a pause, and the old one serves") {
  World world(INT32_MAX - 2000);
  WEFT_SEED_INFO(world.env);
  world.Ask(1);
  world.server.StopListening();
  for (int second = 0; second < 10; ++second) {
    world.Ask(5);
    world.env.RunFor(1s);
  }
  CHECK(world.server.accepted() <= 2);
  CHECK(world.counters.dials.value() < 30);
  world.server.Listen();
  REQUIRE(world.env.RunUntil(
      [&] { return world.server.last().last_stream() < 100 || world.server.accepted() == 2; },
      60s));
  world.Ask(5);
  CHECK(world.server.accepted() == 2);
}

}  // namespace
}  // namespace weft::testing
