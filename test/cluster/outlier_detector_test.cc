#include "cluster/outlier_detector.h"

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "support/catch.h"

namespace weft::cluster {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using Kind = Outcome::Kind;
using State = OutlierDetector::State;
using Input = OutlierDetector::Input;
using Event = OutlierDetector::Event;

constexpr base::MonoTime kStart{1000s};

// Without jitter, so that times are by hand.
OutlierOptions Plain() { return {.max_ejection_time_jitter = absl::ZeroDuration()}; }

class Rig {
 public:
  explicit Rig(size_t hosts, const OutlierOptions& options = Plain(), uint64_t seed = 1)
      : options_(options), detector(options, base::Random(seed), kStart) {
    for (size_t i = 0; i < hosts; ++i) AddHost();
    Tell();
  }
  void AddHost() {
    records.emplace_back(options_.consecutive_failures);
    set.push_back({&records.back(), "host-" + std::to_string(names_++)});
  }
  void Tell() { Note(detector.OnHostsChanged(set, now)); }

  void End(size_t host, Outcome outcome) {
    HostHealth& health = *set[host].health;
    if (health.Add(outcome, now)) Note(detector.OnTrip(health, now));
  }
  void End(size_t host, Kind kind, int times = 1) {
    for (int i = 0; i < times; ++i) End(host, Outcome{.kind = kind});
  }
  // As the owner's alarm does.
  void Until(base::MonoTime end) {
    while (detector.next() <= end) {
      now = detector.next();
      Note(detector.OnTime(now));
    }
    now = end;
  }
  // To the end of so many intervals, having answered `each` at every host in all of them.
  void Intervals(int count, int each = 0) {
    for (int i = 0; i < count; ++i) {
      for (size_t host = 0; host < set.size(); ++host) End(host, Kind::kSuccess, each);
      Until(kStart + 10s * ((now - kStart) / 10s + 1));
    }
  }
  State StateOf(size_t host) const { return detector.standing(host).state; }
  int Count(Event::Kind kind) const {
    return static_cast<int>(
        std::count_if(seen.begin(), seen.end(), [&](const Event& e) { return e.kind == kind; }));
  }

  const OutlierOptions options_;
  OutlierDetector detector;
  std::deque<HostHealth> records;
  std::vector<OutlierDetector::Subject> set;
  OutlierDetector::Events seen;
  base::MonoTime now = kStart;

