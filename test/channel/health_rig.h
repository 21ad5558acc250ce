// Hosts, their servers and a watch of their health, without a client above them.
#ifndef WEFT_TEST_CHANNEL_HEALTH_RIG_H_
#define WEFT_TEST_CHANNEL_HEALTH_RIG_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "channel/health_watch.h"
#include "support/catch.h"
#include "support/rogue_server.h"
#include "support/sim_env.h"
#include "telemetry/counters.h"

namespace weft::testing {

using channel::HealthWatch;

class HealthRig {
 public:
  HealthRig(int count, HealthCheckOptions options, ConnectionOptions connection = {},
            std::string authority = "")
      : connection_(std::move(connection)) {
    for (int i = 0; i < count; ++i) {
      const std::string address =
          "10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250 + 1) + ":80";
      servers.push_back(std::make_unique<RogueServer>(env, address));
      pool::HostSetup setup;
      setup.loop = loop.get();
      setup.read_buffer = &buffer_;
      setup.counters = &counters_;
      setup.options = &connection_;
      setup.connector.network = &env.network();
      setup.seed = env.NewSeed();
      hosts.push_back(
          base::MakeRef<pool::HostPool>(*net::Address::Parse(address), std::move(setup)));
      hosts.back()->Connect();
    }
    watch = std::make_shared<HealthWatch>(channel::HostCheck::Common{.loop = *loop,
                                                                     .options = std::move(options),
                                                                     .authority = authority,
                                                                     .on_change =
                                                                         [this] {
                                                                           CHECK(loop->IsCurrent());
                                                                           ++changes;
                                                                         }},
                                          env.NewSeed());
    watch->SetHosts(hosts);
  }
  ~HealthRig() {
    CloseWatch();
    for (auto& host : hosts) {
      bool closed = false;
      host->Shutdown(pool::HostPool::How::kNow, absl::CancelledError("over"),
                     [&] { closed = true; });
      CHECK(env.RunUntil([&] { return closed; }, std::chrono::seconds(60)));
      CHECK(host->in_flight() == 0);
      CHECK(host->unique());
    }
    hosts.clear();
    CHECK(env.RunUntilIdle());
  }
  void CloseWatch() {
    if (watch == nullptr) return;
    loop->PostFunction([watch = std::move(watch)] { watch->Close(); });
    env.RunFor(std::chrono::milliseconds(10));
  }
  void Answer(size_t server, std::function<RogueAnswer(const RogueRequest&)> handler) {
    servers[server]->options().handler = std::move(handler);
  }
  void AnswerStatus(size_t server, int status) {
    Answer(server, [status](const RogueRequest&) { return RogueAnswer{.status = status}; });
  }
  HealthWatch::State StateOf(size_t host) const { return watch->StateOf(*hosts[host]); }
  uint64_t Asked(size_t server) const { return servers[server]->request_count(); }

  SimEnv env;
  std::vector<std::unique_ptr<RogueServer>> servers;
  std::unique_ptr<event::Loop> loop = *env.NewLoop(0, nullptr);
  std::vector<base::Ref<pool::HostPool>> hosts;
  std::shared_ptr<HealthWatch> watch;
  int changes = 0;

 private:
  pool::ReadBuffer buffer_ = pool::ReadBuffer(16384);
  telemetry::Counters counters_;
  const ConnectionOptions connection_;
};

}  // namespace weft::testing

#endif  // WEFT_TEST_CHANNEL_HEALTH_RIG_H_
