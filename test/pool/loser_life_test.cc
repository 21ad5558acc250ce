// Losers that drain or linger: how long the host counts them, and what ends them.
#include <memory>
#include <string>
#include <vector>

#include "pool/host_rig.h"
#include "support/catch.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;
using How = pool::HostPool::How;

RogueAnswer Never(const RogueRequest&) { return RogueAnswer::Silence(); }

TEST_CASE("an exchange is in flight from its start to its end, whichever that is") {
  HostRig rig;
  WEFT_SEED_INFO(rig.env);
  rig.server.options().handler = [](const RogueRequest& request) {
    return request.stream == 1 ? RogueAnswer{.body = "x", .delay = 50ms} : RogueAnswer::Silence();
  };
  const std::unique_ptr<Probe> answered = Probe::Started(rig);
  CHECK(rig.host->in_flight() == 1);
  const std::unique_ptr<Probe> late = Probe::Started(rig, {.deadline = 200ms});
  const std::unique_ptr<Probe> cancelled = Probe::Started(rig);
  CHECK(rig.host->in_flight() == 3);
  rig.env.RunFor(10ms);
  CHECK(rig.host->in_flight() == 3);
  cancelled->Cancel();
  CHECK(rig.host->in_flight() == 2);
  rig.env.RunFor(90ms);
  CHECK(answered->ok());
  CHECK(rig.host->in_flight() == 1);
  rig.env.RunFor(200ms);
  CHECK(late->ended());
  CHECK(rig.host->in_flight() == 0);
}

TEST_CASE("a cancelled loser is counted for two seconds more, or to its deadline") {
  const bool pending = GENERATE(false, true);
  HostRig rig;
  WEFT_SEED_INFO(rig.env);
  if (pending) rig.server.host().SetBlackHole(true);
  rig.server.options().handler = Never;
  const std::unique_ptr<Probe> brief = Probe::Started(rig, {.deadline = 1s});
  const std::unique_ptr<Probe> lasting = Probe::Started(rig, {.deadline = 1h});
  const std::unique_ptr<Probe> endless =
      Probe::Started(rig, {.deadline = base::MonoDuration::max()});
  rig.env.RunFor(100ms);
  for (Probe* probe : {brief.get(), lasting.get(), endless.get()}) probe->Abandon();
  CHECK(rig.host->in_flight() == 3);
  rig.env.RunFor(890ms);
  CHECK(rig.host->in_flight() == 3);
  rig.env.RunFor(20ms);
  CHECK(rig.host->in_flight() == 2);
  rig.env.RunFor(1080ms);
  CHECK(rig.host->in_flight() == 2);
  rig.env.RunFor(20ms);
  CHECK(rig.host->in_flight() == 0);
}

TEST_CASE("many losers linger on one timer, and none is forgotten") {
  HostRig rig({.reset_burst = 1'000'000});
  WEFT_SEED_INFO(rig.env);
  rig.server.options().handler = Never;
  std::vector<std::unique_ptr<Probe>> probes;
  for (int i = 0; i < 1000; ++i) {
    probes.push_back(Probe::Started(rig, {.deadline = std::chrono::milliseconds(500 + i * 7)}));
    rig.env.RunFor(1ms);
    probes.back()->Abandon();
  }
  CHECK(rig.host->in_flight() > 800);
  rig.env.RunFor(1s);
  CHECK(rig.host->in_flight() > 400);
  CHECK(rig.host->in_flight() < 1000);
  rig.env.RunFor(1020ms);
  CHECK(rig.host->in_flight() == 0);
}

TEST_CASE("shutdown forgets who lingers, and ends who drains or lets them end") {
  const How how = GENERATE(How::kNow, How::kDrain);
  HostRig rig({.reset_burst = 1, .resets_per_second = 0});
  WEFT_SEED_INFO(rig.env);
  rig.server.options().handler = [](const RogueRequest&) { return RogueAnswer{.delay = 1s}; };
  const std::unique_ptr<Probe> lingers = Probe::Started(rig, {.deadline = 1h});
  const std::unique_ptr<Probe> drains = Probe::Started(rig, {.deadline = 1h});
  rig.env.RunFor(10ms);
  lingers->Abandon();
  drains->Abandon();
  CHECK(rig.drained() == 1);
  CHECK(rig.host->in_flight() == 2);
  const base::MonoTime start = rig.env.Now();
  rig.Close(how);
  CHECK((rig.env.Now() - start < 10ms) == (how == How::kNow));
  CHECK(rig.env.Now() - start < 1100ms);
}