 private:
  void Note(OutlierDetector::Events events) {
    for (Event& event : events) seen.push_back(std::move(event));
  }
  int names_ = 0;
};

TEST_CASE("the table of a host's states") {
  struct Row {
    State from, blamed, time_over, proven;
  };
  for (const Row& row :
       {Row{State::kHealthy, State::kEjected, State::kHealthy, State::kHealthy},
        Row{State::kEjected, State::kEjected, State::kReturning, State::kEjected},
        Row{State::kReturning, State::kEjected, State::kReturning, State::kHealthy}}) {
    CHECK(OutlierDetector::Next(row.from, Input::kBlamed) == row.blamed);
    CHECK(OutlierDetector::Next(row.from, Input::kTimeOver) == row.time_over);
    CHECK(OutlierDetector::Next(row.from, Input::kProven) == row.proven);
  }
}

TEST_CASE("five failures in a row eject a host for 30 s, and it comes back on trial") {
  Rig rig(4);
  rig.End(2, Kind::kError, 4);
  CHECK(rig.StateOf(2) == State::kHealthy);
  rig.End(2, Kind::kTimeout);
  REQUIRE(rig.StateOf(2) == State::kEjected);
  CHECK(rig.detector.ejected() == 1);
  CHECK(rig.detector.standing(2).until == kStart + 30s);
  REQUIRE(rig.seen.size() == 1);
  CHECK(rig.seen[0].rule == OutlierRule::kConsecutive);
  CHECK(rig.seen[0].text ==
        "host-2 is ejected for 30.0 s: 5 failures in a row, the last one a timeout");
  rig.Until(kStart + 30s - 1ns);
  CHECK(rig.StateOf(2) == State::kEjected);
  CHECK(rig.detector.next() == kStart + 30s);
  rig.Until(kStart + 30s);
  CHECK(rig.StateOf(2) == State::kReturning);
  CHECK(rig.detector.standing(2).returned_at == kStart + 30s);
  CHECK(rig.detector.ejected() == 0);
  CHECK(rig.seen.back().text == "host-2 returns");
  // Without calls it proves nothing.
  rig.Intervals(3);
  CHECK(rig.StateOf(2) == State::kReturning);
  rig.End(2, Kind::kSuccess, OutlierDetector::kTrial);
  rig.Intervals(1);
  CHECK(rig.StateOf(2) == State::kHealthy);
  CHECK(rig.detector.standing(2).returned_at == kStart + 30s);
  CHECK(rig.StateOf(1) == State::kHealthy);
  CHECK(rig.detector.standing(1).returned_at == base::MonoTime::min());
}

TEST_CASE("one failure ejects a host that returns, for longer each time up to the cap") {
  Rig rig(4);
  rig.End(0, Kind::kError, 5);
  for (const auto length : {30s, 60s, 120s, 240s, 300s, 300s}) {
    REQUIRE(rig.StateOf(0) == State::kEjected);
    CHECK(rig.detector.standing(0).until - rig.now == length);
    rig.Until(rig.detector.standing(0).until);
    REQUIRE(rig.StateOf(0) == State::kReturning);
    rig.End(0, Kind::kSuccess, OutlierDetector::kTrial - 1);
    CHECK(rig.StateOf(0) == State::kReturning);
    rig.End(0, Kind::kError);
    CHECK(rig.seen.back().rule == OutlierRule::kTrial);
  }
  CHECK_THAT(rig.seen.back().text, ContainsSubstring("when it had just returned: an error"));
}

TEST_CASE("what was sent before the ejection ejects nobody again") {
  Rig rig(4);
  rig.End(0, Kind::kError, 5);
  rig.End(0, Kind::kTimeout, 20);  // the rest of what was running
  CHECK(rig.seen.size() == 1);
  rig.Until(kStart + 31s);
  rig.End(0, Outcome{.kind = Kind::kTimeout, .took = 32s});
  CHECK(rig.StateOf(0) == State::kReturning);
  rig.End(0, Outcome{.kind = Kind::kTimeout, .took = 1s});
  CHECK(rig.StateOf(0) == State::kEjected);
}

TEST_CASE("each healthy interval makes the next ejection shorter again") {
  Rig rig(4);
  rig.End(0, Kind::kError, 5);
  rig.Until(rig.detector.standing(0).until);
  rig.End(0, Kind::kError);
  rig.Until(rig.detector.standing(0).until);
  rig.End(0, Kind::kError);
  CHECK(rig.detector.standing(0).ejections == 3);
  rig.Until(rig.detector.standing(0).until);
  rig.End(0, Kind::kSuccess, OutlierDetector::kTrial);
  rig.Intervals(1);  // ends the trial, and is no healthy one itself
  REQUIRE(rig.StateOf(0) == State::kHealthy);
  CHECK(rig.detector.standing(0).ejections == 3);
  rig.Intervals(1);
  CHECK(rig.detector.standing(0).ejections == 2);
  rig.Intervals(1);
  CHECK(rig.detector.standing(0).ejections == 1);
  rig.End(0, Kind::kError, 5);
  CHECK(rig.detector.standing(0).until - rig.now == 60s);
  rig.Until(rig.detector.standing(0).until);
  rig.End(0, Kind::kSuccess, OutlierDetector::kTrial);
  rig.Intervals(10);
  CHECK(rig.detector.standing(0).ejections == 0);
}

TEST_CASE("an interval at whose end a host is found is no healthy one") {
  Rig rig(10);
  for (int round = 1; round <= 3; ++round) {
    for (size_t host = 0; host < 10; ++host) {
      rig.End(host, Kind::kSuccess, OutlierDetector::kTrial);
    }
    rig.Intervals(1);
    REQUIRE(rig.StateOf(7) == State::kHealthy);
    for (int i = 0; i < 100; ++i) {
      rig.End(7, Kind::kSuccess);
      rig.End(7, Kind::kError);
    }
    rig.Intervals(1, 200);
    REQUIRE(rig.StateOf(7) == State::kEjected);
    CHECK(rig.seen.back().rule == OutlierRule::kSuccessRate);
    CHECK(rig.detector.standing(7).ejections == round);
    rig.Until(rig.detector.standing(7).until);
  }
}

TEST_CASE("at most half of a cluster, at least one of two, and never all") {
  struct Row {
    size_t hosts;
    int percent;
    size_t ejected;
  };
  for (const Row& row :
       {Row{1, 50, 0}, Row{2, 50, 1}, Row{3, 50, 1}, Row{4, 50, 2}, Row{5, 50, 2}, Row{10, 50, 5},
        Row{10, 1, 1}, Row{10, 29, 2}, Row{10, 100, 9}, Row{2, 100, 1}, Row{1, 100, 0}}) {
    CAPTURE(row.hosts, row.percent);
    OutlierOptions options = Plain();
    options.max_ejection_percent = row.percent;
    Rig rig(row.hosts, options);
    for (size_t host = 0; host < row.hosts; ++host) rig.End(host, Kind::kError, 20);
    CHECK(rig.detector.ejected() == row.ejected);
    CHECK(rig.Count(Event::Kind::kEjected) == static_cast<int>(row.ejected));
    CHECK(rig.Count(Event::Kind::kSpared) == static_cast<int>(row.hosts - row.ejected));
  }
}

TEST_CASE("who was spared is ejected later, while it still fails and there is room") {
  Rig rig(3);
  rig.End(0, Kind::kError, 5);
  rig.End(1, Kind::kError, 6);
  CHECK(rig.StateOf(1) == State::kHealthy);
  CHECK(rig.seen.back().text ==
        "host-1 is not ejected, as 1 of 3 hosts are: 5 failures in a row, the last one an error "
        "that it answered");
  rig.Until(kStart + 25s);
  CHECK(rig.StateOf(1) == State::kHealthy);
  rig.Until(kStart + 30s);  // host-0 returns, then the interval ends
  CHECK(rig.StateOf(0) == State::kReturning);
  CHECK(rig.StateOf(1) == State::kEjected);
  CHECK_THAT(rig.seen.back().text, ContainsSubstring("6 failures in a row"));
}

TEST_CASE("local errors eject as well, by a row of their own") {
  Rig rig(4);
  for (int i = 0; i < 5; ++i) {
    rig.now += 1s;
    rig.End(0, Kind::kNotConnected);
    if (i < 4) rig.End(0, Kind::kTimeout);
  }
  REQUIRE(rig.StateOf(0) == State::kEjected);
  CHECK_THAT(rig.seen.back().text,
             ContainsSubstring("5 failures in a row, the last one a connection that could not"));
}

TEST_CASE("a stopped process ejects nobody") {
  Rig rig(10);
  rig.now += 60s;  // SIGSTOP
  for (size_t host = 0; host < 10; ++host) {
    for (int i = 0; i < 100; ++i)
      rig.End(host, Outcome{.kind = Kind::kTimeout, .took = 60s, .noticed_late = true});
    rig.End(host, Kind::kLost, 100);  // the peers gave up on it
  }
  rig.Until(rig.now + 60s);
  CHECK(rig.seen.empty());
}

TEST_CASE("who has too much to do is ejected only where it is alone with that") {
  Rig rig(10);
  for (size_t host = 0; host < 10; ++host) rig.End(host, Kind::kOverloaded, 1000);
  rig.Intervals(1);
  CHECK(rig.seen.empty());
  rig.End(4, Kind::kOverloaded, 500);
  rig.Intervals(1, 500);
  REQUIRE(rig.seen.size() == 1);
  CHECK(rig.seen[0].rule == OutlierRule::kSuccessRate);
  CHECK(rig.seen[0].text ==
        "host-4 is ejected for 30.0 s: success rate 50.0 % of 1000 requests, of the other 9 hosts "
        "100.0 % (standard deviation 0.0; the limit here is 99.6 %)");
}

TEST_CASE("a host that fails most of its requests is ejected at the interval's end") {
  Rig rig(2);
  for (int i = 0; i < 15; ++i) {
    rig.End(1, Kind::kError, 4);
    rig.End(1, Kind::kOverloaded);
    rig.End(1, i < 10 ? Kind::kSuccess : Kind::kCensored);
  }
  CHECK(rig.StateOf(1) == State::kEjected);  // by the row without a success, at its fifth
  Rig other(2);
  for (int i = 0; i < 20; ++i) {
    other.End(1, Kind::kSuccess);
    other.End(1, Kind::kError, 4);
  }
  other.Intervals(1);
  CHECK(other.StateOf(1) == State::kHealthy);  // 80 %
  OutlierOptions strict = Plain();
  strict.failure_percentage_threshold = 80;
  Rig third(2, strict);
  for (int i = 0; i < 20; ++i) {
    third.End(1, Kind::kSuccess);
    third.End(1, Kind::kError, 4);
  }
  third.Intervals(1);
  REQUIRE(third.StateOf(1) == State::kEjected);
  CHECK(third.seen.back().text ==
        "host-1 is ejected for 30.0 s: 80 of 100 requests failed (80 %; the limit is 80 %)");
}

TEST_CASE("a slow host is ejected after three slow intervals in a row") {
  Rig rig(3);
  const auto interval = [&](base::MonoDuration last) {
    for (int i = 0; i < 100; ++i) {
      rig.End(0, Outcome{.took = 10ms});
      rig.End(1, Outcome{.took = 11ms});
      rig.End(2, Outcome{.took = last});
    }
    rig.Intervals(1);
  };
  interval(100ms);
  interval(100ms);
  interval(12ms);
  interval(100ms);
  interval(100ms);
  CHECK(rig.StateOf(2) == State::kHealthy);
  interval(100ms);
  REQUIRE(rig.StateOf(2) == State::kEjected);
  CHECK(rig.seen.back().rule == OutlierRule::kLatency);
  CHECK_THAT(rig.seen.back().text, ContainsSubstring(", for 3 intervals"));
  // Back again, the three begin anew; without requests there is nothing to say.
  rig.Until(rig.detector.standing(2).until);
  interval(100ms);
  interval(100ms);
  rig.Intervals(1);
  interval(100ms);
  interval(100ms);
  CHECK(rig.Count(Event::Kind::kEjected) == 1);
  interval(100ms);
  CHECK(rig.Count(Event::Kind::kEjected) == 2);
}

TEST_CASE("hosts keep their standing when the set changes, in any order") {
  Rig rig(4);
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
  Rig rig(8);
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
    Rig rig(40, OutlierOptions(), seed);
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
  Rig rig(4);
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
    Rig rig(random.Below(12), options, seed);
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
