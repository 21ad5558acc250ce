// An exchange that has itself called at a time, as hedging does.
#include <algorithm>
#include <memory>
#include <vector>

#include "pool/host_rig.h"
#include "support/catch.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;
using Times = std::vector<base::MonoTime>;

RogueAnswer Never(const RogueRequest&) { return RogueAnswer::Silence(); }

TEST_CASE("OnLook comes at its time, while the exchange waits or is open, and when it says again") {
  const bool pending = GENERATE(false, true);
  HostRig rig;
  WEFT_SEED_INFO(rig.env);
  rig.server.host().SetBlackHole(pending);
  rig.server.options().handler = Never;
  const base::MonoTime start = rig.env.Now();
  const std::unique_ptr<Probe> probe = Probe::Started(rig, {.deadline = 1s, .look_at = 50ms});
  probe->on_look = [&] { return probe->looks.size() < 3 ? rig.env.Now() + 5ms : base::kNever; };
  rig.env.RunFor(900ms);
  CHECK(probe->looks == Times{start + 50ms, start + 55ms, start + 60ms});
  CHECK_FALSE(probe->ended());
  rig.env.RunFor(100ms);
  CHECK(probe->looks.size() == 3);
  CHECK(absl::IsDeadlineExceeded(probe->end->status));
  CHECK(probe->ended_at == start + 1s);
}

TEST_CASE("the deadline comes first: no look at it or after it") {
  const base::MonoDuration look_at = GENERATE(100ms, 101ms, 5s);
  HostRig rig;
  WEFT_SEED_INFO(rig.env);
  rig.server.options().handler = Never;
  const base::MonoTime start = rig.env.Now();
  const std::unique_ptr<Probe> probe = Probe::Started(rig, {.deadline = 100ms, .look_at = look_at});
  rig.env.RunFor(10s);
  CHECK(probe->looks.empty());
  CHECK(probe->ended_at == start + 100ms);
}

TEST_CASE("a look that is late finds the deadline passed") {
  HostRig rig;
  rig.server.options().handler = Never;
  const std::unique_ptr<Probe> probe = Probe::Started(rig, {.deadline = 100ms, .look_at = 50ms});
  rig.env.RunFor(10ms);
  rig.env.Stall(1s);
  rig.env.RunFor(1ms);
  CHECK(probe->looks.empty());
  CHECK(absl::IsDeadlineExceeded(probe->end->status));
}

TEST_CASE("no look after the end") {
  HostRig rig;
  WEFT_SEED_INFO(rig.env);
  const std::unique_ptr<Probe> answered = Probe::Started(rig, {.look_at = 50ms});
  rig.env.RunFor(20ms);
  CHECK(answered->ok());
  answered->LookNow();
  rig.server.options().handler = Never;
  const std::unique_ptr<Probe> abandoned = Probe::Started(rig, {.look_at = 50ms});
  rig.env.RunFor(20ms);
  abandoned->Abandon();
  abandoned->LookNow();
  rig.env.RunFor(1s);
  CHECK(answered->looks.empty());
  CHECK(abandoned->looks.empty());
}

TEST_CASE("OnLook may end its own exchange") {
  HostRig rig;
  WEFT_SEED_INFO(rig.env);
  rig.server.options().handler = Never;
  std::unique_ptr<Probe> probe = Probe::Started(rig, {.look_at = 50ms});
  probe->on_look = [&] {
    probe->Fail(absl::AbortedError("enough"));
    return rig.env.Now() + 1ms;
  };
  REQUIRE(rig.env.RunUntil([&] { return probe->ended(); }, 1s));
  CHECK(probe->looks.size() == 1);
  CHECK(absl::IsAborted(probe->end->status));
  probe.reset();  // nothing of it is armed any more
  rig.env.RunFor(10ms);
  CHECK(rig.server.requests().at(0)->reset == kCancel);
  CHECK(rig.host->in_flight() == 0);
}

TEST_CASE("OnLook may start another exchange at the same host, and abandon its own") {
  HostRig rig;
  WEFT_SEED_INFO(rig.env);
  rig.server.options().handler = [](const RogueRequest& request) {
    return request.stream == 1 ? RogueAnswer::Silence() : RogueAnswer{};
  };
  std::unique_ptr<Probe> other;
  const std::unique_ptr<Probe> probe = Probe::Started(rig, {.look_at = 50ms});
  probe->on_look = [&] {
    other = Probe::Started(rig);
    probe->Abandon();
    return base::kNever;
  };
  rig.env.RunFor(100ms);
  CHECK(probe->cancelled_here());
  REQUIRE(other != nullptr);
  CHECK(other->ok());
}

TEST_CASE("LookNow and LookAt bring the look forward, and never put it off") {
  HostRig rig;
  WEFT_SEED_INFO(rig.env);
  rig.server.options().handler = Never;
  const base::MonoTime start = rig.env.Now();
  const std::unique_ptr<Probe> probe = Probe::Started(rig, {.look_at = 100ms});
  const std::unique_ptr<Probe> other = Probe::Started(rig, {.look_at = 100ms});
  other->LookAt(start + 200ms);
  rig.env.RunFor(10ms);
  probe->LookAt(start + 50ms);
  probe->LookAt(start + 60ms);
  rig.env.RunFor(10ms);
  probe->LookNow();
  CHECK(probe->looks.empty());  // not on this thread
  rig.env.RunFor(10ms);
  CHECK(probe->looks == Times{start + 20ms});
  rig.env.RunFor(500ms);
  CHECK(probe->looks.size() == 1);  // it said never
  probe->LookAt(rig.env.Now() + 5ms);
  rig.env.RunFor(10ms);
  CHECK(probe->looks.size() == 2);
  CHECK(other->looks == Times{start + 100ms});
}

TEST_CASE("LookNow before the start is heard") {
  HostRig rig;
  rig.server.options().handler = Never;
  Probe probe(rig);
  probe.LookNow();
  rig.env.RunFor(10ms);
  CHECK(probe.looks.empty());
  const base::MonoTime start = rig.env.Now();
  probe.Start();
  rig.env.RunFor(10ms);
  CHECK(probe.looks == Times{start});
  probe.Cancel();
}

TEST_CASE("OnLook that says now does not hold up the loop") {
  HostRig rig;
  rig.server.options().handler = Never;
  const std::unique_ptr<Probe> probe = Probe::Started(rig, {.look_at = 10ms});
  probe->on_look = [&] { return probe->looks.size() < 100 ? rig.env.Now() : base::kNever; };
  const std::unique_ptr<Probe> other = Probe::Started(rig, {.deadline = 10ms});
  rig.env.RunFor(20ms);
  CHECK(probe->looks.size() == 100);
  // Each in a turn of its own.
  CHECK(std::adjacent_find(probe->looks.begin(), probe->looks.end()) == probe->looks.end());
  CHECK(other->ended());
}

}  // namespace
}  // namespace weft::testing
