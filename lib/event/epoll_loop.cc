#include "event/epoll_loop.h"

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "event/epoll_core.h"
#include "event/epoll_thread.h"

namespace weft::inline v0::event {
namespace {

absl::Status StartError(const char* what, int error) {
  const std::string why = std::generic_category().message(error);
  return absl::ResourceExhaustedError(
      absl::StrCat("an event loop cannot be started: no ", what, " to be had: ", why));
}

// More threads than these in slow callbacks at a time, and the loop waits for one of them.
constexpr size_t kMaxRelieved = 16;

}  // namespace

// Life
// ------------------------------------------------------------------------------------------------------------

EpollLoop::Core::~Core() {
  WEFT_DCHECK(deferred_.empty());
  AwaitWakers();
  DropQueued();
  for (const std::shared_ptr<Thread>& thread : relieved_) pthread_detach(thread->handle);
  if (epoll_ >= 0) close(epoll_);
  if (wake_ >= 0) close(wake_);
  if (alarm_ >= 0) close(alarm_);
}

absl::Status EpollLoop::Core::Open() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return StartError("file descriptor", errno);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) return StartError("file descriptor", errno);
  alarm_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);  // steady_clock's
  if (alarm_ < 0) return StartError("file descriptor", errno);
  // Edge-triggered, every write and every expiry is news, and nobody need read it before the end.
  for (const int fd : {wake_, alarm_}) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    event.data.u64 = static_cast<uint32_t>(fd);
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0)
      return StartError("room in epoll", errno);
  }
  return absl::OkStatus();
}

int EpollLoop::Core::NewThread(EpollLoop* loop, std::shared_ptr<Thread>* made) {
  auto thread = std::make_shared<Thread>(loop, standby_.get());
  auto own = std::make_unique<std::shared_ptr<Thread>>(thread);
  if (const int error = CreateThread(&thread->handle, &ThreadMain, own.get()); error != 0)
    return error;
  (void)own.release();  // the thread's
  *made = std::move(thread);
  return 0;
}

absl::Status EpollLoop::Core::StartThread(EpollLoop* loop) {
  loop_ = loop;
  if (const int error = NewThread(loop, &thread_); error != 0) return StartError("thread", error);
  if (standby_ != nullptr) standby_->Add(this);
  thread_->Tell(Thread::kBegin);
  return absl::OkStatus();
}

void EpollLoop::Core::StopAndJoin() {
  if (thread_ == nullptr) return;
  if (standby_ != nullptr) standby_->Remove(this);
  stop_.store(true, std::memory_order_release);
  WriteTo(wake_);
  pthread_join(thread_->handle, nullptr);
  ++wakes_due_;
  AwaitRelieved();
}

void EpollLoop::Core::AwaitRelieved() {
  std::vector<std::shared_ptr<Thread>> threads;
  {
    std::lock_guard<std::mutex> lock(relieved_mutex_);
    threads.swap(relieved_);
  }
  for (const std::shared_ptr<Thread>& thread : threads) {
    if (pthread_equal(thread->handle, pthread_self()) != 0) {
      pthread_detach(thread->handle);  // the last to let go of the loop
    } else {
      pthread_join(thread->handle, nullptr);
    }
  }
}

