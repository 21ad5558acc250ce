// What an EpollLoop consists of; only its own sources include this.
#ifndef WEFT_LIB_EVENT_EPOLL_CORE_H_
#define WEFT_LIB_EVENT_EPOLL_CORE_H_

#include <pthread.h>
#include <sys/epoll.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "event/clock.h"
#include "event/epoll_loop.h"
#include "event/loop.h"
#include "event/standby.h"
#include "event/tenure.h"
#include "event/timer_heap.h"

namespace weft::inline v0::event {

class EpollLoop::Core final : private Standby::Ward {
 public:
  Core(std::string name, std::atomic<uint64_t>* slow_turns, std::shared_ptr<Standby> standby)
      : name_(std::move(name)), slow_turns_(slow_turns), standby_(std::move(standby)) {}
  ~Core();

  absl::Status Open();
  absl::Status StartThread(EpollLoop* loop);
  void StopAndJoin();  // from any other thread
  void StopOnThread();
  void AwaitRelieved();

  const Clock& clock() const { return clock_; }
  base::MonoTime now() const { return now_; }
  void PostHere(Task* task);
  void PostFromElsewhere(Task* task);
  void AtTurnEnd(Task* task);
  void DeleteLater(std::unique_ptr<Deferred> object) { deferred_.push_back(std::move(object)); }
  void Arm(Timer* timer, base::MonoTime at);
  void Disarm(Timer* timer) { timers_.Disarm(timer); }
  absl::Status Watch(int fd, FdWatcher* watcher);
  void Unwatch(int fd, FdWatcher* watcher);

 private:
  // One for each number of a descriptor. The generation tells the events of its watches apart.
  struct Slot {
    FdWatcher* watcher = nullptr;
    uint32_t generation = 0;
  };

  static constexpr int kMaxEvents = 256;
  static Task* Asleep() { return reinterpret_cast<Task*>(uintptr_t{1}); }

  // One thread of the loop, the first or one that takes over.
  struct Thread;
  static void* ThreadMain(void* thread);
  // It waits until it is told what to do. An error number.
  int NewThread(EpollLoop* loop, std::shared_ptr<Thread>* made);
  // Standby::Ward
  uint64_t entry() const override;
  void Relieve() override;
  void LookAfterNoMore();

  // Each returns early where the loop was taken from the calling thread: then nothing of it is
  // touched any more.
  void Run(const Thread& thread);
  void Turn(const Thread& thread);
  void FinishTurn(const Thread& thread);  // from the tasks on
  void RunTasks(const Thread& thread);
  void TakeTasks();
  void Wait();
  bool TimerIsDue();
  static void WriteTo(int eventfd);
  void AwaitWakers();
  void RunEvents();
  void RunTurnEnd();
  void DeleteDeferred();
  void DropQueued();
  TaskQueue TakePosted();

  const std::string name_;
  std::atomic<uint64_t>* const slow_turns_;
  const std::shared_ptr<Standby> standby_;
  const SystemClock clock_{};
  int epoll_ = -1;
  int wake_ = -1;
  int alarm_ = -1;  // a timerfd
  EpollLoop* loop_ = nullptr;
  std::shared_ptr<Thread> thread_;  // whose loop it is; null before it was started
  std::mutex relieved_mutex_;
  std::vector<std::shared_ptr<Thread>> relieved_;  // in the user code that they were stuck in

  // What any thread touches: tasks, newest first, or Asleep() where there is none and the loop
  // sleeps. Whoever replaces that writes to `wake_`, and touches nothing else of the loop: what was
  // posted may be what ends it.
  alignas(64) std::atomic<Task*> posted_{nullptr};
  std::atomic<bool> stop_{false};

  // The loop's thread only.
  alignas(64) base::MonoTime now_{};
  bool ended_ = false;   // nothing is run any more
  bool orphan_ = false;  // deleted on its own thread, which has to free it
  TaskQueue local_;      // posted here
  TaskQueue running_;    // this turn's tasks
  TaskQueue turn_end_;
  std::vector<std::unique_ptr<Deferred>> deferred_;
  TimerHeap timers_;
  base::MonoTime alarm_at_ = base::kNever;  // what `alarm_` is set to
  std::vector<Slot> slots_;
  uint64_t wakes_due_ = 0;  // writes to `wake_` that were or are to be
  int event_count_ = 0;
  int next_event_ = 0;
  epoll_event events_[kMaxEvents];
};

}  // namespace weft::inline v0::event

#endif  // WEFT_LIB_EVENT_EPOLL_CORE_H_
