#include "event/epoll_loop.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace weft::inline v0::event {
namespace {

using std::chrono::milliseconds;

constexpr base::MonoDuration kSlowTurn = milliseconds(100);
constexpr int kMaxEvents = 256;

absl::Status StartError(const char* what, int error) {
  const std::string why = std::generic_category().message(error);
  return absl::ResourceExhaustedError(absl::StrCat("an event loop cannot be started: no ", what, " to be had: ", why));
}

// Faults must reach their handlers in the thread that made them; profilers want to see every thread.
sigset_t SignalsToBlock() {
  sigset_t set;
  sigfillset(&set);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF}) sigdelset(&set, signal);
  return set;
}

}  // namespace

class EpollLoop::Core {
 public:
  Core(std::string name, std::atomic<uint64_t>* slow_turns) : name_(std::move(name)), slow_turns_(slow_turns) {}
  ~Core();

  absl::Status Open();
  absl::Status StartThread(EpollLoop* loop);
  void StopAndJoin();  // from any other thread
  void StopOnThread();

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

  static void* ThreadMain(void* loop);
  void Run();
  void Turn();
  void Wait();
  int TimeoutOfWait() const;
  void Wake();
  void RunEvents();
  void RunTasks();
  void RunTurnEnd();
  void DeleteDeferred();
  void DropQueued();
  TaskQueue TakePosted();

  const std::string name_;
  std::atomic<uint64_t>* const slow_turns_;
  const SystemClock clock_{};
  int epoll_ = -1;
  int wake_ = -1;
  pthread_t thread_{};
  bool started_ = false;

  // What any thread touches. A poster pushes, then looks whether the loop is asleep; the loop says that it is, then looks
  // whether something was pushed: one of them sees the other (all four sequentially consistent).
  alignas(64) std::atomic<Task*> posted_{nullptr};  // LIFO
  std::atomic<bool> asleep_{false};
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
  std::vector<Slot> slots_;
  int event_count_ = 0;
  int next_event_ = 0;
  epoll_event events_[kMaxEvents];
};

// Life ------------------------------------------------------------------------------------------------------------

EpollLoop::Core::~Core() {
  WEFT_DCHECK(deferred_.empty());
  DropQueued();
  if (epoll_ >= 0) close(epoll_);
  if (wake_ >= 0) close(wake_);
}

absl::Status EpollLoop::Core::Open() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return StartError("file descriptor", errno);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) return StartError("file descriptor", errno);
  // Edge-triggered, every write is news, and nobody need ever read it.
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  event.data.u64 = static_cast<uint32_t>(wake_);
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0) return StartError("room in epoll", errno);
  return absl::OkStatus();
}

// Not std::thread, which throws where there is no thread.
absl::Status EpollLoop::Core::StartThread(EpollLoop* loop) {
  const sigset_t blocked = SignalsToBlock();
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  const int error = pthread_create(&thread_, nullptr, &ThreadMain, loop);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) return StartError("thread", error);
  started_ = true;
  return absl::OkStatus();
}

void EpollLoop::Core::StopAndJoin() {
  if (!started_) return;
  stop_.store(true, std::memory_order_seq_cst);
  Wake();
  pthread_join(thread_, nullptr);
}

void EpollLoop::Core::StopOnThread() {
  ended_ = orphan_ = true;
  stop_.store(true, std::memory_order_relaxed);
  event_count_ = 0;
  timers_.Clear();
  DropQueued();
}

void* EpollLoop::Core::ThreadMain(void* argument) {
  EpollLoop* const loop = static_cast<EpollLoop*>(argument);
  Core& core = *loop->core_;
  pthread_setname_np(pthread_self(), core.name_.substr(0, 15).c_str());  // longer names are refused
  {
    CurrentLoop current(loop);
    core.Run();
  }
  if (core.orphan_) {
    pthread_detach(pthread_self());
    loop->~EpollLoop();
    ::operator delete(loop);
  }
  return nullptr;
}

void EpollLoop::Core::Run() {
  while (!stop_.load(std::memory_order_relaxed)) Turn();
  ended_ = true;
  do {  // what is dropped may bring up something to delete, and the other way round
    DropQueued();
    DeleteDeferred();
  } while (!deferred_.empty() || posted_.load(std::memory_order_relaxed) != nullptr);
}

