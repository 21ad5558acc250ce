#include "cluster/watched_health.h"

#include "support/catch.h"

namespace weft::cluster {
namespace {

using namespace std::chrono_literals;
using End = WatchedHealth::End;
using http::ServingStatus;

constexpr base::MonoTime kStart{1000s};

TEST_CASE("what a host says of itself counts at once") {
  WatchedHealth health(base::Random(1), kStart);
  CHECK(health.state() == HealthState::kUnknown);
  CHECK(health.next() == kStart);
  health.OnStart(kStart);
  CHECK(health.next() == base::kNever);
  for (const auto& [status, state] :
       {std::pair(ServingStatus::kServing, HealthState::kHealthy),
        std::pair(ServingStatus::kNotServing, HealthState::kUnhealthy),
        std::pair(ServingStatus::kServing, HealthState::kHealthy),
        std::pair(ServingStatus::kUnknown, HealthState::kUnhealthy),
        std::pair(ServingStatus::kServing, HealthState::kHealthy),
        std::pair(ServingStatus::kServiceUnknown, HealthState::kUnhealthy)}) {
    health.OnStatus(status);
    CHECK(health.state() == state);
    CHECK(health.next() == base::kNever);
  }
}

TEST_CASE("one that has no such method is healthy, and asked again on the next connection only") {
  WatchedHealth health(base::Random(1), kStart);
  health.OnStart(kStart);
  health.OnEnd(End::kUnimplemented, kStart + 1ms);
  CHECK(health.state() == HealthState::kHealthy);
  CHECK(health.next() == base::kNever);
  health.OnConnected(kStart + 1h);
  CHECK(health.state() == HealthState::kUnknown);
  CHECK(health.next() == kStart + 1h);
}

TEST_CASE("streams that fail are apart by a back-off, and a new connection begins anew") {
  WatchedHealth health(base::Random(1), kStart);
  base::MonoTime now = kStart;
  double mean = 1;
  for (int i = 0; i < 20; ++i) {
    CAPTURE(i);
    health.OnStart(now);
    health.OnEnd(End::kFailed, now);
    CHECK(health.state() == HealthState::kUnhealthy);
    const double pause = std::chrono::duration<double>(health.next() - now).count();
    CHECK(pause >= 0.799 * mean);
    CHECK(pause <= 1.201 * mean);
    mean = std::min(120.0, mean * 1.6);
    now = health.next();
  }
  CHECK(mean == 120.0);
  health.OnConnected(now);
  CHECK(health.next() == now);
  health.OnStart(now);
  health.OnEnd(End::kFailed, now);
  CHECK(health.next() <= now + 1200ms);
}

TEST_CASE("a stream that had said something is followed by the next at once, but for a second") {
  WatchedHealth health(base::Random(1), kStart);
  health.OnStart(kStart);
  health.OnStatus(ServingStatus::kServing);
  health.OnEnd(End::kFailed, kStart + 1h);
  CHECK(health.state() == HealthState::kUnhealthy);
  CHECK(health.next() == kStart + 1h);
  // That one says nothing.
  health.OnStart(kStart + 1h);
  health.OnEnd(End::kFailed, kStart + 1h);
  CHECK(health.next() >= kStart + 1h + 800ms);
  CHECK(health.next() <= kStart + 1h + 1200ms);
  // One that ends as soon as it has said something.
  base::MonoTime now = kStart + 2h;
  for (int i = 0; i < 10; ++i) {
    health.OnStart(now);
    health.OnStatus(ServingStatus::kServing);
    CHECK(health.state() == HealthState::kHealthy);
    health.OnEnd(End::kFailed, now + 1ms);
    CHECK(health.state() == HealthState::kUnhealthy);
    CHECK(health.next() >= now + 800ms);
    CHECK(health.next() <= now + 1200ms);
    now = health.next();
  }
}

TEST_CASE("with its connection all that is known of a host is gone") {
  WatchedHealth health(base::Random(1), kStart);
  health.OnStart(kStart);
  health.OnStatus(ServingStatus::kServing);
  health.OnEnd(End::kLost, kStart + 1h);
  CHECK(health.state() == HealthState::kUnknown);
  CHECK(health.next() == kStart + 1h);
  health.OnNotConnected();
  CHECK(health.next() == base::kNever);
  health.OnConnected(kStart + 2h);
  CHECK(health.next() == kStart + 2h);
  // Connections that end at once: the stream waits for the next one, or a second.
  health.OnStart(kStart + 2h);
  health.OnEnd(End::kLost, kStart + 2h);
  CHECK(health.next() >= kStart + 2h + 800ms);
}

}  // namespace
}  // namespace weft::cluster
