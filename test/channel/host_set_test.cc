// What becomes of connections, of what was learnt, and of calls, when the endpoints of a service
// change all the time.
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "support/catch.h"
#include "support/pushed_registry.h"
#include "support/rogue_server.h"
#include "support/sim_client.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kHosts = 16;

std::string AddressOf(int host) { return absl::StrCat("10.0.0.", host + 1, ":80"); }

// Hosts that report their load and take 5 ms for a call; a registry that says which of them there
// are, and a call every millisecond.
class World {
 public:
  explicit World(uint64_t seed, ChannelOptions channel = {}) : env(std::make_shared<SimEnv>(seed)) {
    for (int i = 0; i < kHosts; ++i) {
      servers.emplace_back(*env, AddressOf(i));
      servers.back().options().handler = [this, i](const RogueRequest&) {
        asked[i].push_back(env->Now());
        const HeaderList report = {{"endpoint-load-metrics", "TEXT application_utilization=0.5"}};
        return RogueAnswer{.status = i == failing ? 500 : 200, .headers = report, .delay = 5ms};
      };
    }
    options_.channel = std::move(channel);
    options_.registry = pushed.registry();
    options_.registry_options.coalesce = absl::ZeroDuration();  // each set counts
  }
  // The first set is there from the start.
  void Deliver(std::vector<Endpoint> endpoints) {
    if (client.has_value()) {
      pushed.sink->OnEndpoints(MakeEndpointSet(std::move(endpoints)));
      return;
    }
    pushed.endpoints = std::move(endpoints);
    client.emplace(env, "service", options_);
    REQUIRE(client->RunUntilReady());
    env->RunFor(1s);  // all of them
  }
  void CallFor(base::MonoDuration time) {
    const base::MonoTime end = env->Now() + time;
    while (env->Now() < end) {
      client->Get("/", {.timeout = absl::Seconds(1)});
      env->RunFor(1ms);
    }
  }
  size_t FailedCalls() {
    return static_cast<size_t>(std::count_if(
        client->calls().begin(), client->calls().end(),
        [](const SimCall& call) { return !call.ok() || call.response().status != 200; }));
  }
  size_t AskedSince(int host, base::MonoTime time) {
    const std::vector<base::MonoTime>& times = asked[host];
    return static_cast<size_t>(
        std::count_if(times.begin(), times.end(), [time](base::MonoTime at) { return at > time; }));
  }
  std::optional<HostInfo> InfoOf(int host) {
    for (const HostInfo& info : client->channel().Hosts()) {
      if (info.endpoint.address == AddressOf(host)) return info;
    }
    return std::nullopt;
  }

  std::shared_ptr<SimEnv> env;
  std::deque<RogueServer> servers;
  int failing = -1;
  std::map<int, std::vector<base::MonoTime>> asked;
  PushedRegistry pushed;
  std::optional<SimClient> client;

 private:
  ChannelFactory::Options options_;
};

// A set that changes by chance: what is there, in which order, and with which facts.
class Changing {
 public:
  explicit Changing(base::Random& random) : random_(random) {
    for (int i = 0; i < kHosts; ++i) {
      if (i % 2 == 0) Add(i);
    }
  }
  const std::vector<std::pair<int, Endpoint>>& entries() const { return entries_; }
  std::vector<Endpoint> Set() const {
    std::vector<Endpoint> set;
    for (const auto& [host, endpoint] : entries_) set.push_back(endpoint);
    return set;
  }
  // At least four hosts stay that do not drain.
  void Change() {
    switch (random_.Below(6)) {
      case 0:
        if (Taking() > 4) entries_.erase(entries_.begin() + Draw());
        break;
      case 1:
        for (int i = 0; i < kHosts; ++i) {
          if (Has(i)) continue;
          Add(i);
          break;
        }
        break;
      case 2:
        for (size_t i = entries_.size() - 1; i > 0; --i)
          std::swap(entries_[i], entries_[random_.Below(i + 1)]);
        break;
      case 3:
        entries_[Draw()].second.weight = 1 + static_cast<double>(random_.Below(4)) / 4;
        break;
      case 4:
        entries_[Draw()].second.metadata["version"] = absl::StrCat("v", random_.Below(100));
        break;
      default: {
        Endpoint& endpoint = entries_[Draw()].second;
        if (endpoint.draining || Taking() > 4) endpoint.draining = !endpoint.draining;
        break;
      }
    }
  }

 private:
  void Add(int host) { entries_.emplace_back(host, Endpoint{.address = AddressOf(host)}); }
  bool Has(int host) const {
    return std::any_of(entries_.begin(), entries_.end(),
                       [host](const auto& entry) { return entry.first == host; });
  }
  size_t Taking() const {
    return static_cast<size_t>(
        std::count_if(entries_.begin(), entries_.end(),
                      [](const auto& entry) { return !entry.second.draining; }));
  }
  ptrdiff_t Draw() { return static_cast<ptrdiff_t>(random_.Below(entries_.size())); }

  base::Random& random_;
  std::vector<std::pair<int, Endpoint>> entries_;
};