// The turn --------------------------------------------------------------------------------------------------------

void EpollLoop::Core::Turn() {
  Wait();
  now_ = clock_.Now();
  RunEvents();
  timers_.RunDue(now_);
  RunTasks();
  RunTurnEnd();
  DeleteDeferred();
}

void EpollLoop::Core::Wait() {
  int timeout = 0;
  if (local_.empty() && posted_.load(std::memory_order_relaxed) == nullptr) timeout = TimeoutOfWait();
  if (timeout != 0) {
    asleep_.store(true, std::memory_order_seq_cst);
    if (posted_.load(std::memory_order_seq_cst) != nullptr || stop_.load(std::memory_order_seq_cst)) timeout = 0;
  }
  event_count_ = epoll_wait(epoll_, events_, kMaxEvents, timeout);
  asleep_.store(false, std::memory_order_relaxed);  // a poster that still sees true wakes in vain
  next_event_ = 0;
  // EINTR is as good as a wait without events. Anything else means that somebody closed a descriptor that is not his: no
  // reason to take the process down, or to keep a processor busy.
  if (event_count_ < 0 && errno != EINTR) std::this_thread::sleep_for(milliseconds(10));
}

// In whole milliseconds, upwards: late by less than one, and never woken for a timer that is not due yet. Finer would cost
// wake-ups that timers close to one another can share.
int EpollLoop::Core::TimeoutOfWait() const {
  if (timers_.next() == base::kNever) return -1;
  const base::MonoDuration wait = timers_.next() - clock_.Now();  // the turn may have been long
  if (wait <= base::MonoDuration::zero()) return 0;
  const auto rounded = std::chrono::ceil<milliseconds>(wait).count();
  return rounded < INT_MAX ? static_cast<int>(rounded) : INT_MAX;
}

void EpollLoop::Core::Wake() {
  if (!asleep_.load(std::memory_order_seq_cst) || !asleep_.exchange(false, std::memory_order_seq_cst)) return;
  const uint64_t one = 1;
  ssize_t written;
  do {
    written = write(wake_, &one, sizeof one);
  } while (written < 0 && errno == EINTR);
}

void EpollLoop::Core::RunEvents() {
  while (next_event_ < event_count_) {
    const epoll_event event = events_[next_event_++];
    const uint32_t fd = static_cast<uint32_t>(event.data.u64);
    if (fd == static_cast<uint32_t>(wake_)) continue;
    const Slot slot = slots_[fd];
    if (slot.watcher == nullptr || slot.generation != event.data.u64 >> 32) continue;  // unwatched since the wait
    const bool failed = (event.events & (EPOLLHUP | EPOLLERR)) != 0;
    const bool ended = failed || (event.events & EPOLLRDHUP) != 0;
    if (ended) slot.watcher->OnHangup();
    slot.watcher->OnReady(ended || (event.events & EPOLLIN) != 0, failed || (event.events & EPOLLOUT) != 0);
  }
}

// What tasks post meanwhile is for the next turn, which does not wait.
void EpollLoop::Core::RunTasks() {
  running_ = std::exchange(local_, TaskQueue());
  TaskQueue posted = TakePosted();
  running_.Append(posted);
  if (running_.empty()) return;
  while (Task* task = running_.Pop()) task->Run();
  if (ended_ || slow_turns_ == nullptr) return;  // the counter may be gone with the loop
  if (clock_.Now() - now_ > kSlowTurn) slow_turns_->fetch_add(1, std::memory_order_relaxed);
}

void EpollLoop::Core::RunTurnEnd() {
  while (Task* task = turn_end_.Pop()) task->Run();
}

void EpollLoop::Core::DeleteDeferred() {
  while (!deferred_.empty()) {
    std::vector<std::unique_ptr<Deferred>> dying = std::exchange(deferred_, {});
    for (std::unique_ptr<Deferred>& object : dying) object.reset();
  }
}

void EpollLoop::Core::DropQueued() {
  running_.DropAll();
  turn_end_.DropAll();
  local_.DropAll();
  TakePosted().DropAll();
}

// Tasks -----------------------------------------------------------------------------------------------------------