void EpollLoop::Core::WriteTo(int eventfd) {
  const uint64_t one = 1;
  while (write(eventfd, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

// A thread that posted may be on its way to `wake_` still. All that is to be written there is
// awaited, so that the descriptor is not closed, and perhaps another's, when it arrives.
void EpollLoop::Core::AwaitWakers() {
  while (wakes_due_ > 0) {
    pollfd wait{wake_, POLLIN, 0};
    poll(&wait, 1, -1);
    uint64_t written = 0;
    if (read(wake_, &written, sizeof written) < 0 && errno != EAGAIN && errno != EINTR) return;
    wakes_due_ -= std::min(written, wakes_due_);
  }
}

void EpollLoop::Core::StopOnThread() {
  if (standby_ != nullptr) standby_->Remove(this);
  ended_ = orphan_ = true;
  stop_.store(true, std::memory_order_relaxed);
  event_count_ = 0;
  timers_.Clear();
  DropQueued();
}

void* EpollLoop::Core::ThreadMain(void* argument) {
  const std::unique_ptr<std::shared_ptr<Thread>> own(
      static_cast<std::shared_ptr<Thread>*>(argument));
  Thread& thread = **own;
  thread.order.wait(Thread::kWait, std::memory_order_acquire);
  if (thread.order.load(std::memory_order_acquire) == Thread::kForget) return nullptr;
  EpollLoop* const loop = thread.loop;
  Core& core = *loop->core_;
  pthread_setname_np(pthread_self(), core.name_.substr(0, 15).c_str());  // longer names are refused
  {
    CurrentLoop current(loop, &thread.tenure);
    core.Run(thread);
  }
  if (!thread.tenure.taken() && core.orphan_) {
    pthread_detach(pthread_self());
    Free(loop);
  }
  return nullptr;
}

void EpollLoop::Core::Run(const Thread& thread) {
  if (thread.order.load(std::memory_order_relaxed) == Thread::kTakeOver) {
    now_ = clock_.Now();
    FinishTurn(thread);
  }
  while (!thread.tenure.taken() && !stop_.load(std::memory_order_acquire)) Turn(thread);
  if (thread.tenure.taken()) return;
  ended_ = true;
  do {  // what is dropped may bring up something to delete, and the other way round
    DropQueued();
    DeleteDeferred();
  } while (!deferred_.empty() || posted_.load(std::memory_order_relaxed) != nullptr);
}

// A thread that is stuck
// ---------------------------------------------------------------------------------------------

uint64_t EpollLoop::Core::entry() const {
  const Tenure& tenure = thread_->tenure;
  return tenure.in_user_code() ? tenure.entries() : 0;
}

void EpollLoop::Core::Relieve() {
  std::lock_guard<std::mutex> lock(relieved_mutex_);
  std::erase_if(relieved_, [](const std::shared_ptr<Thread>& thread) {
    return pthread_tryjoin_np(thread->handle, nullptr) == 0;
  });
  std::shared_ptr<Thread> next;
  if (relieved_.size() >= kMaxRelieved || NewThread(loop_, &next) != 0) return;
  if (!thread_->tenure.TryTake()) {  // it has come back meanwhile
    next->Tell(Thread::kForget);
    pthread_join(next->handle, nullptr);
    return;
  }
  if (slow_turns_ != nullptr) slow_turns_->fetch_add(1, std::memory_order_relaxed);
  relieved_.push_back(std::exchange(thread_, std::move(next)));
  thread_->Tell(Thread::kTakeOver);
}

// The interface
// ---------------------------------------------------------------------------------------------------

EpollLoop::EpollLoop(std::unique_ptr<Core> core) : core_(std::move(core)) {}

EpollLoop::~EpollLoop() = default;

void EpollLoop::operator delete(EpollLoop* loop, std::destroying_delete_t) {
  if (loop->IsCurrent()) {
    loop->core_->StopOnThread();
    return;
  }
  loop->core_->StopAndJoin();
  Free(loop);
}

void EpollLoop::Free(EpollLoop* loop) {
  loop->~EpollLoop();
  ::operator delete(loop);
}

absl::StatusOr<std::unique_ptr<EpollLoop>> EpollLoop::Start(std::string name,
                                                            std::atomic<uint64_t>* slow_turns,
                                                            std::shared_ptr<Standby> standby) {
  auto core = std::make_unique<Core>(std::move(name), slow_turns, std::move(standby));
  if (absl::Status status = core->Open(); !status.ok()) return status;
  EpollLoop* const loop = new EpollLoop(std::move(core));
  if (absl::Status status = loop->core_->StartThread(loop); !status.ok()) {
    Free(loop);
    return status;
  }
  return std::unique_ptr<EpollLoop>(loop);
}

const Clock& EpollLoop::clock() const { return core_->clock(); }

bool EpollLoop::IsCurrent() const { return CurrentLoop::Get() == this; }

void EpollLoop::AwaitRelieved() { core_->AwaitRelieved(); }

void EpollLoop::Post(Task* task) {
  if (IsCurrent()) {
    core_->PostHere(task);
  } else {
    core_->PostFromElsewhere(task);
  }
}

base::MonoTime EpollLoop::now() const { return core_->now(); }

void EpollLoop::AtTurnEnd(Task* task) { core_->AtTurnEnd(task); }

void EpollLoop::DeleteLater(std::unique_ptr<Deferred> object) {
  core_->DeleteLater(std::move(object));
}

void EpollLoop::Arm(Timer* timer, base::MonoTime at) { core_->Arm(timer, at); }

void EpollLoop::Disarm(Timer* timer) { core_->Disarm(timer); }

absl::Status EpollLoop::Watch(int fd, FdWatcher* watcher) { return core_->Watch(fd, watcher); }

void EpollLoop::Unwatch(int fd, FdWatcher* watcher) { core_->Unwatch(fd, watcher); }

}  // namespace weft::inline v0::event
