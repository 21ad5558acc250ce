#include "support/sim_loop.h"

#include <utility>

#include "absl/status/status.h"
#include "base/check.h"

namespace weft::inline v0::testing {

// Turns ---------------------------------------------------------------------------------------

SimLoopCore::~SimLoopCore() { WEFT_DCHECK(deferred_.empty()); }

bool SimLoopCore::HasWork() const {
  return !ready_.empty() || !posted_.empty() || !turn_end_.empty() || !deferred_.empty() ||
         timers_.next() <= clock_.Now();
}

void SimLoopCore::AddReady(std::function<void()> ready) {
  if (alive()) ready_.push_back(std::move(ready));
}

void SimLoopCore::BusyFor(base::MonoDuration time) {
  busy_until_ = base::After(clock_.Now(), time);
  if (time > std::chrono::milliseconds(100) && slow_turns_ != nullptr && alive()) ++*slow_turns_;
}

void SimLoopCore::Turn() {
  const std::shared_ptr<SimLoopCore> self = shared_from_this();
  {
    event::CurrentLoop scope(loop_);
    in_turn_ = true;
    ++turns_;
    turn_time_ = clock_.Now();
    std::vector<std::function<void()>> ready = std::exchange(ready_, {});
    for (std::function<void()>& function : ready) {
      if (alive()) function();
    }
    timers_.RunDue(turn_time_);
    RunTasks();
    while (event::Task* task = turn_end_.Pop()) task->Run();
    DeleteDeferred();
    in_turn_ = false;
    if (orphan_) DropQueued();
  }
  if (!orphan_) return;
  loop_->~SimLoop();
  ::operator delete(loop_);
}

void SimLoopCore::RunTasks() {
  // Tasks that tasks post run now or in the next turn, as chance has it.
  const uint64_t rounds = 1 + random_.Below(2);
  for (uint64_t i = 0; i < rounds; ++i) {
    running_ = std::exchange(posted_, event::TaskQueue());
    while (event::Task* task = running_.Pop()) task->Run();
  }
}

void SimLoopCore::DeleteDeferred() {
  while (!deferred_.empty()) {
    std::vector<std::unique_ptr<event::Deferred>> dying = std::exchange(deferred_, {});
    for (std::unique_ptr<event::Deferred>& object : dying) object.reset();
  }
}

void SimLoopCore::DropQueued() {
  running_.DropAll();
  turn_end_.DropAll();
  posted_.DropAll();
}

void SimLoopCore::StopInTurn() {
  ended_ = orphan_ = true;
  ready_.clear();
  timers_.Clear();
  DropQueued();
}

void SimLoopCore::Stop() {
  event::CurrentLoop scope(loop_);
  ended_ = true;
  ready_.clear();
  do {  // what is dropped may bring up something to delete, and the other way round
    DropQueued();
    DeleteDeferred();
  } while (!deferred_.empty());
  timers_.Clear();
}

// The interface -------------------------------------------------------------------------------

SimLoop::SimLoop(std::shared_ptr<SimLoopCore> core) : core_(std::move(core)) {
  core_->loop_ = this;
}

void SimLoop::operator delete(SimLoop* loop, std::destroying_delete_t) {
  if (loop->core_->in_turn_) return loop->core_->StopInTurn();
  loop->core_->Stop();
  loop->~SimLoop();
  ::operator delete(loop);
}

const event::Clock& SimLoop::clock() const { return core_->clock_; }

bool SimLoop::IsCurrent() const { return event::CurrentLoop::Get() == this; }

void SimLoop::Post(event::Task* task) {
  if (core_->ended_) return task->Drop();
  core_->posted_.Push(task);
}

base::MonoTime SimLoop::now() const {
  return core_->in_turn_ ? core_->turn_time_ : core_->clock_.Now();
}

void SimLoop::AtTurnEnd(event::Task* task) {
  if (core_->ended_) return task->Drop();
  WEFT_DCHECK(IsCurrent());
  core_->turn_end_.Push(task);
}

void SimLoop::DeleteLater(std::unique_ptr<event::Deferred> object) {
  core_->deferred_.push_back(std::move(object));
}

void SimLoop::Arm(event::Timer* timer, base::MonoTime at) {
  if (!core_->ended_) core_->timers_.Arm(timer, at);
}

void SimLoop::Disarm(event::Timer* timer) { core_->timers_.Disarm(timer); }

absl::Status SimLoop::Watch(int, event::FdWatcher*) {
  return absl::UnimplementedError("a simulated loop has no descriptors");
}

void SimLoop::Unwatch(int, event::FdWatcher*) {}

}  // namespace weft::inline v0::testing
