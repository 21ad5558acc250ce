#include "event/epoll_core.h"

#include <sys/timerfd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "event/epoll_thread.h"

namespace weft::inline v0::event {
namespace {

using std::chrono::milliseconds;

constexpr base::MonoDuration kSlowTurn = milliseconds(100);

}  // namespace

// The turn
// --------------------------------------------------------------------------------------------------------

void EpollLoop::Core::Turn(const Thread& thread) {
  Wait();
  now_ = clock_.Now();
  RunEvents();
  timers_.RunDue(now_);
  TakeTasks();
  FinishTurn(thread);
}

void EpollLoop::Core::FinishTurn(const Thread& thread) {
  RunTasks(thread);
  if (thread.tenure.taken()) return;
  RunTurnEnd();
  DeleteDeferred();
}

void EpollLoop::Core::Wait() {
  int timeout = local_.empty() && !TimerIsDue() ? -1 : 0;
  bool asleep = false;
  if (timeout != 0) {
    Task* none = nullptr;
    asleep = posted_.compare_exchange_strong(none, Asleep(), std::memory_order_relaxed);
    if (!asleep) timeout = 0;
  }
  event_count_ = epoll_wait(epoll_, events_, kMaxEvents, timeout);
  const int error = errno;
  next_event_ = 0;
  if (asleep) {
    Task* nobody = Asleep();
    if (!posted_.compare_exchange_strong(nobody, nullptr, std::memory_order_relaxed)) ++wakes_due_;
  }
  // EINTR is as good as a wait without events. Anything else means that somebody closed a
  // descriptor that is not his: no reason to take the process down, or to keep a processor busy.
  if (event_count_ < 0 && error != EINTR) std::this_thread::sleep_for(milliseconds(10));
}

// If not, `alarm_` wakes the wait in time. It is set to whole milliseconds, upwards: late by less
// than one, and finer would cost wake-ups that timers close to one another can share. Where it is
// set already, to the same time or an earlier one, it stays so: timers that are armed and disarmed
// again and again (a hedge's, with each call) cost the kernel's timer nothing but a wake-up that
// was not needed, each time it goes off. A timeout of epoll_wait would set one in each wait.
bool EpollLoop::Core::TimerIsDue() {
  const base::MonoTime next = timers_.next();
  if (next == base::kNever) return false;
  if (next <= clock_.Now()) return true;  // the turn may have been long
  if (next > base::kNever - milliseconds(1)) return false;
  const base::MonoTime at = std::chrono::ceil<milliseconds>(next);
  if (alarm_at_ <= at) return false;
  const base::MonoDuration since = at.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  itimerspec spec{};
  spec.it_value.tv_sec = seconds.count();
  spec.it_value.tv_nsec = (since - seconds).count();
  timerfd_settime(alarm_, TFD_TIMER_ABSTIME, &spec, nullptr);
  alarm_at_ = at;
  return false;
}

void EpollLoop::Core::RunEvents() {
  while (next_event_ < event_count_) {
    const epoll_event event = events_[next_event_++];
    const uint32_t fd = static_cast<uint32_t>(event.data.u64);
    if (fd == static_cast<uint32_t>(wake_)) continue;
    if (fd == static_cast<uint32_t>(alarm_)) {
      alarm_at_ = base::kNever;
      continue;
    }
    const Slot slot = slots_[fd];
    if (slot.watcher == nullptr || slot.generation != event.data.u64 >> 32)
      continue;  // unwatched since the wait
    const bool failed = (event.events & (EPOLLHUP | EPOLLERR)) != 0;
    const bool ended = failed || (event.events & EPOLLRDHUP) != 0;
    if (ended) slot.watcher->OnHangup();
    slot.watcher->OnReady(ended || (event.events & EPOLLIN) != 0,
                          failed || (event.events & EPOLLOUT) != 0);
  }
}

// What tasks post meanwhile is for the next turn, which does not wait.
void EpollLoop::Core::TakeTasks() {
  if (ended_) return;
  running_ = std::exchange(local_, TaskQueue());
  TaskQueue posted = TakePosted();
  running_.Append(posted);
}

void EpollLoop::Core::RunTasks(const Thread& thread) {
  if (running_.empty()) return;
  while (Task* task = running_.Pop()) {
    task->Run();
    if (thread.tenure.taken()) return;
  }
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

// Tasks
// -----------------------------------------------------------------------------------------------------------

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
  const int wake = wake_;
  Task* newest = posted_.load(std::memory_order_relaxed);
  do {
    TaskQueue::SetNext(task, newest == Asleep() ? nullptr : newest);
  } while (!posted_.compare_exchange_weak(newest, task, std::memory_order_release,
                                          std::memory_order_relaxed));
  if (newest == Asleep()) WriteTo(wake);
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

// Descriptors
// -----------------------------------------------------------------------------------------------------

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
    return absl::ResourceExhaustedError(absl::StrCat("the kernel does not watch the descriptor: ",
                                                     std::generic_category().message(error)));
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

}  // namespace weft::inline v0::event
