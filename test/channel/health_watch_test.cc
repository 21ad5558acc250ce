// Checks over HTTP, and hosts that come and go whatever they are asked.
#include "channel/health_watch.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "channel/health_rig.h"
#include "support/catch.h"

namespace weft::channel {
namespace {

using namespace std::chrono_literals;
using testing::HealthRig;
using testing::RogueAnswer;
using testing::RogueRequest;
using State = HealthWatch::State;

HealthCheckOptions Http() { return {.kind = HealthCheckOptions::Kind::kHttp}; }
TEST_CASE("each host is asked over HTTP, and what it says counts") {
  HealthRig rig(2, Http());
  WEFT_SEED_INFO(rig.env);
  rig.AnswerStatus(0, 200);
  rig.AnswerStatus(1, 503);
  CHECK(rig.StateOf(0) == State::kUnknown);
  rig.env.RunFor(100ms);
  CHECK(rig.StateOf(0) == State::kHealthy);
  CHECK(rig.StateOf(1) == State::kUnhealthy);
  CHECK(rig.changes == 2);
  REQUIRE(rig.Asked(0) == 1);
  const RogueRequest& request = *rig.servers[0]->requests()[0];
  CHECK(request.method() == "GET");
  CHECK(request.path() == "/healthz");
  CHECK(request.authority() == "10.0.0.1:80");

  // Three more bad ones, two more good ones.
  rig.AnswerStatus(0, 500);
  rig.AnswerStatus(1, 200);
  rig.env.RunFor(12s);
  CHECK(rig.StateOf(0) == State::kHealthy);
  CHECK(rig.StateOf(1) == State::kUnhealthy);
  rig.env.RunFor(12s);
  CHECK(rig.StateOf(0) == State::kHealthy);
  CHECK(rig.StateOf(1) == State::kHealthy);
  rig.env.RunFor(12s);
  CHECK(rig.StateOf(0) == State::kUnhealthy);
  CHECK(rig.changes == 4);
  CHECK(rig.Asked(0) >= 4);
  CHECK(rig.Asked(0) <= 5);
}

TEST_CASE("no answer in time, or a lost connection, is a failed check") {
  HealthCheckOptions options = Http();
  options.unhealthy_threshold = 1;
  HealthRig rig(2, options);
  WEFT_SEED_INFO(rig.env);
  rig.env.RunFor(100ms);
  CHECK(rig.StateOf(0) == State::kHealthy);
  rig.Answer(0, [](const RogueRequest&) { return RogueAnswer::Silence(); });
  rig.Answer(1, [&](const RogueRequest&) {
    rig.env.After(1ms, [&] { rig.servers[1]->last().stream().Reset(); });
    return RogueAnswer::Silence();
  });
  REQUIRE(rig.env.RunUntil([&] { return rig.Asked(0) == 2; }, 20s));
  rig.env.RunFor(900ms);
  CHECK(rig.StateOf(0) == State::kHealthy);
  rig.env.RunFor(200ms);
  CHECK(rig.StateOf(0) == State::kUnhealthy);
  rig.env.RunFor(2s);
  CHECK(rig.StateOf(1) == State::kUnhealthy);
}

TEST_CASE("while a host is not connected nothing is known of it, and soon after it is") {
  HealthRig rig(1, Http());
  WEFT_SEED_INFO(rig.env);
  rig.servers[0]->Kill();
  rig.env.RunFor(20s);
  CHECK(rig.StateOf(0) == State::kUnknown);
  CHECK(rig.changes == 0);
  rig.servers[0]->Listen();
  REQUIRE(rig.env.RunUntil([&] { return rig.hosts[0]->state() == HostState::kReady; }, 60s));
  rig.env.RunFor(1200ms);
  CHECK(rig.StateOf(0) == State::kHealthy);
}

TEST_CASE("a check that this process noticed late says nothing") {
  HealthCheckOptions options = Http();
  options.unhealthy_threshold = 1;
  HealthRig rig(1, options);
  WEFT_SEED_INFO(rig.env);
  rig.env.RunFor(100ms);
  bool silent = true;
  rig.Answer(0, [&](const RogueRequest&) {
    return silent ? RogueAnswer::Silence() : RogueAnswer{.status = 200};
  });
  REQUIRE(rig.env.RunUntil([&] { return rig.Asked(0) == 2; }, 20s));
  silent = false;
  rig.env.Stall(30s);
  rig.env.RunFor(2s);
  CHECK(rig.Asked(0) == 3);
  CHECK(rig.StateOf(0) == State::kHealthy);
  CHECK(rig.changes == 1);
}

TEST_CASE("hosts that come and go, while they are asked") {
  HealthRig rig(3, Http());
  WEFT_SEED_INFO(rig.env);
  for (size_t i = 0; i < 3; ++i)
    rig.Answer(i, [](const RogueRequest&) { return RogueAnswer{.status = 200, .delay = 500ms}; });
  rig.watch->SetHosts({rig.hosts[0], rig.hosts[1]});
  REQUIRE(rig.env.RunUntil([&] { return rig.Asked(0) == 1 && rig.Asked(1) == 1; }, 5s));
  // One goes while it is asked, and one comes; named twice, it is asked once.
  rig.watch->SetHosts({rig.hosts[2], rig.hosts[0], rig.hosts[2]});
  rig.env.RunFor(1500ms);
  CHECK(rig.StateOf(0) == State::kHealthy);
  CHECK(rig.StateOf(1) == State::kUnknown);
  CHECK(rig.StateOf(2) == State::kHealthy);
  CHECK(rig.servers[1]->requests()[0]->reset.has_value());
  CHECK(rig.Asked(2) == 1);
  CHECK(rig.changes == 2);
  rig.env.RunFor(30s);
  CHECK(rig.Asked(1) == 1);
  // It goes and comes again while it is asked: only the new check counts.
  const uint64_t asked = rig.Asked(0);
  REQUIRE(rig.env.RunUntil([&] { return rig.Asked(0) > asked; }, 20s));
  rig.watch->SetHosts({});
  rig.watch->SetHosts({rig.hosts[0]});
  CHECK(rig.StateOf(0) == State::kUnknown);
  rig.env.RunFor(2s);
  CHECK(rig.StateOf(0) == State::kHealthy);
  CHECK(rig.Asked(0) == asked + 2);
}

TEST_CASE("a watch that is closed while it asks says nothing any more") {
  HealthRig rig(1, Http());
  WEFT_SEED_INFO(rig.env);
  rig.Answer(0, [](const RogueRequest&) { return RogueAnswer{.status = 200, .delay = 500ms}; });
  REQUIRE(rig.env.RunUntil([&] { return rig.Asked(0) == 1; }, 5s));
  rig.CloseWatch();
  rig.env.RunFor(60s);
  CHECK(rig.changes == 0);
  CHECK(rig.Asked(0) == 1);
  CHECK(rig.hosts[0]->in_flight() == 0);
}

}  // namespace
}  // namespace weft::channel
