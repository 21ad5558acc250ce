// Health by grpc.health.v1.Health/Watch.
#include "channel/grpc_watch.h"

#include <string>
#include <utility>
#include <vector>

#include "channel/health_rig.h"
#include "support/catch.h"

namespace weft::channel {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using testing::HealthRig;
using testing::RogueAnswer;
using testing::RogueConnection;
using testing::RogueRequest;
using testing::RogueServer;
using State = HealthWatch::State;

enum Says : char { kUnknown, kServing, kNotServing, kServiceUnknown };

HealthCheckOptions Grpc(std::string service = "") {
  return {.kind = HealthCheckOptions::Kind::kGrpc, .service = std::move(service)};
}

std::string Message(Says status) {
  return status == kUnknown ? "\0\0\0\0\0"s : "\0\0\0\0\x02\x08"s + static_cast<char>(status);
}

// One that says this and goes on.
RogueAnswer Open(std::string body) {
  return {.headers = {{"content-type", "application/grpc"}}, .body = std::move(body), .end = false};
}
RogueAnswer Open(Says status) { return Open(Message(status)); }

// One that only says how it ends.
RogueAnswer Status(std::string code) {
  return {.headers = {{"content-type", "application/grpc"}, {"grpc-status", std::move(code)}}};
}

struct WatchRig : HealthRig {
  explicit WatchRig(int count, HealthCheckOptions options = Grpc(),
                    ConnectionOptions connection = {}, std::string authority = "")
      : HealthRig(count, std::move(options), std::move(connection), std::move(authority)) {
    for (size_t i = 0; i < servers.size(); ++i) AnswerOpen(i, kServing);
  }
  void AnswerOpen(size_t server, Says status) {
    Answer(server, [status](const RogueRequest&) { return Open(status); });
  }
  // On the last stream that was opened.
  void Say(size_t server, const std::string& bytes) {
    RogueServer& from = *servers[server];
    from.last().SendBody(from.last().last_stream(), bytes);
  }
  size_t Streams(size_t server) const { return servers[server]->open_streams(); }
};

TEST_CASE("a host is watched as gRPC does it, and what it says counts at once") {
  WatchRig rig(2, Grpc("a.B"), {}, "payments");
  WEFT_SEED_INFO(rig.env);
  rig.AnswerOpen(1, kNotServing);
  CHECK(rig.StateOf(0) == State::kUnknown);
  rig.env.RunFor(100ms);
  CHECK(rig.StateOf(0) == State::kHealthy);
  CHECK(rig.StateOf(1) == State::kUnhealthy);
  const RogueRequest& request = *rig.servers[0]->requests()[0];
  CHECK(request.method() == "POST");
  CHECK(request.path() == "/grpc.health.v1.Health/Watch");
  CHECK(request.authority() == "payments");
  CHECK(request.header("content-type") == "application/grpc");
  CHECK(request.header("te") == "trailers");
  CHECK(request.header("grpc-timeout").empty());
  CHECK(request.complete);
  CHECK(request.body ==
        "\0\0\0\0\x05\x0a\x03"
        "a.B"s);
  for (const auto& [status, state] :
       {std::pair(kNotServing, State::kUnhealthy), std::pair(kServing, State::kHealthy),
        std::pair(kUnknown, State::kUnhealthy), std::pair(kServing, State::kHealthy),
        std::pair(kServiceUnknown, State::kUnhealthy), std::pair(kServing, State::kHealthy)}) {
    rig.Say(0, Message(status));
    rig.env.RunFor(10ms);
    CHECK(rig.StateOf(0) == state);
  }
  CHECK(rig.changes == 8);
  // It stays open, and is no call.
  rig.env.RunFor(24h);
  CHECK(rig.StateOf(0) == State::kHealthy);
  CHECK(rig.hosts[0]->in_flight() == 0);
  CHECK(rig.hosts[0]->reported().sent_since == 0);
  CHECK(rig.Asked(0) == 1);
  CHECK(rig.changes == 8);
  for (const auto& server : rig.servers) CHECK(server->violations() == std::vector<std::string>{});
}

TEST_CASE("messages come in any pieces") {
  WatchRig rig(1);
  WEFT_SEED_INFO(rig.env);
  rig.servers[0]->host().link.chunk = 1;
  rig.env.RunFor(100ms);
  REQUIRE(rig.StateOf(0) == State::kHealthy);
  const std::string both = Message(kServing) + Message(kNotServing);
  for (size_t i = 0; i < both.size(); ++i) {
    CHECK(rig.StateOf(0) == State::kHealthy);
    rig.Say(0, both.substr(i, 1));
    rig.env.RunFor(100ms);
  }
  CHECK(rig.StateOf(0) == State::kUnhealthy);
  rig.Say(0, Message(kNotServing) + Message(kServing));
  rig.env.RunFor(100ms);
  CHECK(rig.StateOf(0) == State::kHealthy);
  CHECK(rig.changes == 3);
}

TEST_CASE("UNIMPLEMENTED says nothing against a host, and holds for its connection") {
  WatchRig rig(2);
  WEFT_SEED_INFO(rig.env);
  rig.Answer(0, [](const RogueRequest&) { return Status("12"); });
  rig.Answer(1, [](const RogueRequest&) { return RogueAnswer{.status = 404, .body = "what?"}; });
  rig.env.RunFor(1h);
  for (size_t i = 0; i < 2; ++i) {
    CHECK(rig.StateOf(i) == State::kHealthy);
    CHECK(rig.Asked(i) == 1);
  }
  rig.servers[0]->last().stream().Reset();
  rig.env.RunFor(100ms);
  CHECK(rig.servers[0]->accepted() == 2);
  CHECK(rig.Asked(0) == 2);
  CHECK(rig.StateOf(0) == State::kHealthy);
}

TEST_CASE("a stream that fails is an unhealthy host, until another says something") {
  WatchRig rig(6);
  WEFT_SEED_INFO(rig.env);
  rig.Answer(0, [](const RogueRequest&) { return Status("13"); });
  rig.Answer(1, [](const RogueRequest&) { return RogueAnswer::Reset(testing::kInternalError); });
  rig.Answer(2, [](const RogueRequest&) { return RogueAnswer{.status = 503, .body = "<html>"}; });
  // What is no message: a field that is cut off, one that is too long, one that is compressed.
  rig.Answer(3, [](const RogueRequest&) { return Open("\0\0\0\0\x01\x08"s); });
  rig.Answer(4, [](const RogueRequest&) { return Open("\0\x7f\xff\xff\xff"s); });
  rig.Answer(5, [](const RogueRequest&) { return Open("\x01\0\0\0\x02\x08\x01"s); });
  rig.env.RunFor(100ms);
  for (size_t i = 0; i < 6; ++i) {
    CAPTURE(i);
    CHECK(rig.StateOf(i) == State::kUnhealthy);
    CHECK(rig.Asked(i) == 1);
    CHECK(rig.servers[i]->accepted() == 1);
  }
  rig.env.RunFor(10s);  // at 1, 2.6, 5.2, 9.3 s, or so
  for (size_t i = 0; i < 6; ++i) {
    CAPTURE(i);
    CHECK(rig.Asked(i) >= 4);
    CHECK(rig.Asked(i) <= 6);
    CHECK(rig.Streams(i) == 0);
  }
  rig.env.RunFor(20min);  // two minutes apart in the end
  CHECK(rig.Asked(0) >= 15);
  CHECK(rig.Asked(0) <= 24);
  rig.AnswerOpen(0, kServing);
  rig.env.RunFor(150s);
  CHECK(rig.StateOf(0) == State::kHealthy);
  // After that the next one comes at once.
  const uint64_t asked = rig.Asked(0);
  rig.servers[0]->last().SendTrailers(rig.servers[0]->last().last_stream(), {{"grpc-status", "0"}});
  rig.env.RunFor(100ms);
  CHECK(rig.Asked(0) == asked + 1);
  CHECK(rig.StateOf(0) == State::kHealthy);
}

TEST_CASE("of a host whose connection is lost nothing is known, until the next one says it") {
  WatchRig rig(1);
  WEFT_SEED_INFO(rig.env);
  rig.env.RunFor(100ms);
  REQUIRE(rig.StateOf(0) == State::kHealthy);
  rig.servers[0]->Kill();
  rig.env.RunFor(1h);
  CHECK(rig.StateOf(0) == State::kUnknown);
  CHECK(rig.changes == 2);
  CHECK(rig.Asked(0) == 1);
  // It comes back, and is not ready yet.
  rig.AnswerOpen(0, kNotServing);
  rig.servers[0]->Listen();
  REQUIRE(rig.env.RunUntil([&] { return rig.hosts[0]->state() == HostState::kReady; }, 60s));
  CHECK(rig.StateOf(0) == State::kUnknown);
  rig.env.RunFor(20ms);
  CHECK(rig.Asked(0) == 2);
  CHECK(rig.StateOf(0) == State::kUnhealthy);
  rig.Say(0, Message(kServing));
  rig.env.RunFor(20ms);
  CHECK(rig.StateOf(0) == State::kHealthy);
}

TEST_CASE("a stream moves to the next connection, and does not keep the old one from closing") {
  WatchRig rig(1);
  WEFT_SEED_INFO(rig.env);
  rig.env.RunFor(100ms);
  for (int i = 2; i < 5; ++i) {
    rig.env.RunFor(1s);  // it was of use: the next one is dialled at once
    REQUIRE(rig.StateOf(0) == State::kHealthy);
    rig.servers[0]->last().SendGoaway(0x7fffffff);  // and nothing else: the server waits for us
    rig.env.RunFor(100ms);
    CHECK(rig.servers[0]->accepted() == static_cast<size_t>(i));
    CHECK(rig.servers[0]->open_connections() == 1);
    CHECK(rig.Asked(0) == static_cast<uint64_t>(i));
    CHECK(rig.Streams(0) == 1);
    CHECK(rig.StateOf(0) == State::kHealthy);
  }
  // Likewise where the stream is above what the server still answers.
  rig.servers[0]->last().SendGoaway(0);
  rig.env.RunFor(2s);
  CHECK(rig.servers[0]->open_connections() == 1);
  CHECK(rig.StateOf(0) == State::kHealthy);
}

TEST_CASE("a host that leaves, or drains, is closed at once") {
  WatchRig rig(2);
  WEFT_SEED_INFO(rig.env);
  rig.env.RunFor(100ms);
  REQUIRE(rig.StateOf(1) == State::kHealthy);
  bool closed = false;
  SECTION("it is watched no more") {
    rig.watch->SetHosts({rig.hosts[0]});
    rig.env.RunFor(10ms);
    CHECK(rig.Streams(1) == 0);
    CHECK(rig.servers[1]->open_connections() == 1);
    CHECK(rig.StateOf(1) == State::kUnknown);
  }
  SECTION("it is still watched") {
    rig.hosts[1]->Shutdown(pool::HostPool::How::kDrain, absl::UnavailableError("left"),
                           [&] { closed = true; });
    rig.env.RunFor(10ms);
    CHECK(closed);
    CHECK(rig.servers[1]->open_connections() == 0);
    CHECK(rig.StateOf(1) == State::kUnknown);
    rig.watch->SetHosts({rig.hosts[0]});
    rig.env.RunFor(1h);
    CHECK(rig.Asked(1) == 1);
    rig.hosts.pop_back();
  }
  CHECK(rig.Streams(0) == 1);
}

TEST_CASE("where a peer takes one stream at a time, that is for calls") {
  WatchRig rig(2);
  WEFT_SEED_INFO(rig.env);
  rig.servers[0]->options().settings = {{testing::kMaxConcurrentStreams, 1}};
  rig.servers[1]->options().settings = {{testing::kMaxConcurrentStreams, 2}};
  rig.env.RunFor(1min);
  CHECK(rig.Asked(0) == 0);
  CHECK(rig.StateOf(0) == State::kUnknown);
  CHECK(rig.StateOf(1) == State::kHealthy);
  rig.servers[0]->last().SendSettings({{testing::kMaxConcurrentStreams, 2}});
  rig.env.RunFor(100ms);
  CHECK(rig.StateOf(0) == State::kHealthy);
}

TEST_CASE("however much a host says, and however often it changes its mind") {
  WatchRig rig(1);
  WEFT_SEED_INFO(rig.env);
  rig.env.RunFor(100ms);
  std::string flips;
  for (int i = 0; i < 50'000; ++i) flips += Message(kNotServing) + Message(kServing);
  rig.Say(0, flips + Message(kNotServing));
  rig.env.RunFor(10s);
  CHECK(rig.StateOf(0) == State::kUnhealthy);
  CHECK(rig.changes < 2000);  // not one for each
  CHECK(rig.Streams(0) == 1);
  // And one that ends as soon as it has spoken.
  rig.Answer(0, [](const RogueRequest&) { return RogueAnswer::Grpc("\x08\x01", 0); });
  rig.servers[0]->last().SendReset(rig.servers[0]->last().last_stream(), testing::kInternalError);
  const uint64_t asked = rig.Asked(0);
  rig.env.RunFor(1min);
  CHECK(rig.Asked(0) - asked >= 50);
  CHECK(rig.Asked(0) - asked <= 80);
}

TEST_CASE("a stream of health alone is no reason for keepalive to ask more often") {
  WatchRig rig(1);
  WEFT_SEED_INFO(rig.env);
  rig.env.RunFor(4min);
  REQUIRE(rig.StateOf(0) == State::kHealthy);
  CHECK(rig.servers[0]->last().CountFrames(testing::kPing) == 0);
  rig.env.RunFor(2min);
  CHECK(rig.servers[0]->last().CountFrames(testing::kPing) == 1);
  // A host that fell silent is found by it.
  rig.servers[0]->host().SetBlackHole(true);
  rig.env.RunFor(6min);
  CHECK(rig.StateOf(0) == State::kUnknown);
}

TEST_CASE("a thousand hosts, of which many change at once") {
  WatchRig rig(1000);
  WEFT_SEED_INFO(rig.env);
  rig.env.RunFor(1s);
  const auto count = [&](State state) {
    size_t of = 0;
    for (size_t i = 0; i < rig.hosts.size(); ++i) of += rig.StateOf(i) == state ? 1 : 0;
    return of;
  };
  CHECK(count(State::kHealthy) == 1000);
  for (size_t i = 0; i < 500; ++i) rig.Say(i, Message(kNotServing));
  rig.env.RunFor(1s);
  CHECK(count(State::kUnhealthy) == 500);
  rig.watch->SetHosts({rig.hosts.begin() + 400, rig.hosts.end()});
  rig.env.RunFor(1s);
  CHECK(count(State::kUnhealthy) == 100);
  CHECK(count(State::kUnknown) == 400);
  for (size_t i = 0; i < 400; ++i) CHECK(rig.Streams(i) == 0);
}

}  // namespace
}  // namespace weft::channel
