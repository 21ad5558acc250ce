// SimEnv: a whole world in one thread: virtual time, loops, a network. The same seed gives the same run.
//
//   auto env = std::make_shared<SimEnv>();           // seed: WEFT_SEED where it is set, else 1
//   WEFT_SEED_INFO(*env);                            // every failed assertion of this scope shows the seed
//   env->network().Listen("10.0.0.1:80", [](SimServerStream peer) {   // most tests take a RogueServer instead
//     peer.OnBytes([peer](std::string_view bytes) mutable { peer.Write(bytes); });
//   });
//   FactoryOptions options{.env = env, ...};         // a client on it; its loops are SimLoops
//   env->RunFor(50ms);                               // time jumps from event to event
//   REQUIRE(env->RunUntil([&] { return done; }, 5s));
//   REQUIRE(env->RunUntilIdle());                    // nothing under way any more (timers that are not due do not count)
//   env->After(1s, [&] { ... });                     // outside of every loop, as another machine would do it
//
//   SimHost& host = env->network().host("10.0.0.1:80");
//   host.link.latency = 2s;                          // at once, for open connections too; also jitter, bandwidth, buffers
//   host.link.chunk = 1;                             // every byte arrives in a turn of its own
//   host.link.max_write = 1;                         // a Write takes one byte; .block_between_writes: then it blocks
//   host.FailDials(DialFault::kBlackHole);           // kRefuse, kReset, kUnreachable, kNoDescriptors; a count as 2nd argument
//   host.SetBlackHole(true);                         // dials and open connections: nothing comes through; false heals
//   host.ResetAll();  host.StopListening();          // a killed process
//   env->network().descriptor_limit = 3;             // EMFILE from the fourth on
//   host.stats.accepted, .open, .bytes_to_server     // see SimStats
//
//   env->StepWall(absl::Hours(1));                   // the wall clock jumps
//   env->Stall(30s);                                 // SIGSTOP: loops stand still, the network goes on; then all is late
//   env->BusyFor(5s);                                // within a callback: this callback takes 5 s, other loops go on
//   env->digest();                                   // of all that happened so far, to compare two runs
//
// The thread of the test is no loop: what it calls runs "on a thread of the user", between two events. Nothing may block in a
// simulation: use the asynchronous API.
#ifndef WEFT_TEST_SUPPORT_SIM_ENV_H_
#define WEFT_TEST_SUPPORT_SIM_ENV_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/random.h"
#include "base/time.h"
#include "net/env.h"
#include "support/sim_clock.h"
#include "support/sim_loop.h"
#include "support/sim_network.h"

// In a Catch2 test.
#define WEFT_SEED_INFO(env) INFO("to run it again: WEFT_SEED=" << (env).seed())

namespace weft::inline v0::testing {

// WEFT_SEED where the environment has it, else 1.
uint64_t TestSeed();

// Not thread-safe. As many as wanted in one process; they know nothing of each other.
class SimEnv final : public net::Env {
 public:
  explicit SimEnv(uint64_t seed = TestSeed());
  // Says the seed on stderr where a failed assertion unwinds the stack.
  ~SimEnv() override;

  const event::Clock& clock() const override { return clock_; }
  absl::StatusOr<std::unique_ptr<event::Loop>> NewLoop(int index,
                                                       std::atomic<uint64_t>* slow_turns) override;
  SimNetwork& network() override { return network_; }
  uint64_t NewSeed() override { return random_.Next(); }

  // For test code that needs chance of its own.
  base::Random& random() { return random_; }
  uint64_t seed() const { return seed_; }
  base::MonoTime Now() const { return clock_.Now(); }
  uint64_t digest() const { return digest_; }
  // Loops that exist, in order of their making.
  std::vector<SimLoop*> loops() const;
  SimEvents& events() { return events_; }

  // Not within a turn or an event ------------------------------------------------------------------------------
  void RunFor(base::MonoDuration time);
  // Until `done`, which is asked between any two steps. False where that is not before `limit` has passed.
  bool RunUntil(const std::function<bool()>& done, base::MonoDuration limit);
  // Until loops have nothing to do and no function is scheduled, bytes in flight among them. False where that is not before
  // `limit` has passed.
  bool RunUntilIdle(base::MonoDuration limit = std::chrono::hours(1));
  // Time passes without any turn; the network, servers and scheduled functions go on.
  void Stall(base::MonoDuration time);

  // Any time ---------------------------------------------------------------------------------------------------
  void After(base::MonoDuration delay, std::function<void()> function) {
    events_.After(delay, std::move(function));
  }
  void StepWall(absl::Duration step) { clock_.StepWall(step); }
  // Within a turn: it takes that long (SimLoop::BusyFor).
  void BusyFor(base::MonoDuration time);
  // How many steps one instant may have before the run is given up as a loop without end (by an exception).
  size_t max_steps_per_instant = 1'000'000;

 private:
  // One turn or one event, not after `limit`. False where there is none.
  bool Step(base::MonoTime limit);
  bool RunLoop();  // gives one of the loops that want it a turn
  void Note(uint64_t what);
  void DropDeadLoops();
  base::MonoTime NextTime() const;
  bool LoopsHaveWork() const;

  const uint64_t seed_;
  base::Random random_;
  base::Random order_;  // apart from random_, so that a new question does not change all that follows
  SimClock clock_;
  SimEvents events_{clock_};
  std::vector<std::shared_ptr<SimLoopCore>> cores_;
  SimLoopCore* current_ = nullptr;
  bool stalled_ = false;
  size_t steps_at_instant_ = 0;
  base::MonoTime last_step_;
  uint64_t digest_ = 14695981039346656037ULL;
  SimNetwork network_;
};

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_SUPPORT_SIM_ENV_H_
