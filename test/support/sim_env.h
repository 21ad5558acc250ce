// SimEnv: a whole world in one thread: virtual time, loops, a network. The same seed, the same run.
//
//   auto env = std::make_shared<SimEnv>();    // seed: WEFT_SEED where it is set, else 1
//   WEFT_SEED_INFO(*env);                     // failed assertions of this scope show the seed
//   RogueServer server(*env, "10.0.0.1:80");  // rogue_server.h; SimClient has the client's side
//   env->RunFor(50ms);                        // time jumps from event to event
//   REQUIRE(env->RunUntil([&] { return done; }, 5s));
//   REQUIRE(env->RunUntilIdle());             // nothing under way; timers to come do not count
//   env->After(1s, [&] { ... });              // outside of every loop, as another machine does it
//
//   SimHost& host = env->network().host("10.0.0.1:80");
//   host.link.latency = 2s;                   // at once, open connections too; jitter, bandwidth …
//   host.link.chunk = 1;                      // every byte arrives in a turn of its own
//   host.link.max_write = 1;                  // a Write takes one byte
//   host.link.block_between_writes = true;    // and then it blocks
//   host.FailDials(DialFault::kBlackHole, 2); // the next two; kRefuse, kReset, kUnreachable, …
//   host.SetBlackHole(true);                  // dials and open connections; false heals
//   host.ResetAll();  host.StopListening();   // a killed process
//   host.ListenSilently();                    // accepts and says nothing
//   env->network().descriptor_limit = 3;      // EMFILE from the fourth on
//   host.stats.accepted, .open, …             // SimStats; env->network().total() for all hosts
//
//   env->StepWall(absl::Hours(1));            // the wall clock jumps
//   env->Stall(30s);                          // SIGSTOP: loops stand still, the network goes on
//   env->BusyFor(5s);                         // within a callback: it takes 5 s, other loops go on
//   env->digest();                            // of all that happened, to compare two runs
//
// Servers without HTTP/2 are written on SimServerStream (sim_network.h):
//
//   env->network().Listen("10.0.0.1:80", [](SimServerStream peer) {
//     peer.OnBytes([peer](std::string_view bytes) mutable { peer.Write(bytes); });
//   });
//
// The thread of the test is no loop: what it calls runs "on a thread of the user", between two
// events. Nothing may block in a simulation: use the asynchronous API.
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
  bool has_threads() const override { return false; }

  // For test code that needs chance of its own.
  base::Random& random() { return random_; }
  uint64_t seed() const { return seed_; }
  base::MonoTime Now() const { return clock_.Now(); }
  uint64_t digest() const { return digest_; }
  // Loops that exist, in order of their making.
  std::vector<SimLoop*> loops() const;
  SimEvents& events() { return events_; }

  // Not within a turn or an event -------------------------------------------------------------
  void RunFor(base::MonoDuration time);
  // Until `done`, which is asked between any two steps. False where that is not before `limit` has
  // passed.
  bool RunUntil(const std::function<bool()>& done, base::MonoDuration limit);
  // Until loops have nothing to do and no function is scheduled, bytes in flight among them. False
  // where that is not before `limit` has passed.
  bool RunUntilIdle(base::MonoDuration limit = std::chrono::hours(1));
  // Time passes without any turn; the network, servers and scheduled functions go on.
  void Stall(base::MonoDuration time);

  // Any time ----------------------------------------------------------------------------------
  void After(base::MonoDuration delay, std::function<void()> function) {
    events_.After(delay, std::move(function));
  }
  void StepWall(absl::Duration step) { clock_.StepWall(step); }
  // Within a turn: it takes that long (SimLoop::BusyFor).
  void BusyFor(base::MonoDuration time);
  // How many steps one instant may have before the run is given up as a loop without end (by an
  // exception).
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
  base::Random
      order_;  // apart from random_, so that a new question does not change all that follows
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
