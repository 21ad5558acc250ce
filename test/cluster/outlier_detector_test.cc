#include "cluster/outlier_detector.h"

#include <string>
#include <vector>

#include "cluster/outlier_rig.h"
#include "support/catch.h"

namespace weft::cluster {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using testing::kStart;
using testing::OutlierRig;
using testing::Plain;
using Kind = Outcome::Kind;
using State = OutlierDetector::State;
using Input = OutlierDetector::Input;
using Event = OutlierDetector::Event;

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
  OutlierRig rig(4);
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
  OutlierRig rig(4);
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
  OutlierRig rig(4);
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
  OutlierRig rig(4);
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
  OutlierRig rig(10);
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
    OutlierRig rig(row.hosts, options);
    for (size_t host = 0; host < row.hosts; ++host) rig.End(host, Kind::kError, 20);
    CHECK(rig.detector.ejected() == row.ejected);
    CHECK(rig.Count(Event::Kind::kEjected) == static_cast<int>(row.ejected));
    CHECK(rig.Count(Event::Kind::kSpared) == static_cast<int>(row.hosts - row.ejected));
  }
}

TEST_CASE("who was spared is ejected later, while it still fails and there is room") {
  OutlierRig rig(3);
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
  OutlierRig rig(4);
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
  OutlierRig rig(10);
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
  OutlierRig rig(10);
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
  OutlierRig rig(2);
  for (int i = 0; i < 15; ++i) {
    rig.End(1, Kind::kError, 4);
    rig.End(1, Kind::kOverloaded);
    rig.End(1, i < 10 ? Kind::kSuccess : Kind::kCensored);
  }
  CHECK(rig.StateOf(1) == State::kEjected);  // by the row without a success, at its fifth
  OutlierRig other(2);
  for (int i = 0; i < 20; ++i) {
    other.End(1, Kind::kSuccess);
    other.End(1, Kind::kError, 4);
  }
  other.Intervals(1);
  CHECK(other.StateOf(1) == State::kHealthy);  // 80 %
  OutlierOptions strict = Plain();
  strict.failure_percentage_threshold = 80;
  OutlierRig third(2, strict);
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
  OutlierRig rig(3);
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

}  // namespace
}  // namespace weft::cluster