TaskQueue EpollLoop::Core::TakePosted() {
  if (posted_.load(std::memory_order_relaxed) == nullptr) return TaskQueue();
  return TaskQueue::FromLifo(posted_.exchange(nullptr, std::memory_order_acquire));
}

void EpollLoop::Core::PostHere(Task* task) {
  if (ended_) {
    task->Drop();
  } else {
    local_.Push(task);
  }
}

void EpollLoop::Core::PostFromElsewhere(Task* task) {
  Task* newest = posted_.load(std::memory_order_relaxed);
  do {
    TaskQueue::SetNext(task, newest);
  } while (!posted_.compare_exchange_weak(newest, task, std::memory_order_seq_cst, std::memory_order_relaxed));
  Wake();
}

void EpollLoop::Core::AtTurnEnd(Task* task) {
  if (ended_) {
    task->Drop();
  } else {
    turn_end_.Push(task);
  }
}

void EpollLoop::Core::Arm(Timer* timer, base::MonoTime at) {
  if (!ended_) timers_.Arm(timer, at);
}

// Descriptors -----------------------------------------------------------------------------------------------------

absl::Status EpollLoop::Core::Watch(int fd, FdWatcher* watcher) {
  WEFT_DCHECK(fd >= 0);
  if (slots_.size() <= static_cast<size_t>(fd)) slots_.resize(static_cast<size_t>(fd) + 1);
  Slot& slot = slots_[static_cast<size_t>(fd)];
  WEFT_DCHECK(slot.watcher == nullptr);
  ++slot.generation;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.u64 = uint64_t{slot.generation} << 32 | static_cast<uint32_t>(fd);
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) {
    const int error = errno;
    return absl::ResourceExhaustedError(
        absl::StrCat("the kernel does not watch the descriptor: ", std::generic_category().message(error)));
  }
  slot.watcher = watcher;
  return absl::OkStatus();
}

void EpollLoop::Core::Unwatch(int fd, FdWatcher* watcher) {
  Slot& slot = slots_[static_cast<size_t>(fd)];
  WEFT_DCHECK(slot.watcher == watcher);
  if (slot.watcher != watcher) return;
  slot.watcher = nullptr;
  epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
}

// The interface ---------------------------------------------------------------------------------------------------

EpollLoop::EpollLoop(std::unique_ptr<Core> core) : core_(std::move(core)) {}

EpollLoop::~EpollLoop() = default;

void EpollLoop::operator delete(EpollLoop* loop, std::destroying_delete_t) {
  if (loop->IsCurrent()) {
    loop->core_->StopOnThread();
    return;
  }
  loop->core_->StopAndJoin();
  loop->~EpollLoop();
  ::operator delete(loop);
}

absl::StatusOr<std::unique_ptr<EpollLoop>> EpollLoop::Start(std::string name, std::atomic<uint64_t>* slow_turns) {
  auto core = std::make_unique<Core>(std::move(name), slow_turns);
  if (absl::Status status = core->Open(); !status.ok()) return status;
  std::unique_ptr<EpollLoop> loop(new EpollLoop(std::move(core)));
  if (absl::Status status = loop->core_->StartThread(loop.get()); !status.ok()) return status;
  return loop;
}

const Clock& EpollLoop::clock() const { return core_->clock(); }

bool EpollLoop::IsCurrent() const { return CurrentLoop::Get() == this; }

void EpollLoop::Post(Task* task) {
  if (IsCurrent()) {
    core_->PostHere(task);
  } else {
    core_->PostFromElsewhere(task);
  }
}

base::MonoTime EpollLoop::now() const { return core_->now(); }

void EpollLoop::AtTurnEnd(Task* task) { core_->AtTurnEnd(task); }

void EpollLoop::DeleteLater(std::unique_ptr<Deferred> object) { core_->DeleteLater(std::move(object)); }

void EpollLoop::Arm(Timer* timer, base::MonoTime at) { core_->Arm(timer, at); }

void EpollLoop::Disarm(Timer* timer) { core_->Disarm(timer); }

absl::Status EpollLoop::Watch(int fd, FdWatcher* watcher) { return core_->Watch(fd, watcher); }

void EpollLoop::Unwatch(int fd, FdWatcher* watcher) { core_->Unwatch(fd, watcher); }

}  // namespace weft::inline v0::event
