// SimLoop: event::Loop without a thread: a SimEnv gives it its turns.
#ifndef WEFT_TEST_SUPPORT_SIM_LOOP_H_
#define WEFT_TEST_SUPPORT_SIM_LOOP_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "event/loop.h"
#include "event/timer_heap.h"
#include "support/sim_clock.h"

namespace weft::inline v0::testing {

class SimLoop;

// What a loop consists of. Streams and the environment share it, so that they may outlive the loop.
class SimLoopCore : public std::enable_shared_from_this<SimLoopCore> {
 public:
  SimLoopCore(const SimClock& clock, base::Random random, std::atomic<uint64_t>* slow_turns)
      : clock_(clock), random_(random), slow_turns_(slow_turns) {}
  ~SimLoopCore();

  // Whether it has something to do now, were it allowed to run.
  bool HasWork() const;
  // When a timer of it is due; kNever where there is none.
  base::MonoTime next_timer() const { return timers_.next(); }
  // Not to run before that time.
  base::MonoTime busy_until() const { return busy_until_; }
  void Turn();

  // Runs `ready` in the descriptor phase of the next turn.
  void AddReady(std::function<void()> ready);
  void BusyFor(base::MonoDuration time);
  SimLoop* loop() const { return loop_; }
  bool alive() const { return !ended_; }
  uint64_t turns() const { return turns_; }

 private:
  friend class SimLoop;
  void RunTasks();
  void DeleteDeferred();
  void DropQueued();
  void StopInTurn();  // the loop is destroyed in a callback of its own
  void Stop();

  const SimClock& clock_;
  base::Random random_;
  std::atomic<uint64_t>* const slow_turns_;
  SimLoop* loop_ = nullptr;
  bool in_turn_ = false;
  bool ended_ = false;   // nothing is run any more
  bool orphan_ = false;  // destroyed in its own turn, whose end has to free it
  uint64_t turns_ = 0;
  base::MonoTime turn_time_;
  base::MonoTime busy_until_ = base::MonoTime::min();
  event::TimerHeap timers_;
  std::vector<std::function<void()>> ready_;
  event::TaskQueue posted_;
  event::TaskQueue running_;  // this turn's tasks
  event::TaskQueue turn_end_;
  std::vector<std::unique_ptr<event::Deferred>> deferred_;
};

// Phases as documented in event/loop.h. Where the contract leaves a choice (a task posted by a
// task: this turn or the next), the seed decides. Not thread-safe: the whole simulation is one
// thread.
class SimLoop final : public event::Loop {
 public:
  explicit SimLoop(std::shared_ptr<SimLoopCore> core);
  ~SimLoop() override = default;
  // As EpollLoop's: in a turn of its own the loop only stops; it lives to the turn's end.
  static void operator delete(SimLoop* loop, std::destroying_delete_t);

  const event::Clock& clock() const override;
  bool IsCurrent() const override;
  void Post(event::Task* task) override;
  base::MonoTime now() const override;
  void AtTurnEnd(event::Task* task) override;
  void DeleteLater(std::unique_ptr<event::Deferred> object) override;
  void Arm(event::Timer* timer, base::MonoTime at) override;
  void Disarm(event::Timer* timer) override;
  absl::Status Watch(int fd, event::FdWatcher* watcher) override;  // UNIMPLEMENTED
  void Unwatch(int fd, event::FdWatcher* watcher) override;

  // The turn that runs takes that long, as a slow callback would make it: the loop has no other
  // turn until then, while other loops and the network go on. Counted as a slow turn where it is
  // over 100 ms.
  void BusyFor(base::MonoDuration time) { core_->BusyFor(time); }
  const std::shared_ptr<SimLoopCore>& core() const { return core_; }

 private:
  const std::shared_ptr<SimLoopCore> core_;
};

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_SUPPORT_SIM_LOOP_H_
