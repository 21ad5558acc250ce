#include "channel/load_prober.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "support/catch.h"
#include "support/pushed_registry.h"
#include "support/rogue_server.h"
#include "support/says.h"
#include "support/sim_client.h"

namespace weft::channel {
namespace {

using namespace std::chrono_literals;
using testing::PushedRegistry;
using testing::RogueAnswer;
using testing::RogueRequest;
using testing::RogueServer;
using testing::Says;
using testing::SimCall;
using testing::SimClient;
using testing::SimEnv;

RogueAnswer Report(uint32_t in_flight) {
  return {.status = 204,
          .headers = {{"endpoint-load-metrics",
                       absl::StrCat("TEXT named_metrics.weft.in_flight=", in_flight,
                                    ",named_metrics.weft.workers=4,"
                                    "named_metrics.weft.service_time_ms=10,"
                                    "named_metrics.weft.latency_ms=",
                                    10 + in_flight)}}};
}

// Hosts that say what their load is where they are asked for that, and not with other answers.
struct World {
  explicit World(int count, LoadProbeOptions probes = {.path = "/load"},
                 ChannelOptions channel = {.balancer = RoundRobin()}) {
    for (int i = 0; i < count; ++i) {
      pushed.endpoints.push_back({.address = absl::StrCat("10.0.0.", i + 1, ":80")});
      servers.emplace_back(*env, pushed.endpoints.back().address);
      servers.back().options().record = false;
      servers.back().options().handler = [this, i](const RogueRequest& request) {
        if (request.path() != "/load") {
          if (request.path() == "/") ++called[i];
          return RogueAnswer{};
        }
        ++probed[i];
        most_running = std::max(most_running, ++running);
        if (answer_probe) return answer_probe(i);
        --running;
        return Report(static_cast<uint32_t>(i));
      };
    }
    channel.load_probes = std::move(probes);
    options.channel = std::move(channel);
    options.registry = pushed.registry();
  }
  void Connect() {
    client.emplace(env, "service", options);
    REQUIRE(client->RunUntilReady());
    env->RunFor(1s);  // all of them
    called.clear();
    probed.clear();
  }
  // One after the other, each with its probes.
  void Call(int count, base::MonoDuration pause = 20ms) {
    if (!client.has_value()) Connect();
    for (int i = 0; i < count; ++i) {
      REQUIRE(client->RunUntilDone(client->Get("/")));
      env->RunFor(pause);
    }
  }
  static int Sum(const std::map<int, int>& counts) {
    int sum = 0;
    for (const auto& [host, count] : counts) sum += count;
    return sum;
  }

