#include "cluster/outlier_detector.h"

#include <algorithm>
#include <vector>

#include "cluster/outlier_rig.h"
#include "support/catch.h"

namespace weft::cluster {
namespace {

using namespace std::chrono_literals;
using testing::kStart;
using testing::OutlierRig;
using Kind = Outcome::Kind;
using State = OutlierDetector::State;
using Event = OutlierDetector::Event;

TEST_CASE("hosts keep their standing when the set changes, in any order") {
  OutlierRig rig(4);
  rig.End(1, Kind::kError, 5);
  rig.AddHost();
  std::reverse(rig.set.begin(), rig.set.end());
  rig.Tell();
  REQUIRE(rig.detector.hosts() == 5);
  CHECK(rig.StateOf(3) == State::kEjected);
  CHECK(rig.detector.standing(3).until == kStart + 30s);
  CHECK(rig.detector.ejected() == 1);
  // Without it.
  rig.set.erase(rig.set.begin() + 3);
  rig.Tell();
  CHECK(rig.detector.ejected() == 0);
  CHECK(rig.detector.next() == kStart + 10s);
  CHECK_FALSE(rig.records[1].Add({.kind = Kind::kError}, rig.now));
  CHECK(rig.detector.OnTrip(rig.records[1], rig.now).empty());  // of an attempt that ended late
}

TEST_CASE("where healthy hosts leave, ejected ones return early") {
  OutlierRig rig(8);
  for (size_t host : {3, 1, 2}) {
    rig.End(host, Kind::kError, 5);
    rig.now += 1s;
  }
  CHECK(rig.detector.ejected() == 3);
  rig.set.resize(4);
  rig.Tell();
  CHECK(rig.detector.ejected() == 2);
  CHECK(rig.StateOf(3) == State::kReturning);  // was first
  CHECK(rig.seen.back().text == "host-3 returns early, as other hosts have gone");
  rig.set.erase(rig.set.begin());
  rig.set.pop_back();
  rig.Tell();  // 1 and 2 are left
  CHECK(rig.StateOf(0) == State::kReturning);
  CHECK(rig.StateOf(1) == State::kEjected);
  rig.set.erase(rig.set.begin());
  rig.Tell();
  CHECK(rig.detector.ejected() == 0);
}

TEST_CASE("jitter is drawn anew each time, and the same for the same seed") {
  const auto lengths = [](uint64_t seed) {
    OutlierRig rig(40, OutlierOptions(), seed);
    std::vector<base::MonoDuration> all;
    for (size_t host = 0; host < 20; ++host) {
      rig.End(host, Kind::kError, 5);
      all.push_back(rig.detector.standing(host).until - rig.now);
    }
    return all;
  };
  const std::vector<base::MonoDuration> first = lengths(1);
  CHECK(first == lengths(1));
  CHECK(first != lengths(2));
  const auto [low, high] = std::minmax_element(first.begin(), first.end());
  CHECK(*low >= 30s);
  CHECK(*high <= 35s);
  CHECK(*high - *low > 1s);
}

TEST_CASE("an owner that is late, and one that is early") {
  OutlierRig rig(4);
  rig.End(0, Kind::kError, 5);
  CHECK(rig.detector.OnTime(kStart + 10s - 1ns).empty());
  CHECK(rig.detector.next() == kStart + 10s);
  const OutlierDetector::Events events = rig.detector.OnTime(kStart + 1h);
  REQUIRE(events.size() == 1);
  CHECK(events[0].kind == Event::Kind::kReturned);
  CHECK(rig.detector.next() == kStart + 1h + 10s);
}

// What must hold whatever happens.
TEST_CASE("random attempts, hosts that come and go") {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    base::Random random(seed);
    OutlierOptions options;
    options.consecutive_failures = static_cast<int>(random.Below(6));
    options.max_ejection_percent = 1 + static_cast<int>(random.Below(100));
    options.latency_intervals = 1;
    options.success_rate_request_volume = 20;
    options.failure_percentage_request_volume = 10;
    options.latency_request_volume = 10;
    OutlierRig rig(random.Below(12), options, seed);
    std::vector<double> fails(100, 0);
    for (double& part : fails) part = random.Below(3) == 0 ? random.Uniform(0, 1) : 0.01;
    size_t told = 0;
    bool held = true;
    for (int step = 0; step < 3000; ++step) {
      if (random.Below(200) == 0 && rig.records.size() < fails.size()) {
        rig.AddHost();
        rig.Tell();
      }
      if (random.Below(200) == 0 && !rig.set.empty()) {
        rig.set.erase(rig.set.begin() + static_cast<ptrdiff_t>(random.Below(rig.set.size())));
        rig.Tell();
      }
      for (size_t host = 0; host < rig.set.size(); ++host) {
        if (rig.StateOf(host) == State::kEjected) continue;
        const auto kind = random.Uniform(0, 1) < fails[host]
                              ? static_cast<Kind>(1 + random.Below(7))
                              : Kind::kSuccess;
        rig.End(host, Outcome{.kind = kind,
                              .took = std::chrono::milliseconds(random.Below(200)),
                              .noticed_late = random.Below(20) == 0});
      }
      rig.Until(rig.now + std::chrono::milliseconds(random.Below(500)));

      size_t ejected = 0;
      for (size_t host = 0; host < rig.set.size(); ++host) {
        const OutlierDetector::Standing& standing = rig.detector.standing(host);
        if (standing.state != State::kEjected) continue;
        ++ejected;
        held = held && standing.until > rig.now && standing.until <= rig.now + 305s;
        held = held && standing.ejections >= 1 && standing.ejections <= 5;
      }
      const size_t hosts = rig.set.size();
      const size_t bound =
          hosts < 2
              ? 0
              : std::clamp<size_t>(hosts * static_cast<size_t>(options.max_ejection_percent) / 100,
                                   1, hosts - 1);
      held = held && ejected <= bound && ejected == rig.detector.ejected();
      held = held && rig.detector.next() > rig.now && rig.detector.next() <= rig.now + 10s;
      for (; told < rig.seen.size(); ++told) held = held && !rig.seen[told].text.empty();
    }
    REQUIRE(held);
  }
}

}  // namespace
}  // namespace weft::cluster