TEST_CASE("sets that change by chance: no call fails, and what stays keeps what it has") {
  const uint64_t seed = TestSeed() + GENERATE(range(0U, 8U));
  World world(seed);
  WEFT_SEED_INFO(*world.env);
  Changing set(world.env->random());
  world.Deliver(set.Set());
  std::map<int, size_t> joins;  // how often each host has come into the set
  std::set<int> there;
  for (int step = 0; step < 150; ++step) {
    std::set<int> now;
    std::set<int> taking;
    for (const auto& [host, endpoint] : set.entries()) {
      now.insert(host);
      if (!there.contains(host)) ++joins[host];
      if (!endpoint.draining) taking.insert(host);
    }
    there = now;
    if (step > 0) world.Deliver(set.Set());
    const base::MonoTime delivered = world.env->Now();
    world.CallFor(std::chrono::milliseconds(5 + world.env->random().Below(60)));

    // What people are told is what was delivered.
    const std::vector<HostInfo> hosts = world.client->channel().Hosts();
    REQUIRE(hosts.size() == set.entries().size());
    for (size_t i = 0; i < hosts.size(); ++i) CHECK(hosts[i].endpoint == set.entries()[i].second);
    for (int host = 0; host < kHosts; ++host) {
      INFO("host " << host << ", step " << step);
      // Calls that were picked before are on the wire for 100 µs.
      if (!taking.contains(host)) CHECK(world.AskedSince(host, delivered + 1ms) == 0);
      // One connection for each time that it came, at most: one that comes back soon has its own.
      CHECK(world.servers[host].accepted() <= joins[host]);
    }
    set.Change();
  }
  REQUIRE(world.client->RunUntilAllDone());
  CHECK(world.FailedCalls() == 0);
  world.env->RunFor(3s);
  for (int host = 0; host < kHosts; ++host) {
    INFO("host " << host);
    CHECK(world.servers[host].open_connections() == (there.contains(host) ? 1 : 0));
    CHECK(world.servers[host].violations() == std::vector<std::string>{});
  }
  CHECK(world.client->Close());
}

TEST_CASE(
    "a host keeps its latency, its report and its connection when its place and facts change") {
  World world(TestSeed());
  WEFT_SEED_INFO(*world.env);
  std::vector<Endpoint> set;
  for (int i = 0; i < 6; ++i) set.push_back({.address = AddressOf(i)});
  world.Deliver(set);
  world.CallFor(500ms);
  REQUIRE(world.client->RunUntilAllDone());
  std::map<int, HostInfo> before;
  for (int i = 0; i < 6; ++i) before[i] = *world.InfoOf(i);
  const base::MonoTime then = world.env->Now();

  std::reverse(set.begin(), set.end());
  for (Endpoint& endpoint : set) {
    endpoint.weight = 2;
    endpoint.locality.zone = "b";
    endpoint.metadata["version"] = "2";
  }
  set.push_back({.address = AddressOf(9), .weight = 2});
  world.Deliver(set);
  world.env->RunFor(1ms);
  for (int i = 0; i < 6; ++i) {
    INFO("host " << i);
    const HostInfo now = *world.InfoOf(i);
    CHECK(now.state == HostState::kReady);
    CHECK(now.endpoint.locality.zone == "b");
    CHECK(now.latency >= absl::Microseconds(4500));  // it falls with time only
    CHECK(now.latency <= before[i].latency);
    CHECK(now.report.utilization == 0.5);
    CHECK(now.report_age == before[i].report_age + absl::FromChrono(world.env->Now() - then));
    CHECK(now.weight == 2);  // no slow start for one that has been there
    CHECK(world.servers[i].accepted() == 1);
  }
  CHECK(world.client->Close());
}

TEST_CASE("an ejected host stays ejected in whatever set it is") {
  ChannelOptions channel;
  channel.balancer = RoundRobin();
  World world(TestSeed(), channel);
  WEFT_SEED_INFO(*world.env);
  std::vector<Endpoint> set;
  for (int i = 0; i < 6; ++i) set.push_back({.address = AddressOf(i)});
  world.Deliver(set);
  world.failing = 3;
  world.CallFor(200ms);
  REQUIRE(world.InfoOf(3)->ejected);
  world.failing = -1;
  const base::MonoTime ejected = world.env->Now();

  bool stays = true;
  SECTION("other places") { std::rotate(set.begin(), set.begin() + 2, set.end()); }
  SECTION("other facts") {
    for (Endpoint& endpoint : set) endpoint.metadata["a"] = "b";
  }
  SECTION("others come and go") {
    set.erase(set.begin());
    set.insert(set.begin() + 1, {.address = AddressOf(7)});
  }
  SECTION("it leaves, and comes again as another one") {
    const Endpoint gone = set[3];
    set.erase(set.begin() + 3);
    world.Deliver(set);
    world.CallFor(50ms);
    set.push_back(gone);
    stays = false;
  }
  world.Deliver(set);
  world.CallFor(200ms);
  CHECK(world.InfoOf(3)->ejected == stays);
  CHECK((world.AskedSince(3, ejected + 1ms) == 0) == stays);
  REQUIRE(world.client->RunUntilAllDone());
  CHECK(world.client->Close());
}

}  // namespace
}  // namespace weft::testing
