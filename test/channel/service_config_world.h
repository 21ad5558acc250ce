// A channel of which it shows, by the time that a call takes, which service config holds.
#ifndef WEFT_TEST_CHANNEL_SERVICE_CONFIG_WORLD_H_
#define WEFT_TEST_CHANNEL_SERVICE_CONFIG_WORLD_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "support/catch.h"
#include "support/pushed_registry.h"
#include "support/rogue_server.h"
#include "support/sim_client.h"

namespace weft::inline v0::testing {

// By which a call that gets no answer ends after so many seconds.
inline std::string Timeout(const std::string& seconds) {
  return R"({"methodConfig": [{"name": [{}], "timeout": ")" + seconds + R"(s"}]})";
}

inline constexpr char kWrong[] = R"({"methodConfig": [{"name": [{}], "timeuot": "1s"}]})";

struct ServiceConfigWorld {
  explicit ServiceConfigWorld(ChannelOptions options = {}) {
    pushed.endpoints = {{.address = "10.0.0.1:80"}};
    server.options().handler = [](const RogueRequest& request) {
      return request.path() == "/ready" ? RogueAnswer{} : RogueAnswer::Silence();
    };
    client.emplace(env, "service",
                   ChannelFactory::Options{.registry = pushed.registry(), .channel = options});
    REQUIRE(client->RunUntilReady());
  }
  // Of a call that is made now.
  base::MonoDuration Took() {
    SimCall& call = client->Get();
    REQUIRE(client->RunUntilDone(call));
    CHECK(absl::IsDeadlineExceeded(call.status()));
    return std::chrono::round<std::chrono::milliseconds>(call.took());
  }
  Channel& channel() { return client->channel(); }
  std::string Debug() { return channel().DebugString(); }
  uint64_t Refused() { return client->stats().service_configs_refused; }

  std::shared_ptr<SimEnv> env = std::make_shared<SimEnv>();
  RogueServer server{*env, "10.0.0.1:80"};
  PushedRegistry pushed;
  std::optional<SimClient> client;
};

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_CHANNEL_SERVICE_CONFIG_WORLD_H_