TEST_CASE("abandoned while the host drains to leave: forgotten at once") {
  HostRig rig;
  rig.server.options().handler = Never;
  const std::unique_ptr<Probe> probe = Probe::Started(rig, {.deadline = 1h});
  rig.env.RunFor(10ms);
  bool closed = false;
  rig.host->Shutdown(How::kDrain, absl::UnavailableError("left"), [&] { closed = true; });
  rig.env.RunFor(10ms);
  CHECK(rig.host->in_flight() == 1);
  probe->Abandon();
  CHECK(rig.host->in_flight() == 0);
  rig.env.RunFor(10ms);
  CHECK(closed);
  rig.host = {};
}

TEST_CASE("a connection that is told to go lives until what drains on it has ended") {
  HostRig rig({.reset_burst = 0});
  WEFT_SEED_INFO(rig.env);
  rig.server.options().handler = [](const RogueRequest&) {
    return RogueAnswer{.body = std::string(300000, 'x'), .delay = 500ms};
  };
  const std::unique_ptr<Probe> probe = Probe::Started(rig);
  rig.env.RunFor(10ms);
  probe->Abandon();
  rig.server.last().SendGoaway(1);
  rig.env.RunFor(400ms);
  CHECK(rig.server.accepted() == 2);
  CHECK(rig.server.open_connections() == 2);
  CHECK(rig.host->in_flight() == 1);
  rig.env.RunFor(200ms);
  CHECK(rig.server.requests().at(0)->answered);
  CHECK(rig.server.connection(0).blocked_bytes() == 0);
  CHECK(rig.server.open_connections() == 1);
  CHECK(rig.host->in_flight() == 0);
  CHECK(rig.counters.connections_lost.value() == 0);
}

TEST_CASE("what drains ends with its connection, or where GOAWAY says that it was not taken") {
  const bool lost = GENERATE(true, false);
  HostRig rig({.reset_burst = 0});
  WEFT_SEED_INFO(rig.env);
  rig.server.options().handler = Never;
  const std::unique_ptr<Probe> probe = Probe::Started(rig);
  rig.env.RunFor(10ms);
  probe->Abandon();
  rig.env.RunFor(10ms);
  CHECK(rig.host->in_flight() == 1);
  if (lost) {
    rig.server.last().stream().Reset();
  } else {
    rig.server.last().SendGoaway(0);
  }
  rig.env.RunFor(10ms);
  CHECK(rig.host->in_flight() == 0);
  CHECK(rig.resets() == 0);
}

TEST_CASE("streams that drain take up room under the peer's limit") {
  HostRig rig({.reset_burst = 0});
  WEFT_SEED_INFO(rig.env);
  rig.server.options().settings = {{kMaxConcurrentStreams, 2}};
  rig.server.options().handler = [](const RogueRequest&) { return RogueAnswer{.delay = 100ms}; };
  std::vector<std::unique_ptr<Probe>> probes;
  for (int i = 0; i < 3; ++i) probes.push_back(Probe::Started(rig));
  rig.env.RunFor(50ms);
  probes[0]->Abandon();
  probes[1]->Abandon();
  rig.env.RunFor(10ms);
  CHECK(rig.server.request_count() == 2);
  rig.env.RunFor(200ms);
  CHECK(probes[2]->ok());
  CHECK(rig.server.violations() == std::vector<std::string>{});
}

TEST_CASE("the round trip time of a host is the least that connecting took, at most 250 ms") {
  HostRig rig({.reconnect_base = absl::Milliseconds(1), .reconnect_max = absl::Milliseconds(1)});
  CHECK(rig.host->rtt() == base::MonoDuration::zero());
  base::MonoDuration least = base::MonoDuration::max();
  for (const base::MonoDuration latency : {1000ms, 30ms, 20ms, 40ms}) {
    rig.server.host().link.latency = latency;
    if (rig.server.accepted() > 0) rig.server.Kill();
    rig.server.Listen();
    const std::unique_ptr<Probe> probe = Probe::Started(rig);
    rig.env.RunFor(8s);
    CHECK(probe->ended());
    least = std::min({least, 2 * latency, base::MonoDuration(250ms)});
    CHECK(rig.host->rtt() == least);
  }
}

}  // namespace
}  // namespace weft::testing
