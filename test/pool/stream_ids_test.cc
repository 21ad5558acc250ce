// A connection whose stream ids run out (RFC 9113 section 5.1.1) is replaced before they do.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pool/host_rig.h"
#include "support/catch.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

// So many at once; all of them have to be answered.
void Ask(HostRig& rig, int count) {
  std::vector<std::unique_ptr<Probe>> probes;
  for (int i = 0; i < count; ++i) probes.push_back(Probe::Started(rig));
  const auto all_ended = [&] {
    return std::all_of(probes.begin(), probes.end(),
                       [](const auto& probe) { return probe->ended(); });
  };
  REQUIRE(rig.env.RunUntil(all_ended, 20s));
  for (const auto& probe : probes) {
    CHECK(probe->end->status == absl::OkStatus());
    CHECK(probe->status == 200);
  }
}

TEST_CASE("a connection that runs out of stream ids gets a successor, and no exchange fails") {
  const int32_t first = GENERATE(INT32_MAX - 4, INT32_MAX - 2000);
  HostRig rig({}, first);
  WEFT_SEED_INFO(rig.env);
  // Ten at once are more than the ids that are left, or less.
  for (int round = 0; round < 3; ++round) Ask(rig, 10);
  RogueServer& server = rig.server;
  CHECK(server.accepted() == 2);
  // The successor begins anew, and nothing more is sent on the first.
  CHECK(server.connection(0).last_stream() >= static_cast<uint32_t>(first));
  CHECK(server.connection(1).last_stream() < 100);
  CHECK(server.connection(0).request_count() + server.connection(1).request_count() == 30);
  CHECK(server.violations() == std::vector<std::string>{});
  REQUIRE(rig.env.RunUntil([&] { return server.open_connections() == 1; }, 60s));
}

TEST_CASE(
    "a successor that cannot be dialled is tried again after a pause, and the old one serves") {
  HostRig rig({}, INT32_MAX - 2000);
  WEFT_SEED_INFO(rig.env);
  Ask(rig, 1);
  rig.server.StopListening();
  for (int second = 0; second < 10; ++second) {
    Ask(rig, 5);
    rig.env.RunFor(1s);
  }
  CHECK(rig.server.accepted() <= 2);
  CHECK(rig.counters.dials.value() < 30);
  rig.server.Listen();
  REQUIRE(rig.env.RunUntil(
      [&] { return rig.server.last().last_stream() < 100 || rig.server.accepted() == 2; }, 60s));
  Ask(rig, 5);
  CHECK(rig.server.accepted() == 2);
}

}  // namespace
}  // namespace weft::testing
