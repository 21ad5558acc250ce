// Exchanges that lost to another attempt of their call: what the server sees of their end.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pool/host_rig.h"
#include "support/catch.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

// The code of the client's RST_STREAM on the n-th request; nothing where it sent none.
std::optional<uint32_t> ResetOf(const HostRig& rig, size_t n) {
  return rig.server.requests().at(n)->reset;
}

RogueAnswer Never(const RogueRequest&) { return RogueAnswer::Silence(); }

// The connection is of use, and the server has nothing to complain of.
void CheckServes(HostRig& rig) {
  rig.server.options().handler = nullptr;
  const std::unique_ptr<Probe> probe = Probe::Started(rig);
  REQUIRE(rig.env.RunUntil([&] { return probe->ended(); }, 5s));
  CHECK(probe->ok());
  CHECK(rig.server.accepted() == 1);
  CHECK(rig.server.violations() == std::vector<std::string>{});
}

TEST_CASE("abandoned while it waits for a connection: it is never sent") {
  HostRig rig;
  WEFT_SEED_INFO(rig.env);
  const std::unique_ptr<Probe> probe = Probe::Started(rig);
  CHECK(rig.host->in_flight() == 1);
  rig.env.RunFor(10us);
  probe->Abandon();
  CHECK(probe->cancelled_here());
  CHECK(probe->end->processed == Processed::kNotSent);
  rig.env.RunFor(1s);
  CHECK(rig.server.request_count() == 0);
  CHECK(rig.resets() == 0);
  CHECK(rig.drained() == 0);
  CheckServes(rig);
}

TEST_CASE(
    "abandoned before it was started: it says nothing of the host, which forgets it at once") {
  HostRig rig;
  Probe probe(rig);
  probe.Abandon();
  probe.Start();
  CHECK(probe.cancelled_here());
  CHECK(probe.end->processed == Processed::kNotSent);
  CHECK(rig.host->in_flight() == 0);
}

TEST_CASE("abandoned on a stream of which nothing was sent: the server never hears of it") {
  const int burst = GENERATE(0, 100);
  HostRig rig({.reset_burst = burst});
  WEFT_SEED_INFO(rig.env);
  rig.server.host().link.send_buffer = 4096;
  rig.server.options().handler = Never;
  const std::unique_ptr<Probe> first = Probe::Started(rig);
  rig.env.RunFor(50ms);
  rig.server.last().stream().StopReading();
  rig.server.host().link.receive_buffer = 0;
  // Fills the transport, so that the head of the next one stays in the session.
  const std::unique_ptr<Probe> large = Probe::Started(rig, {.body = std::string(60000, 'x')});
  const std::unique_ptr<Probe> probe = Probe::Started(rig);
  CHECK(rig.counters.streams_opened.value() == 3);
  probe->Abandon();
  CHECK(probe->cancelled_here());
  CHECK(probe->end->processed == Processed::kNotSent);
  rig.server.host().link.receive_buffer = 256 << 10;
  rig.server.last().stream().ResumeReading();
  rig.env.RunFor(100ms);
  CHECK(rig.server.request_count() == 2);
  CHECK(rig.resets() == 0);
  CHECK(rig.drained() == 0);
  first->Cancel();
  large->Cancel();
  CheckServes(rig);
}

TEST_CASE("abandoned within the budget: RST_STREAM(CANCEL), and no more events") {
  HostRig rig;
  WEFT_SEED_INFO(rig.env);
  rig.server.options().handler = [](const RogueRequest&) {
    return RogueAnswer{.body = std::string(100, 'x'), .piece = 10, .gap = 5ms};
  };
  const std::unique_ptr<Probe> probe = Probe::Started(rig);
  rig.env.RunFor(20ms);
  CHECK(probe->status == 200);
  CHECK_FALSE(probe->data.empty());
  probe->Abandon();
  probe->Abandon();
  probe->Cancel();
  CHECK(probe->cancelled_here());
  CHECK(probe->end->processed == Processed::kMaybeProcessed);
  rig.env.RunFor(100ms);
  CHECK(ResetOf(rig, 0) == kCancel);
  CHECK(rig.resets() == 1);
  CHECK(rig.drained() == 0);
  CheckServes(rig);
}

TEST_CASE("abandoned beyond the budget: what is answered is discarded, and the windows returned") {
  // What had been received and not consumed before is returned too: nothing moves otherwise.
  const bool consumes = GENERATE(true, false);
  HostRig rig({.stream_window = 65535,
               .connection_window = 65535,
               .max_stream_window = 65535,
               .max_connection_window = 65535,
               .reset_burst = 1,
               .resets_per_second = 0});
  WEFT_SEED_INFO(rig.env);
  rig.server.options().handler = [](const RogueRequest& request) {
    if (request.stream == 1) return RogueAnswer::Silence();
    return RogueAnswer{
        .body = std::string(1 << 20, 'x'), .trailers = {{"t", "1"}}, .piece = 10000, .gap = 1ms};
  };
  const std::unique_ptr<Probe> first = Probe::Started(rig, {.consumes = consumes});
  rig.env.RunFor(10ms);
  const std::unique_ptr<Probe> second = Probe::Started(rig, {.consumes = consumes});
  rig.env.RunFor(20ms);
  first->Abandon();
  second->Abandon();
  CHECK(first->cancelled_here());
  CHECK(second->cancelled_here());
  CHECK(rig.drained() == 1);
  CHECK(rig.host->in_flight() == 2);
  const size_t told = second->data.size();
  CHECK(told > 0);
  rig.env.RunFor(1s);
  CHECK(ResetOf(rig, 0) == kCancel);
  CHECK(ResetOf(rig, 1) == std::nullopt);
  CHECK(rig.server.requests().at(1)->answered);
  CHECK(rig.server.last().blocked_bytes() == 0);
  CHECK(rig.server.open_streams() == 0);
  CHECK(second->data.size() == told);
  CHECK(rig.host->in_flight() == 1);  // the one that was reset
  rig.env.RunFor(1010ms);
  CHECK(rig.host->in_flight() == 0);
  CHECK(rig.resets() == 1);
  CheckServes(rig);
}

