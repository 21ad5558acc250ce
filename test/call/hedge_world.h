// HedgeWorld: three hosts in a simulation, and what every request is answered with, by its number
// from 0, whichever host it comes to.
#ifndef WEFT_TEST_CALL_HEDGE_WORLD_H_
#define WEFT_TEST_CALL_HEDGE_WORLD_H_

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.h"
#include "support/rogue_server.h"
#include "support/sim_client.h"

namespace weft::inline v0::testing {

// A hedge after 20 ms.
inline const CallOptions kHedged = {.hedge_delay = absl::Milliseconds(20)};

struct HedgeWorld {
  // `warm_calls`: made before, so that the budget has something for hedges.
  explicit HedgeWorld(ChannelOptions channel = {}, int warm_calls = 100,
                      ConnectionOptions connection = {}) {
    for (int i = 1; i <= 3; ++i) {
      servers.emplace_back(*env, "10.0.0." + std::to_string(i) + ":80");
      servers.back().options().handler = [this](const RogueRequest& request) {
        if (request.path() == "/warm" || request.path() == "/ready") return RogueAnswer{};
        times.push_back(env->Now());
        hosts.push_back(std::string(request.authority()));
        previous.push_back(std::string(request.header("grpc-previous-rpc-attempts")));
        return answer(static_cast<int>(times.size()) - 1);
      };
    }
    // By which a test can tell who is next.
    if (channel.balancer == nullptr) channel.balancer = RoundRobin();
    client = std::make_unique<SimClient>(
        env, "static:10.0.0.1:80,10.0.0.2:80,10.0.0.3:80",
        ChannelFactory::Options{.channel = std::move(channel), .connection = connection});
    REQUIRE(client->RunUntilReady());
    env->RunFor(std::chrono::seconds(1));  // all hosts
    for (int i = 0; i < warm_calls; ++i)
      client->Get("/warm", {.hedge_delay = absl::InfiniteDuration()});
    REQUIRE(client->RunUntilAllDone());
  }

  void Forget() { times.clear(), hosts.clear(), previous.clear(); }
  RogueServer& Server(const std::string& host) {
    for (RogueServer& server : servers) {
      if (server.address() == host) return server;
    }
    return servers.front();
  }
  // The n-th request, its connection and its stream, where that is the only one on its host.
  RogueConnection& Connection(size_t n) { return Server(hosts.at(n)).last(); }
  const RogueRequest& Asked(size_t n) {
    return *Connection(n).request(Connection(n).last_stream());
  }
  void Answer(size_t n, RogueAnswer with) {
    Connection(n).Answer(Connection(n).last_stream(), std::move(with));
  }
  std::vector<std::string> Violations() const {
    std::vector<std::string> all;
    for (const RogueServer& server : servers) {
      for (const std::string& violation : server.violations()) all.push_back(violation);
    }
    return all;
  }
  // RST_STREAM that came.
  int Resets() const {
    int resets = 0;
    for (const RogueServer& server : servers) {
      for (const RogueRequest* request : server.requests()) resets += request->reset ? 1 : 0;
    }
    return resets;
  }
  // Of all hosts, as the client counts them.
  int InFlight() const {
    const std::string text = client->channel().DebugString();
    constexpr std::string_view kWords = "in flight ";
    int all = 0;
    for (size_t at = 0; (at = text.find(kWords, at)) != std::string::npos;) {
      at += kWords.size();
      all += std::stoi(text.substr(at));
    }
    return all;
  }
  size_t OpenStreams() const {
    size_t open = 0;
    for (const RogueServer& server : servers) open += server.open_streams();
    return open;
  }

  std::shared_ptr<SimEnv> env = std::make_shared<SimEnv>();
  std::deque<RogueServer> servers;
  std::function<RogueAnswer(int)> answer = [](int) { return RogueAnswer{}; };
  std::vector<base::MonoTime> times;
  std::vector<std::string> hosts;
  std::vector<std::string> previous;
  std::unique_ptr<SimClient> client;
};

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_CALL_HEDGE_WORLD_H_
