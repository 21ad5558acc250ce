#include "support/sim_env.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "event/loop.h"
#include "support/catch.h"

namespace weft::inline v0::testing {
namespace {

using namespace std::chrono_literals;

class FunctionTimer final : public event::Timer {
 public:
  explicit FunctionTimer(std::function<void()> function) : function_(std::move(function)) {}
  ~FunctionTimer() = default;
  void OnTimer() override { function_(); }

 private:
  std::function<void()> function_;
};

class FunctionTask final : public event::Task {
 public:
  explicit FunctionTask(std::function<void()> function) : function_(std::move(function)) {}
  ~FunctionTask() = default;
  void Run() override { function_(); }

 private:
  std::function<void()> function_;
};

std::unique_ptr<event::Loop> MakeLoop(SimEnv& env, std::atomic<uint64_t>* slow_turns = nullptr) {
  return *env.NewLoop(0, slow_turns);
}

TEST_CASE("A timer fires at its time, and time jumps there") {
  SimEnv env;
  std::unique_ptr<event::Loop> loop = MakeLoop(env);
  std::vector<base::MonoTime> fired;
  FunctionTimer late([&] { fired.push_back(loop->now()); });
  FunctionTimer early([&] { fired.push_back(loop->now()); });
  const base::MonoTime start = env.Now();
  loop->Arm(&late, start + 24h);
  loop->Arm(&early, start + 3ms);
  env.RunFor(48h);
  CHECK(fired == std::vector<base::MonoTime>{start + 3ms, start + 24h});
  CHECK(env.Now() == start + 48h);
}

TEST_CASE("A turn has the phases of the contract") {
  SimEnv env;
  std::unique_ptr<event::Loop> loop = MakeLoop(env);
  std::string order;
  struct Dying final : event::Deferred {
    explicit Dying(std::string& to) : order(to) {}
    ~Dying() override { order += "d"; }
    std::string& order;
  };
  FunctionTask end([&] { order += "e"; });
  FunctionTask task([&] {
    order += "t";
    CHECK(loop->IsCurrent());
    CHECK(event::OnAnyLoop());
    loop->DeleteLater(std::make_unique<Dying>(order));
    loop->AtTurnEnd(&end);
  });
  FunctionTimer timer([&] { order += "T"; });
  loop->Post(&task);
  loop->Arm(&timer, env.Now());
  CHECK_FALSE(loop->IsCurrent());
  CHECK(order.empty());
  CHECK(env.RunUntilIdle());
  CHECK(order == "Tted");
  CHECK_FALSE(event::OnAnyLoop());
}

TEST_CASE("A loop may be destroyed in its own callback") {
  SimEnv env;
  std::unique_ptr<event::Loop> loop = MakeLoop(env);
  event::Loop* raw = loop.get();
  bool ran_after = false;
  bool current = false;
  FunctionTask last([&] { ran_after = true; });
  FunctionTask first([&] {
    loop.reset();
    current = raw->IsCurrent();
    raw->PostFunction([&] { ran_after = true; });
  });
  loop->Post(&first);
  loop->Post(&last);
  env.RunFor(1s);
  CHECK(current);
  CHECK_FALSE(ran_after);
  CHECK(env.loops().empty());
}

TEST_CASE("The same seed gives the same order of loops, another one another") {
  auto run = [](uint64_t seed) {
    SimEnv env(seed);
    std::vector<std::unique_ptr<event::Loop>> loops;
    std::string order;
    for (int i = 0; i < 4; ++i) loops.push_back(MakeLoop(env));
    for (int round = 0; round < 20; ++round) {
      for (int i = 0; i < 4; ++i) {
        loops[static_cast<size_t>(i)]->PostFunction([&order, i] { order += std::to_string(i); });
      }
      env.RunFor(1ms);
    }
    return std::pair(order, env.digest());
  };
  CHECK(run(7) == run(7));
  CHECK(run(7).first != run(8).first);
}

TEST_CASE("A stall makes timers late, a busy loop only its own") {
  SimEnv env;
  std::atomic<uint64_t> slow{0};
  std::unique_ptr<event::Loop> one = MakeLoop(env, &slow);
  std::unique_ptr<event::Loop> two = MakeLoop(env);
  const base::MonoTime start = env.Now();
  base::MonoTime fired_one, fired_two;
  FunctionTimer timer_one([&] { fired_one = one->now(); });
  FunctionTimer timer_two([&] { fired_two = two->now(); });
  SECTION("stall") {
    bool outside = false;
    one->Arm(&timer_one, start + 1s);
    two->Arm(&timer_two, start + 2s);
    env.After(5s, [&] { outside = true; });
    env.Stall(30s);
    CHECK(outside);
    CHECK(fired_one == base::MonoTime());
    env.RunFor(1s);
    CHECK(fired_one == start + 30s);
    CHECK(fired_two == start + 30s);
  }
  SECTION("busy") {
    one->PostFunction([&] { env.BusyFor(5s); });
    one->Arm(&timer_one, start + 1s);
    two->Arm(&timer_two, start + 1s);
    env.RunFor(10s);
    CHECK(fired_one == start + 5s);
    CHECK(fired_two == start + 1s);
    CHECK(slow == 1);
  }
}

TEST_CASE("The wall clock jumps without the other") {
  SimEnv env;
  const base::MonoTime mono = env.clock().Now();
  const absl::Time wall = env.clock().WallNow();
  env.StepWall(absl::Hours(-1));
  CHECK(env.clock().Now() == mono);
  CHECK(env.clock().WallNow() == wall - absl::Hours(1));
  env.RunFor(1s);
  CHECK(env.clock().WallNow() == wall - absl::Hours(1) + absl::Seconds(1));
}

TEST_CASE("RunUntil stops at the limit") {
  SimEnv env;
  const base::MonoTime start = env.Now();
  CHECK_FALSE(env.RunUntil([] { return false; }, 3s));
  CHECK(env.Now() == start + 3s);
  bool done = false;
  env.After(1s, [&] { done = true; });
  CHECK(env.RunUntil([&] { return done; }, 3s));
  CHECK(env.Now() == start + 4s);
}

TEST_CASE("Being busy without end is found out") {
  SimEnv env;
  std::unique_ptr<event::Loop> loop = MakeLoop(env);
  env.max_steps_per_instant = 1000;
  std::function<void()> again = [&] { loop->PostFunction([&] { again(); }); };
  again();
  CHECK_THROWS(env.RunFor(1s));
}

}  // namespace
}  // namespace weft::inline v0::testing