TEST_CASE("a drained stream that the server resets is over") {
  HostRig rig({.reset_burst = 0});
  rig.server.options().handler = [](const RogueRequest&) {
    return RogueAnswer{.delay = 100ms, .head = false, .end = false, .reset = kInternalError};
  };
  const std::unique_ptr<Probe> probe = Probe::Started(rig);
  rig.env.RunFor(10ms);
  probe->Abandon();
  rig.env.RunFor(80ms);
  CHECK(rig.host->in_flight() == 1);
  rig.env.RunFor(20ms);
  CHECK(rig.host->in_flight() == 0);
  CHECK(rig.resets() == 0);
  CheckServes(rig);
}

TEST_CASE("a drained stream is reset at the deadline, or after the drain timeout") {
  const bool endless = GENERATE(false, true);
  HostRig rig({.drain_timeout = absl::Seconds(3), .reset_burst = 0});
  WEFT_SEED_INFO(rig.env);
  rig.server.options().handler = Never;
  const std::unique_ptr<Probe> probe = Probe::Started(
      rig, {.deadline = endless ? base::MonoDuration::max() : base::MonoDuration(3s)});
  if (!endless) rig.env.RunFor(100ms);
  REQUIRE(rig.env.RunUntil([&] { return rig.server.request_count() == 1; }, 1s));
  probe->Abandon();
  rig.env.RunFor(2890ms);
  CHECK(ResetOf(rig, 0) == std::nullopt);
  CHECK(rig.host->in_flight() == 1);
  rig.env.RunFor(120ms);
  CHECK(ResetOf(rig, 0) == kCancel);
  CHECK(rig.host->in_flight() == 0);
  CHECK(rig.resets() == 1);
  CheckServes(rig);
}

TEST_CASE("a request that was not sent whole is reset whatever the budget says") {
  HostRig rig({.reset_burst = 0});
  WEFT_SEED_INFO(rig.env);
  rig.server.options().handler = Never;
  const std::unique_ptr<Probe> waits = Probe::Started(rig, {.body = "begin", .ends_body = false});
  const std::unique_ptr<Probe> whole = Probe::Started(rig, {.body = "all"});
  rig.env.RunFor(10ms);
  waits->Abandon();
  whole->Abandon();
  rig.env.RunFor(10ms);
  CHECK(ResetOf(rig, 0) == kCancel);
  CHECK(ResetOf(rig, 1) == std::nullopt);
  CHECK(rig.drained() == 1);
  CheckServes(rig);
}

TEST_CASE("a user's cancel and a deadline reset beyond the budget, and count in it") {
  const bool deadline = GENERATE(false, true);
  HostRig rig({.reset_burst = 3, .resets_per_second = 0});
  WEFT_SEED_INFO(rig.env);
  rig.server.options().handler = Never;
  std::vector<std::unique_ptr<Probe>> probes;
  const auto start = [&] {
    return probes.emplace_back(Probe::Started(rig, {.deadline = 1s})).get();
  };
  for (int i = 0; i < 2; ++i) start();
  rig.env.RunFor(10ms);
  if (deadline) {
    rig.env.RunFor(1s);
  } else {
    for (const auto& probe : probes) probe->Cancel();
  }
  CHECK(rig.resets() == 2);
  CHECK(rig.host->in_flight() == 0);
  // One is left of three.
  Probe* const reset = start();
  Probe* const drained = start();
  Probe* const cancelled = start();
  rig.env.RunFor(10ms);
  reset->Abandon();
  drained->Abandon();
  CHECK(rig.resets() == 3);
  CHECK(rig.drained() == 1);
  cancelled->Cancel();
  rig.env.RunFor(10ms);
  CHECK(rig.resets() == 4);
  CHECK(ResetOf(rig, 2) == kCancel);
  CHECK(ResetOf(rig, 3) == std::nullopt);
  CHECK(ResetOf(rig, 4) == kCancel);
  CheckServes(rig);
}

TEST_CASE("the budget fills up with time, and is whole on a new connection") {
  HostRig rig({.reset_burst = 2, .resets_per_second = 1});
  WEFT_SEED_INFO(rig.env);
  rig.server.options().handler = Never;
  std::vector<std::unique_ptr<Probe>> probes;
  // How many of five are reset.
  const auto lose = [&] {
    const uint64_t before = rig.resets();
    for (int i = 0; i < 5; ++i) probes.push_back(Probe::Started(rig, {.deadline = 1h}));
    rig.env.RunFor(10ms);
    for (size_t i = probes.size() - 5; i < probes.size(); ++i) probes[i]->Abandon();
    rig.env.RunFor(10ms);
    return rig.resets() - before;
  };
  CHECK(lose() == 2);
  CHECK(lose() == 0);
  rig.env.RunFor(1s);
  CHECK(lose() == 1);
  rig.env.RunFor(30s);
  CHECK(lose() == 2);
  rig.server.last().stream().Reset();
  rig.env.RunFor(100ms);
  CHECK(rig.host->in_flight() == 2);  // those that were drained are gone with it
  CHECK(lose() == 2);
}

}  // namespace
}  // namespace weft::testing
