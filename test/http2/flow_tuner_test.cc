#include "http2/flow_tuner.h"

#include "support/catch.h"

namespace weft::http2 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr base::MonoTime kStart{seconds(100)};

TEST_CASE("a window doubles when a round trip fills more than two thirds of it") {
  FlowTuner tuner({3000, 9000}, {100000, 100000});
  REQUIRE(tuner.OnReceived(1500, kStart));
  FlowTuner::Sample sample;
  const size_t stream_bytes = GENERATE(2000, 2001);
  const size_t connection_bytes = GENERATE(6000, 6001);
  tuner.OnConsumed(sample, 1000);
  tuner.OnConsumed(sample, stream_bytes - 1000);
  CHECK_FALSE(tuner.OnReceived(connection_bytes, kStart));
  const bool stream_grows = stream_bytes > 2000;
  const bool connection_grows = connection_bytes > 6000;
  CHECK(tuner.OnProbeAcknowledged(kStart + milliseconds(10)) == (stream_grows || connection_grows));
  CHECK(tuner.windows().stream == (stream_grows ? 6000u : 3000u));
  CHECK(tuner.windows().connection == (connection_grows ? 18000u : 9000u));
}

TEST_CASE("a stream's window counts one reader, not all of them, and not one that pauses") {
  FlowTuner tuner({3000, 1000000}, {100000, 1000000});
  REQUIRE(tuner.OnReceived(5000, kStart));
  FlowTuner::Sample first;
  FlowTuner::Sample second;
  tuner.OnReceived(100000, kStart);  // arrives, but nobody takes it
  tuner.OnConsumed(first, 1500);
  tuner.OnConsumed(second, 1500);
  CHECK_FALSE(tuner.OnProbeAcknowledged(kStart));
  CHECK(tuner.windows().stream == 3000);
}

TEST_CASE("a sample begins anew with each probe") {
  FlowTuner tuner({3000, 1000000}, {100000, 1000000});
  FlowTuner::Sample sample;
  base::MonoTime now = kStart;
  for (int i = 0; i < 5; ++i) {
    REQUIRE(tuner.OnReceived(1500, now));
    tuner.OnConsumed(sample, 1500);
    CHECK_FALSE(tuner.OnProbeAcknowledged(now));
    now += seconds(20);
  }
}

TEST_CASE("windows stop at their maximum, and then there are no probes") {
  FlowTuner tuner({3000, 3000}, {10000, 5000});
  base::MonoTime now = kStart;
  FlowTuner::Sample sample;
  int probes = 0;
  for (int i = 0; i < 100; ++i) {
    now += seconds(20);
    if (tuner.OnReceived(100000, now)) {
      ++probes;
      tuner.OnReceived(100000, now);
      tuner.OnConsumed(sample, 100000);
      tuner.OnProbeAcknowledged(now);
    }
  }
  CHECK(tuner.windows().stream == 10000);
  CHECK(tuner.windows().connection == 5000);
  CHECK(probes == 2);
}

TEST_CASE("a maximum below the beginning means that nothing grows") {
  FlowTuner tuner({3000, 3000}, {10, 10});
  CHECK_FALSE(tuner.OnReceived(100000, kStart));
  CHECK(tuner.windows().stream == 3000);
}

TEST_CASE("probes are rare: never for little data, one at a time, ever rarer without need") {
  FlowTuner tuner({30000, 30000}, {100000, 100000});
  CHECK_FALSE(tuner.OnReceived(14999, kStart));
  CHECK(tuner.OnReceived(1, kStart));
  CHECK_FALSE(tuner.OnReceived(1 << 20, kStart + seconds(100)));  // not acknowledged yet
  CHECK(tuner.OnProbeAcknowledged(kStart));
  CHECK_FALSE(tuner.OnProbeAcknowledged(kStart));  // once
  base::MonoTime now = kStart;
  int probes = 0;
  for (; now < kStart + seconds(100); now += milliseconds(1)) {
    if (tuner.OnReceived(30000, now)) {
      ++probes;
      tuner.OnProbeAcknowledged(now);
    }
  }
  CHECK(probes >= 14);
  CHECK(probes <= 18);
}

}  // namespace
}  // namespace weft::http2
