#include "cluster/host_health.h"

#include <atomic>
#include <thread>
#include <vector>

#include "support/catch.h"

namespace weft::cluster {
namespace {

using namespace std::chrono_literals;
using Kind = Outcome::Kind;

constexpr base::MonoTime kStart{1000s};

// One after the other, a tenth of a second apart, so that each is one.
class Ends {
 public:
  explicit Ends(HostHealth& health) : health_(health) {}
  bool Add(Outcome outcome) {
    now += 100ms;
    return health_.Add(outcome, now);
  }
  bool Add(Kind kind) { return Add(Outcome{.kind = kind, .took = 1ms}); }
  base::MonoTime now = kStart;

 private:
  HostHealth& health_;
};

TEST_CASE("what each kind of end counts as") {
  struct Row {
    Kind kind;
    uint32_t successes, failures, overloaded;
    uint32_t exact, at_least;
    uint32_t in_row, not_connected;  // after three of each
  };
  const std::vector<Row> table = {
      {Kind::kSuccess, 1, 0, 0, 1, 0, 0, 0},    {Kind::kError, 0, 1, 0, 0, 0, 4, 0},
      {Kind::kOverloaded, 0, 0, 1, 0, 0, 3, 0}, {Kind::kTimeout, 0, 1, 0, 0, 1, 4, 3},
      {Kind::kLost, 0, 1, 0, 0, 0, 4, 0},       {Kind::kNotConnected, 0, 0, 0, 0, 0, 3, 4},
      {Kind::kCensored, 0, 0, 0, 0, 1, 3, 3},   {Kind::kUnprocessed, 0, 0, 0, 0, 0, 3, 3},
  };
  for (const Row& row : table) {
    CAPTURE(static_cast<int>(row.kind));
    HostHealth health(100);
    Ends ends(health);
    for (int i = 0; i < 3; ++i) (void)ends.Add(Kind::kError);
    for (int i = 0; i < 3; ++i) (void)ends.Add(Kind::kNotConnected);
    (void)health.Take();
    CHECK_FALSE(ends.Add(Outcome{.kind = row.kind, .took = 20ms}));
    CHECK(health.failures_in_row() == row.in_row);
    CHECK(health.not_connected_in_row() == row.not_connected);
    const HostInterval interval = health.Take();
    CHECK(interval.successes == row.successes);
    CHECK(interval.failures == row.failures);
    CHECK(interval.overloaded == row.overloaded);
    CHECK(interval.Requests() == row.successes + row.failures + row.overloaded);
    CHECK(interval.latency.exact[LatencyCounts::BucketOf(20ms)] == row.exact);
    CHECK(interval.latency.at_least[LatencyCounts::BucketOf(20ms)] == row.at_least);
    CHECK(interval.latency.Samples() == row.exact + row.at_least);
  }
}

TEST_CASE("so many failures in a row trip, once") {
  HostHealth health(5);
  Ends ends(health);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) CHECK_FALSE(ends.Add(i % 2 == 0 ? Kind::kError : Kind::kTimeout));
    CHECK_FALSE(health.tripped());
    CHECK(ends.Add(Kind::kLost));
    CHECK(health.last_failure() == Kind::kLost);
    for (int i = 0; i < 20; ++i) CHECK_FALSE(ends.Add(Kind::kError));
    CHECK(health.failures_in_row() == 25);
    CHECK(health.tripped());
    CHECK_FALSE(ends.Add(Kind::kSuccess));
    CHECK(health.failures_in_row() == 0);
    CHECK_FALSE(health.tripped());
  }
}

TEST_CASE("a success begins the count anew, what says nothing does not") {
  HostHealth health(5);
  Ends ends(health);
  for (int i = 0; i < 4; ++i) CHECK_FALSE(ends.Add(Kind::kError));
  CHECK_FALSE(ends.Add(Kind::kSuccess));
  for (int i = 0; i < 4; ++i) CHECK_FALSE(ends.Add(Kind::kError));
  for (Kind kind : {Kind::kCensored, Kind::kUnprocessed, Kind::kOverloaded, Kind::kNotConnected})
    CHECK_FALSE(ends.Add(kind));
  CHECK(ends.Add(Kind::kError));
}

TEST_CASE("a host that has too much to do never trips") {
  HostHealth health(1);
  Ends ends(health);
  for (int i = 0; i < 100; ++i) CHECK_FALSE(ends.Add(Kind::kOverloaded));
  CHECK(health.Take().overloaded == 100);
}

TEST_CASE("errors of local origin have a row of their own") {
  HostHealth health(3);
  Ends ends(health);
  for (Kind kind : {Kind::kError, Kind::kNotConnected, Kind::kTimeout, Kind::kNotConnected})
    CHECK_FALSE(ends.Add(kind));
  CHECK_FALSE(health.tripped());
  CHECK(ends.Add(Kind::kNotConnected));
  CHECK(health.tripped());
  CHECK(health.failures_in_row() == 2);
}

