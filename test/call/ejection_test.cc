// What calls meet at a host decides whether it gets more of them.
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "support/catch.h"
#include "support/rogue_server.h"
#include "support/sim_client.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

// Hosts that answer as the test says, and calls at a steady rate.
struct Fleet {
  explicit Fleet(int count, ChannelOptions channel = {}) {
    std::string target = "static:";
    for (int i = 0; i < count; ++i) {
      const std::string address = absl::StrCat("10.0.1.", i, ":80");
      absl::StrAppend(&target, i == 0 ? "" : ",", address);
      servers.emplace_back(*env, address);
      servers.back().options().record = false;
      servers.back().options().handler = [this, i](const RogueRequest& request) {
        if (request.path() == "/ready") return RogueAnswer{};
        ++asked[i];
        return answer(i);
      };
    }
    // One that sends a host its share whatever it does, until it is ejected.
    if (channel.balancer == nullptr) channel.balancer = RoundRobin();
    client = std::make_unique<SimClient>(env, target,
                                         ChannelFactory::Options{.channel = std::move(channel)});
    REQUIRE(client->RunUntilReady());
    env->RunFor(1s);  // all hosts
  }
  // One each millisecond; how many each host got.
  std::map<int, int> Call(int count, CallOptions options = {.timeout = absl::Seconds(1)}) {
    asked.clear();
    for (int i = 0; i < count; ++i) {
      client->Get("/", options);
      env->RunFor(1ms);
    }
    REQUIRE(client->RunUntilAllDone());
    return asked;
  }

  std::shared_ptr<SimEnv> env = std::make_shared<SimEnv>();
  std::deque<RogueServer> servers;
  std::function<RogueAnswer(int)> answer = [](int) { return RogueAnswer{}; };
  std::map<int, int> asked;
  std::unique_ptr<SimClient> client;
};

TEST_CASE("a host that fails gets five calls, and then none until it returns") {
  Fleet fleet(5);
  WEFT_SEED_INFO(*fleet.env);
  bool failing = true;
  fleet.answer = [&](int host) { return RogueAnswer{.status = host == 2 && failing ? 500 : 200}; };
  const std::map<int, int> first = fleet.Call(1000);
  CHECK(first.at(2) >= 5);
  CHECK(first.at(2) <= 7);  // some were on their way
  CHECK(fleet.client->stats().ejections == 1);
  const std::string shown = fleet.client->channel().DebugString();
  CHECK(shown.find("ejected: 5 failures in a row") != std::string::npos);
  SECTION("it has recovered") {
    failing = false;
    fleet.env->RunFor(40s);
    fleet.Call(100);
    fleet.env->RunFor(10s);  // slow start
    CHECK(fleet.Call(1000).at(2) == 200);
    CHECK(fleet.client->stats().ejections == 1);
  }
  SECTION("it has not: one more call is enough") {
    fleet.env->RunFor(40s);
    const std::map<int, int> again = fleet.Call(1000);
    CHECK(again.at(2) >= 1);
    CHECK(again.at(2) <= 3);
    CHECK(fleet.client->stats().ejections == 2);
    // For 60 s now.
    fleet.env->RunFor(40s);
    CHECK(fleet.Call(1000).count(2) == 0);
  }
  CHECK(fleet.client->Close());
}

TEST_CASE("what a host cannot be blamed for does not eject it") {
  Fleet fleet(3);
  WEFT_SEED_INFO(*fleet.env);
  SECTION("it has too much to do") {
    fleet.answer = [](int host) { return RogueAnswer{.status = host == 0 ? 429 : 200}; };
  }
  SECTION("it does not know what is asked for") {
    fleet.answer = [](int host) { return RogueAnswer{.status = host == 0 ? 404 : 200}; };
  }
  SECTION("it refuses what it did not process") {
    fleet.answer = [](int host) {
      return host == 0 ? RogueAnswer::Reset(kRefusedStream) : RogueAnswer{};
    };
  }
  fleet.Call(300);
  CHECK(fleet.client->stats().ejections == 0);
  CHECK(fleet.client->Close());
}

TEST_CASE("a host that does not answer in time is ejected, by attempts' timeouts or calls'") {
  const bool attempts = GENERATE(false, true);
  ChannelOptions channel;
  if (attempts) channel.retry.attempt_timeout = absl::Milliseconds(50);
  Fleet fleet(4, channel);
  WEFT_SEED_INFO(*fleet.env);
  fleet.answer = [](int host) { return host == 1 ? RogueAnswer::Silence() : RogueAnswer{}; };
  fleet.Call(1000, {.timeout = attempts ? absl::Seconds(5) : absl::Milliseconds(50)});
  CHECK(fleet.client->stats().ejections == 1);
  CHECK(fleet.asked[1] <= 20);  // 50 ms, of 4 hosts
  CHECK(fleet.client->Close());
}

