// Loop: one thread's worth of readiness, timers and tasks. EpollLoop is the real one; tests have a
// simulated one.
//
// A turn is: wait; descriptors that are ready; timers that are due; tasks (user callbacks among
// them); turn-end tasks (here strands send what the callbacks submitted, in one write each);
// objects whose deletion was deferred. Time stands still within a turn. No lock of Weft's is held
// while a task runs.
#ifndef WEFT_LIB_EVENT_LOOP_H_
#define WEFT_LIB_EVENT_LOOP_H_

#include <memory>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/time.h"
#include "event/clock.h"
#include "event/timer_heap.h"

namespace weft::inline v0::event {

// Something to run once on a loop's thread. Embedded in its owner, which keeps it alive until it
// ran or the loop ended; from the moment Run or Drop is entered it may be posted again or
// destroyed. Not posted twice at a time.
class Task {
 public:
  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  virtual void Run() = 0;
  // Instead of Run, where the loop ends first: for tasks that nobody else would free.
  virtual void Drop() {}

 protected:
  ~Task() = default;

 private:
  friend class TaskQueue;
  Task* next_ = nullptr;
};

// Told about edges: what is ready now and was not, or is again since the last read or write that
// blocked.
class FdWatcher {
 public:
  // `readable` also where the peer closed its side or the descriptor failed: reading tells.
  virtual void OnReady(bool readable, bool writable) = 0;
  // Just before an OnReady: the peer closed its side or the descriptor failed. The end brings no
  // other edge, so a short read does not mean that it is safe to wait for one. Only to take note
  // of: nothing is unwatched here.
  virtual void OnHangup() {}

 protected:
  ~FdWatcher() = default;
};

// Base of what is deleted at the end of a turn.
class Deferred {
 public:
  virtual ~Deferred() = default;
};

class Loop {
 public:
  virtual ~Loop() = default;

  // Any thread
  // ------------------------------------------------------------------------------------------------
  virtual const Clock& clock() const = 0;
  // Whether the caller runs within a turn of this loop.
  virtual bool IsCurrent() const = 0;
  // Runs `task` in this turn's or the next turn's task phase, in the order of posting (of each
  // thread). Once the loop's destruction began it is never run, but dropped.
  virtual void Post(Task* task) = 0;
  // The same for a closure (one allocation); destroyed unrun where it is dropped.
  void PostFunction(absl::AnyInvocable<void() &&> function);

  // The loop's thread only
  // ------------------------------------------------------------------------------------ The time
  // of this turn.
  virtual base::MonoTime now() const = 0;
  // Runs `task` at the end of this turn, after the tasks.
  virtual void AtTurnEnd(Task* task) = 0;
  virtual void DeleteLater(std::unique_ptr<Deferred> object) = 0;
  virtual void Arm(Timer* timer, base::MonoTime at) = 0;
  virtual void Disarm(Timer* timer) = 0;
  // Edge-triggered, for both directions, from now on. RESOURCE_EXHAUSTED where the kernel refuses;
  // UNIMPLEMENTED in a simulation.
  virtual absl::Status Watch(int fd, FdWatcher* watcher) = 0;
  // After it the watcher is not called any more, not even for what this turn's wait had already
  // found.
  virtual void Unwatch(int fd, FdWatcher* watcher) = 0;

  // Another thread, not in a turn of any loop. Waits for the threads that were relieved of this
  // loop while they were in user code, with all that they do in the rest of their tasks.
  virtual void AwaitRelieved() {}
};

class Tenure;

// While it lives, the calling thread is within a turn of `loop`: what IsCurrent and OnAnyLoop go
// by. For loops only.
class CurrentLoop {
 public:
  // `tenure` null: the loop is never taken from this thread.
  explicit CurrentLoop(Loop* loop, Tenure* tenure = nullptr);
  ~CurrentLoop();
  CurrentLoop(const CurrentLoop&) = delete;
  CurrentLoop& operator=(const CurrentLoop&) = delete;
  // Null outside any turn, and where the loop was taken from the thread.
  static Loop* Get();

 private:
  friend class UserCode;
  friend class WeftCode;
  friend bool OnAnyLoop();
  static Tenure* tenure();

  Loop* const loop_;
  Tenure* const tenure_;
  CurrentLoop* const outer_;
};

// Around every call of user code on a loop's thread, from a task that holds nothing: while it runs,
// another thread may take the loop over.
class UserCode {
 public:
  UserCode();
  ~UserCode();
  UserCode(const UserCode&) = delete;
  UserCode& operator=(const UserCode&) = delete;
};

// In every public function that user code may call: when it returns, user code goes on. (Where one
// has none, the loop is only not taken over any more until the user code has returned.)
class WeftCode {
 public:
  WeftCode() = default;
  ~WeftCode();
  WeftCode(const WeftCode&) = delete;
  WeftCode& operator=(const WeftCode&) = delete;
};

// Whether the calling thread is within a turn of any loop (where blocking would be a deadlock).
bool OnAnyLoop();

// Intrusive FIFO of tasks; not thread-safe.
class TaskQueue {
 public:
  bool empty() const { return head_ == nullptr; }
  void Push(Task* task);
  Task* Pop();                    // null where empty
  void Append(TaskQueue& other);  // which is empty afterwards
  void DropAll();                 // also those that are pushed meanwhile
  // Links of a LIFO chain that several threads pushed, turned around.
  static TaskQueue FromLifo(Task* chain);
  static void SetNext(Task* task, Task* next) { task->next_ = next; }

 private:
  Task* head_ = nullptr;
  Task* tail_ = nullptr;
};

}  // namespace weft::inline v0::event

#endif  // WEFT_LIB_EVENT_LOOP_H_
