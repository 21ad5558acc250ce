#include "cluster/slow_start.h"

#include "support/catch.h"

namespace weft::cluster {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a host's weight while it starts slowly, by hand") {
  CHECK(SlowStartFactor(0s, 30s, 1) == Approx(0.1));
  CHECK(SlowStartFactor(2s, 30s, 1) == Approx(0.1));
  CHECK(SlowStartFactor(15s, 30s, 1) == Approx(0.5));
  CHECK(SlowStartFactor(27s, 30s, 1) == Approx(0.9));
  CHECK(SlowStartFactor(30s, 30s, 1) == 1);
  CHECK(SlowStartFactor(1h, 30s, 1) == 1);
  CHECK(SlowStartFactor(15s, 60s, 2) == Approx(0.5));     // (1/4)^(1/2)
  CHECK(SlowStartFactor(30s, 60s, 0.5) == Approx(0.25));  // (1/2)^2
}

TEST_CASE("a slow start without a window is none, and a clock that went back begins it") {
  CHECK(SlowStartFactor(0s, 0s, 1) == 1);
  CHECK(SlowStartFactor(-1s, 30s, 2) == Approx(0.1));
}

TEST_CASE("a host's weight never falls while it starts") {
  for (const double aggression : {0.3, 1.0, 1.5, 4.0}) {
    double last = 0;
    for (auto since = 0ms; since <= 31s; since += 100ms) {
      const double factor = SlowStartFactor(since, 30s, aggression);
      CHECK(factor >= last);
      CHECK(factor >= kLeastSlowStart);
      CHECK(factor <= 1);
      last = factor;
    }
    CHECK(last == 1);
  }
}

}  // namespace
}  // namespace weft::cluster
