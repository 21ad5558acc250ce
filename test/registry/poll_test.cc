// What happens where a Poll ends: file_resolver_test.cc.
#include "registry/poll.h"

#include <chrono>
#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "support/catch.h"
#include "support/sim_env.h"

namespace weft::inline v0::registry {
namespace {

using std::chrono::milliseconds;

TEST_CASE("a poll looks in the next turn, then each interval", "[poll]") {
  testing::SimEnv env;
  const std::unique_ptr<event::Loop> loop = *env.NewLoop(0, nullptr);
  int looks = 0;
  Poll poll(*loop, absl::Milliseconds(100));
  poll.Start([&] {
    CHECK(loop->IsCurrent());
    ++looks;
  });
  CHECK(looks == 0);
  env.RunUntilIdle();
  CHECK(looks == 1);
  env.RunFor(milliseconds(99));
  CHECK(looks == 1);
  env.RunFor(milliseconds(1));
  CHECK(looks == 2);
  env.RunFor(milliseconds(1000));
  CHECK(looks == 12);
}

TEST_CASE("a poll lets go of what it was given, at once or after the look under way", "[poll]") {
  testing::SimEnv env;
  const std::unique_ptr<event::Loop> loop = *env.NewLoop(0, nullptr);
  auto held = std::make_shared<int>(0);
  auto poll = std::make_unique<Poll>(*loop, absl::Milliseconds(100));
  bool within = false;
  poll->Start([&, keep = held] {
    if (!within) return;
    poll.reset();
    CHECK(held.use_count() == 2);
  });
  env.RunUntilIdle();
  SECTION("at once") {
    poll.reset();
    CHECK(held.use_count() == 1);
  }
  SECTION("within a look") {
    within = true;
    env.RunFor(milliseconds(100));
    CHECK(poll == nullptr);
    CHECK(held.use_count() == 1);
  }
}

}  // namespace
}  // namespace weft::inline v0::registry