TEST_CASE("what ends with one connection is one failure") {
  HostHealth health(3);
  base::MonoTime now = kStart;
  for (int lost = 0; lost < 2; ++lost) {
    for (int i = 0; i < 50; ++i) CHECK_FALSE(health.Add({.kind = Kind::kLost}, now + i * 100us));
    for (int i = 0; i < 50; ++i)
      CHECK_FALSE(health.Add({.kind = Kind::kNotConnected}, now + i * 100us));
    now += HostHealth::kOnce;
  }
  CHECK(health.failures_in_row() == 2);
  CHECK(health.Take().failures == 2);
  CHECK(health.Add({.kind = Kind::kLost}, now));
  // Answers are each one of their own.
  HostHealth errors(3);
  CHECK_FALSE(errors.Add({.kind = Kind::kError}, now));
  CHECK_FALSE(errors.Add({.kind = Kind::kError}, now));
  CHECK(errors.Add({.kind = Kind::kError}, now));
}

TEST_CASE("what was noticed late is held against nobody") {
  CHECK_FALSE(NoticedLate(kStart, kStart));
  CHECK_FALSE(NoticedLate(kStart, kStart - 1s));
  CHECK_FALSE(NoticedLate(kStart, kStart + kLateAfter));
  CHECK(NoticedLate(kStart, kStart + kLateAfter + 1ns));
  CHECK_FALSE(NoticedLate(base::kNever, kStart));

  HostHealth health(1);
  Ends ends(health);
  for (Kind kind : {Kind::kTimeout, Kind::kLost, Kind::kNotConnected, Kind::kError,
                    Kind::kOverloaded, Kind::kCensored})
    CHECK_FALSE(ends.Add(Outcome{.kind = kind, .took = 1h, .noticed_late = true}));
  HostInterval interval = health.Take();
  CHECK(interval.Requests() == 0);
  CHECK(interval.latency.Samples() == 0);
  // An answer is one, though nobody knows how long it took.
  CHECK_FALSE(ends.Add(Outcome{.kind = Kind::kSuccess, .took = 1h, .noticed_late = true}));
  interval = health.Take();
  CHECK(interval.successes == 1);
  CHECK(interval.latency.Samples() == 0);
}

TEST_CASE("a limit of none never trips, but for a trial") {
  HostHealth health(0);
  Ends ends(health);
  for (int i = 0; i < 100; ++i) CHECK_FALSE(ends.Add(Kind::kError));
  health.Return(ends.now, 5);
  CHECK(ends.Add(Kind::kError));
}

TEST_CASE("a host that returned trips at its first failure until it has proven itself") {
  for (Kind kind : {Kind::kError, Kind::kTimeout, Kind::kLost, Kind::kNotConnected}) {
    HostHealth health(5);
    Ends ends(health);
    for (int i = 0; i < 4; ++i) (void)ends.Add(Kind::kError);
    health.Return(ends.now, 3);
    CHECK(health.on_trial());
    CHECK(health.Take().Requests() == 0);
    CHECK_FALSE(ends.Add(Kind::kSuccess));
    CHECK_FALSE(ends.Add(Kind::kSuccess));
    CHECK_FALSE(ends.Add(Kind::kOverloaded));
    CHECK_FALSE(health.tripped());
    CHECK(ends.Add(kind));
    CHECK(health.tripped());

    health.Return(ends.now, 3);
    for (int i = 0; i < 3; ++i) CHECK_FALSE(ends.Add(Kind::kSuccess));
    CHECK_FALSE(health.on_trial());
    CHECK_FALSE(ends.Add(kind));
  }
}

TEST_CASE("what was started before the host returned proves nothing") {
  HostHealth health(1);
  Ends ends(health);
  health.Return(ends.now, 1);
  CHECK_FALSE(ends.Add(Outcome{.kind = Kind::kTimeout, .took = 101ms}));
  CHECK_FALSE(ends.Add(Outcome{.kind = Kind::kSuccess, .took = 201ms}));
  CHECK(health.on_trial());
  CHECK(ends.Add(Outcome{.kind = Kind::kTimeout, .took = 300ms}));
  CHECK_FALSE(ends.Add(Outcome{.kind = Kind::kSuccess, .took = 400ms}));
  CHECK_FALSE(health.on_trial());
}

TEST_CASE("many threads end attempts while the detector reads") {
  constexpr int kThreads = 4;
  constexpr int kEach = 10'000;
  HostHealth health(10);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const base::MonoTime now = kStart + i * 1ms;
        (void)health.Add({.kind = t == 0 ? Kind::kSuccess : Kind::kError, .took = 1us}, now);
        (void)health.Add({.kind = t % 2 == 0 ? Kind::kLost : Kind::kNotConnected}, now);
      }
    });
  }
  uint64_t successes = 0;
  uint64_t failures = 0;
  const auto take = [&] {
    const HostInterval interval = health.Take();
    successes += interval.successes;
    failures += interval.failures;
  };
  for (int i = 0; i < 100; ++i) take();
  for (std::thread& thread : threads) thread.join();
  take();
  CHECK(successes == kEach);
  CHECK(failures >= (kThreads - 1) * kEach);
  // Of the losses no more than one in each 10 ms, for threads that are behind each other.
  CHECK(failures <= (kThreads - 1) * kEach + 2 * kEach);
}

TEST_CASE("of failures that meet one trips") {
  HostHealth health(5000);
  std::atomic<int> trips{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2500; ++i) {
        if (health.Add({.kind = Kind::kError}, kStart)) trips.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(trips.load() == 1);
  CHECK(health.failures_in_row() == 10'000);
}

}  // namespace
}  // namespace weft::cluster
