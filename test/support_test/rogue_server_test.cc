#include "support/rogue_server.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "support/catch.h"

namespace weft::inline v0::testing {
namespace {

using namespace std::chrono_literals;

constexpr char kAddress[] = "10.0.0.1:80";

// Sends bytes and takes frames; knows no protocol.
class RawClient : net::ReadyWatcher {
 public:
  explicit RawClient(SimEnv& env) : loop_(*env.NewLoop(0, nullptr)) {
    dial_ = env.network().Connect(*loop_, *net::Address::Parse(kAddress), {}, [this](auto result) {
      if (!result.ok()) return;
      stream = *std::move(result);
      stream->SetWatcher(this);
    });
  }
  ~RawClient() { stream.reset(); }
  void OnReady(bool, bool) override {
    char buffer[1000];
    while (!out.empty()) {
      net::IoResult put = stream->Write(out);
      if (put.kind != net::IoResult::Kind::kOk) break;
      out.erase(0, put.bytes);
    }
    for (;;) {
      net::IoResult got = stream->Read(buffer, sizeof buffer);
      last = got.kind;
      if (got.kind != net::IoResult::Kind::kOk) return;
      parser.Feed({buffer, got.bytes});
      while (auto frame = parser.Next()) frames.push_back(*frame);
    }
  }
  void Send(std::string_view bytes) {
    out.append(bytes);
    if (stream != nullptr) OnReady(false, true);
  }
  size_t Count(uint8_t type) const {
    size_t count = 0;
    for (const Frame& frame : frames) count += frame.type == type ? 1 : 0;
    return count;
  }

  std::unique_ptr<event::Loop> loop_;
  std::unique_ptr<net::Dial> dial_;
  std::unique_ptr<net::ByteStream> stream;
  std::string out;
  FrameParser parser;
  std::vector<Frame> frames;
  net::IoResult::Kind last = net::IoResult::Kind::kBlocked;
};

std::string Hello() {
  return std::string(kPreface) + Encode(SettingsFrame({})) + Encode(SettingsAckFrame());
}

std::string Request(uint32_t stream, const std::string& id) {
  return Encode(HeadersFrame(
      stream, HpackEncode({{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {"x-id", id}}),
      kEndHeaders | kEndStream));
}

TEST_CASE("RogueServer: answers over the network, late where asked for") {
  SimEnv env;
  WEFT_SEED_INFO(env);
  RogueServer server(env, kAddress);
  server.host().link.chunk = GENERATE(0, 1);
  server.options().handler = [](const RogueRequest& request) {
    return RogueAnswer{.body = "x", .delay = request.id() == "slow" ? 2s : 0s};
  };
  RawClient client(env);
  client.Send(Hello() + Request(1, "slow") + Request(3, "fast"));
  const base::MonoTime start = env.Now();
  REQUIRE(env.RunUntil([&] { return client.Count(kData) == 1; }, 5s));
  CHECK(client.frames.back().stream == 3);
  REQUIRE(env.RunUntil([&] { return client.Count(kData) == 2; }, 5s));
  CHECK(env.Now() >= start + 2s);
  CHECK(server.Ids() == std::vector<std::string>{"slow", "fast"});
  CHECK(server.violations() == std::vector<std::string>{});
  CHECK(server.accepted() == 1);
  client.stream.reset();
  CHECK(env.RunUntilIdle());
  CHECK(server.open_connections() == 0);
}

TEST_CASE("RogueServer: a drain ends the connection when all is answered") {
  SimEnv env;
  RogueServer server(env, kAddress);
  server.options().handler = [](const RogueRequest&) { return RogueAnswer{.delay = 1s}; };
  RawClient client(env);
  client.Send(Hello() + Request(1, "a"));
  env.RunFor(100ms);
  server.Drain();
  env.RunFor(100ms);
  CHECK(client.Count(kGoaway) == 2);
  CHECK(client.last == net::IoResult::Kind::kBlocked);
  client.Send(Request(3, "b"));
  env.RunFor(2s);
  CHECK(client.Count(kHeaders) == 1);
  CHECK(client.last == net::IoResult::Kind::kEnd);
  CHECK(server.requests()[1]->ignored);
}

TEST_CASE("RogueServer: killed and up again") {
  SimEnv env;
  RogueServer server(env, kAddress);
  RawClient client(env);
  client.Send(Hello());
  env.RunFor(100ms);
  server.Kill();
  env.RunFor(100ms);
  CHECK(client.last == net::IoResult::Kind::kFailed);
  RawClient refused(env);
  env.RunFor(100ms);
  CHECK(refused.stream == nullptr);
  server.Listen();
  RawClient again(env);
  again.Send(Hello() + Request(1, "c"));
  env.RunFor(100ms);
  CHECK(again.Count(kHeaders) == 1);
  CHECK(server.accepted() == 2);
}

TEST_CASE("RogueServer: what a hook sends before it closes arrives") {
  SimEnv env;
  RogueServer server(env, kAddress);
  server.options().on_frame = [](RogueConnection& c, const Frame& frame) {
    if (frame.type != kHeaders) return false;
    c.SendGoaway(0);
    c.stream().Close();
    return true;
  };
  RawClient client(env);
  client.Send(Hello() + Request(1, "a") + Request(3, "b"));
  env.RunFor(1s);
  CHECK(client.Count(kGoaway) == 1);
  CHECK(client.last == net::IoResult::Kind::kEnd);
  CHECK(server.request_count() == 1);  // nothing is taken after the close
}

TEST_CASE("RogueServer: may die while answers are due") {
  SimEnv env;
  auto server = std::make_unique<RogueServer>(env, kAddress);
  server->options().handler = [](const RogueRequest&) {
    return RogueAnswer{.body = "abc", .delay = 1s, .piece = 1, .gap = 1s};
  };
  RawClient client(env);
  client.Send(Hello() + Request(1, "a"));
  env.RunFor(1500ms);
  server.reset();
  env.RunFor(10s);
  CHECK(client.last == net::IoResult::Kind::kFailed);
}

TEST_CASE("RogueServer: long runs need not be recorded") {
  SimEnv env;
  RogueServer server(env, kAddress, {.record = false});
  RawClient client(env);
  client.Send(Hello());
  for (uint32_t i = 0; i < 1000; ++i) client.Send(Request(2 * i + 1, std::to_string(i)));
  CHECK(env.RunUntilIdle());
  CHECK(client.Count(kHeaders) == 1000);
  CHECK(server.request_count() == 1000);
  CHECK(server.requests().empty());
  CHECK(server.last().frames().empty());
  CHECK(server.violations() == std::vector<std::string>{});
}

}  // namespace
}  // namespace weft::inline v0::testing