  std::shared_ptr<SimEnv> env = std::make_shared<SimEnv>();
  std::deque<RogueServer> servers;
  PushedRegistry pushed;
  ChannelFactory::Options options;
  std::optional<SimClient> client;
  std::function<RogueAnswer(int host)> answer_probe;
  std::map<int, int> called;
  std::map<int, int> probed;
  int running = 0;  // of those that `answer_probe` answers, all
  int most_running = 0;
};

TEST_CASE("each call sets off probes to hosts at random, and what they answer counts") {
  World world(10);
  WEFT_SEED_INFO(*world.env);
  world.Connect();
  world.Call(400);
  // Three for each, but where one had been drawn already, again and again.
  CHECK(World::Sum(world.probed) <= 1200);
  CHECK(World::Sum(world.probed) >= 1180);
  for (int i = 0; i < 10; ++i) {
    CHECK(world.probed[i] > 80);
    CHECK(world.probed[i] < 160);
    CHECK(world.called[i] == 40);
  }
  const FactoryStats stats = world.client->stats();
  CHECK(stats.load_probes >= static_cast<uint64_t>(World::Sum(world.probed)));
  CHECK(stats.load_probes <= static_cast<uint64_t>(World::Sum(world.probed)) + 3);
  CHECK(stats.load_probes_failed == 0);
  const std::vector<HostInfo> hosts = world.client->channel().Hosts();
  for (size_t i = 0; i < 10; ++i) {
    CHECK(hosts[i].report.in_flight == i);
    CHECK(hosts[i].report_age < absl::Seconds(1));
    CHECK(hosts[i].in_flight == 0);
  }
  // Without calls there are none.
  world.env->RunFor(10min);
  CHECK(world.client->stats().load_probes == stats.load_probes);
  CHECK(world.client->Close());
}

TEST_CASE("a fraction of a probe for each call") {
  World world(10, {.path = "/load", .per_call = 0.25});
  WEFT_SEED_INFO(*world.env);
  world.Connect();
  world.Call(400);
  CHECK(World::Sum(world.probed) >= 99);
  CHECK(World::Sum(world.probed) <= 101);
  CHECK(world.client->Close());
}

TEST_CASE("without a path there are no probes") {
  World world(4, {});
  world.Call(100);
  CHECK(world.probed.empty());
  CHECK(world.client->stats().load_probes == 0);
  CHECK(world.client->Close());
}

TEST_CASE("of many calls at once few probes run, and what is too much is not made up for") {
  World world(40, {.path = "/load", .max_running = 8});
  WEFT_SEED_INFO(*world.env);
  world.Connect();
  world.answer_probe = [&](int) {
    world.env->After(30ms, [&] { --world.running; });
    auto answer = Report(1);
    answer.delay = 30ms;
    return answer;
  };
  for (int i = 0; i < 1000; ++i) world.client->Get("/");
  REQUIRE(world.client->RunUntilAllDone());
  world.env->RunFor(5s);
  CHECK(world.most_running == 8);
  CHECK(World::Sum(world.probed) == 8);
  CHECK(World::Sum(world.called) == 1000);
  // Calls that go on and on: as many as there is room for, and no more.
  world.Call(100, 3ms);
  CHECK(world.most_running == 8);
  CHECK(World::Sum(world.probed) > 50);
  world.env->RunFor(1s);
  CHECK(world.running == 0);
  CHECK(world.client->Close());
}

TEST_CASE("a host that does not answer probes is given one at a time, and is not blamed") {
  World world(4);
  WEFT_SEED_INFO(*world.env);
  world.Connect();
  world.answer_probe = [&](int host) {
    if (host != 2) return Report(1);
    world.env->After(250ms, [&] { --world.running; });
    return RogueAnswer::Silence();
  };
  world.Call(200, 10ms);  // 2 s, and some
  CHECK(world.probed[2] >= 6);
  CHECK(world.probed[2] <= 10);
  CHECK(world.probed[1] > 100);
  CHECK(world.called[2] == 50);
  const FactoryStats stats = world.client->stats();
  CHECK(stats.load_probes_failed >= 6);
  CHECK(stats.load_probes_failed <= 10);
  CHECK(stats.ejections == 0);
  CHECK(stats.retries == 0);
  CHECK(world.client->Close());
}

TEST_CASE("answers without a report, or with an error, are only counted") {
  World world(8);
  WEFT_SEED_INFO(*world.env);
  world.Connect();
  const std::vector<RogueAnswer> answers = {
      {.status = 404},
      {.status = 500, .headers = Report(1).headers},
      {.status = 200},
      {.status = 200, .headers = {{"endpoint-load-metrics", "TEXT eps=-1"}}},
      RogueAnswer::Refused(),
      RogueAnswer::Reset(testing::kInternalError),
      {.status = 200, .body = std::string(100'000, 'x')},
      // As gRPC's servers do it.
      {.status = 200, .body = "x", .trailers = Report(7).headers},
  };
  world.answer_probe = [&](int host) { return answers[static_cast<size_t>(host)]; };
  world.Call(200);
  const FactoryStats stats = world.client->stats();
  CHECK(stats.load_probes_failed ==
        static_cast<uint64_t>(World::Sum(world.probed) - world.probed[7]));
  CHECK(stats.ejections == 0);
  const std::vector<HostInfo> hosts = world.client->channel().Hosts();
  for (size_t i = 0; i < 7; ++i) CHECK(hosts[i].report_age == absl::InfiniteDuration());
  CHECK(hosts[7].report.in_flight == 7);
  CHECK(world.called[1] == 25);
  CHECK(world.client->Close());
}

TEST_CASE("only hosts that may get calls are probed") {
  World world(8);
  WEFT_SEED_INFO(*world.env);
  world.pushed.endpoints[0].draining = true;
  world.pushed.endpoints[1].priority = 1;
  world.Connect();
  world.servers[2].Kill();
  std::vector<Endpoint> endpoints = world.pushed.endpoints;
  endpoints.erase(endpoints.begin() + 3);
  world.pushed.sink->OnEndpoints(MakeEndpointSet(endpoints));
  world.env->RunFor(1s);
  world.probed.clear();
  world.Call(200);
  for (int i = 0; i < 4; ++i) CHECK(world.probed.count(i) == 0);
  for (int i = 4; i < 8; ++i) CHECK(world.probed[i] > 50);
  CHECK(world.client->Close());
}

TEST_CASE("probes that run hold up no connection, and end with their channel") {
  World world(2);
  WEFT_SEED_INFO(*world.env);
  world.Connect();
  world.answer_probe = [](int) { return RogueAnswer::Silence(); };
  world.Call(2, 5ms);
  CHECK(World::Sum(world.probed) == 2);
  CHECK(world.servers[0].open_streams() == 1);
  SECTION("of a connection that is to end") {
    world.servers[0].last().SendGoaway(0x7fffffff);
    world.env->RunFor(10ms);
    CHECK(world.servers[0].accepted() == 2);
    CHECK(world.servers[0].open_connections() == 1);
    CHECK(world.client->stats().load_probes_failed == 1);
  }
  SECTION("of a host that leaves") {
    world.pushed.sink->OnEndpoints(MakeEndpointSet({world.pushed.endpoints[1]}));
    world.env->RunFor(3s);
    CHECK(world.servers[0].open_connections() == 0);
    CHECK(world.client->stats().load_probes_failed >= 1);
  }
  SECTION("of a channel that is gone") {}
  CHECK(world.client->Close());
}

TEST_CASE("balancers go by what probes say: a host that has much to do gets no calls") {
  const auto [name, balancer] = GENERATE(table<std::string, BalancerFactory>(
      {{"prequal", Prequal({.reports_per_call = 3})}, {"fresh load", FreshLoad()}}));
  CAPTURE(name);
  World world(5, {.path = "/load"}, {.balancer = balancer});
  WEFT_SEED_INFO(*world.env);
  world.Connect();
  int busy = 2;
  world.answer_probe = [&](int host) { return Report(host == busy ? 100 : 1); };
  world.Call(20);
  world.called.clear();
  world.Call(200);
  CHECK(world.called[2] <= 4);
  busy = 3;
  world.Call(20);
  world.called.clear();
  world.Call(200);
  CHECK(world.called[3] <= 4);
  CHECK(world.client->Close());
}

TEST_CASE("options of probes that are out of range are refused by name") {
  CHECK(Validate(LoadProbeOptions()).ok());
  CHECK(Validate({.path = "/load?short=1", .per_call = 0.01, .max_running = 10'000}).ok());
  const std::vector<std::pair<std::string, LoadProbeOptions>> table = {
      {"path", {.path = "load"}},
      {"path", {.path = "/a b"}},
      {"per_call", {.per_call = 0}},
      {"per_call", {.per_call = -1}},
      {"per_call", {.per_call = 16.1}},
      {"per_call", {.per_call = std::numeric_limits<double>::quiet_NaN()}},
      {"max_running", {.max_running = 0}},
      {"max_running", {.max_running = 10'001}},
      {"timeout", {.timeout = absl::ZeroDuration()}},
      {"timeout", {.timeout = absl::InfiniteDuration()}},
  };
  for (const auto& [field, options] : table) {
    const absl::Status status = Validate(options);
    CHECK(absl::IsInvalidArgument(status));
    CHECK(Says(status, "LoadProbeOptions::" + field + " must be "));
  }
}

}  // namespace
}  // namespace weft::channel