TEST_CASE("a stream that breaks off after a minute says nothing of how fast its host answers") {
  Fleet fleet(1);
  WEFT_SEED_INFO(*fleet.env);
  fleet.answer = [](int) { return RogueAnswer{.body = "x", .delay = 2ms, .end = false}; };
  Stream stream = fleet.client->channel().Open(Request::Get("/"), {.timeout = absl::Minutes(5)},
                                               /*end_of_request=*/true);
  fleet.env->RunFor(60s);
  RogueConnection& connection = fleet.servers[0].last();
  connection.SendReset(connection.last_stream(), kInternalError);
  fleet.env->RunFor(1s);
  const HostInfo host = fleet.client->channel().Hosts().at(0);
  CHECK(host.in_flight == 0);
  CHECK(host.latency > absl::ZeroDuration());
  CHECK(host.latency < absl::Seconds(1));
  CHECK(fleet.client->Close());
}

TEST_CASE("calls that their user cancels blame nobody") {
  Fleet fleet(2);
  WEFT_SEED_INFO(*fleet.env);
  fleet.answer = [](int) { return RogueAnswer::Silence(); };
  for (int i = 0; i < 50; ++i) {
    SimCall& call = fleet.client->Get("/", {.timeout = absl::Seconds(10)});
    fleet.env->RunFor(10ms);
    fleet.client->Drop(call);
  }
  fleet.env->RunFor(1s);
  CHECK(fleet.client->stats().ejections == 0);
  CHECK(fleet.client->Close());
}

TEST_CASE("a host that is restarted with many calls running is not ejected") {
  Fleet fleet(3);
  WEFT_SEED_INFO(*fleet.env);
  fleet.answer = [](int) { return RogueAnswer{.delay = 20ms}; };
  for (int i = 0; i < 60; ++i) fleet.client->Get("/", {.timeout = absl::Seconds(1)});
  fleet.env->RunFor(5ms);
  fleet.servers[1].Kill();
  fleet.servers[1].Listen();
  REQUIRE(fleet.client->RunUntilAllDone());
  CHECK(fleet.client->stats().connections_lost == 1);
  CHECK(fleet.client->stats().ejections == 0);
  CHECK(fleet.client->Close());
}

TEST_CASE("at most half of the hosts are ejected, and one of two may be") {
  const int hosts = GENERATE(1, 2, 4, 5);
  Fleet fleet(hosts);
  WEFT_SEED_INFO(*fleet.env);
  fleet.answer = [](int) { return RogueAnswer{.status = 503}; };
  fleet.Call(400);
  CHECK(fleet.client->stats().ejections == static_cast<uint64_t>(hosts / 2));
  CHECK(fleet.client->stats().ejections_spared > 0);
  CHECK(fleet.client->Close());
}

// The host answers, and is not ejected by its failures.
TEST_CASE("a host that is ten times slower than the others is ejected") {
  Fleet fleet(5);
  WEFT_SEED_INFO(*fleet.env);
  fleet.answer = [](int host) { return RogueAnswer{.delay = host == 3 ? 50ms : 5ms}; };
  for (int second = 0; second < 45 && fleet.client->stats().ejections == 0; ++second)
    fleet.Call(1000);
  CHECK(fleet.client->stats().ejections == 1);
  CHECK(fleet.Call(1000).count(3) == 0);
  CHECK(fleet.client->channel().DebugString().find("median") != std::string::npos);
  CHECK(fleet.client->Close());
}

TEST_CASE("ejection can be switched off, and its options are checked") {
  Fleet fleet(3, {.outlier = {.enabled = false}});
  WEFT_SEED_INFO(*fleet.env);
  fleet.answer = [](int host) { return RogueAnswer{.status = host == 0 ? 500 : 200}; };
  CHECK(fleet.Call(300).at(0) == 100);
  CHECK(fleet.client->stats().ejections == 0);
  for (const ChannelOptions& bad : {ChannelOptions{.outlier = {.interval = absl::Milliseconds(1)}},
                                    ChannelOptions{.slow_start = {.window = -absl::Seconds(1)}}}) {
    const auto channel = fleet.client->factory().GetChannel("10.0.0.1:80", bad);
    CHECK(absl::IsInvalidArgument(channel.status()));
  }
  CHECK(fleet.client->Close());
}

}  // namespace
}  // namespace weft::testing
