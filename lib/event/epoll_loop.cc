#include "event/epoll_loop.h"

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "event/epoll_core.h"

namespace weft::inline v0::event {
namespace {

absl::Status StartError(const char* what, int error) {
  const std::string why = std::generic_category().message(error);
  return absl::ResourceExhaustedError(
      absl::StrCat("an event loop cannot be started: no ", what, " to be had: ", why));
}

// Faults must reach their handlers in the thread that made them; profilers want to see every
// thread.
sigset_t SignalsToBlock() {
  sigset_t set;
  sigfillset(&set);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF})
    sigdelset(&set, signal);
  return set;
}

}  // namespace

// Life
// ------------------------------------------------------------------------------------------------------------

EpollLoop::Core::~Core() {
  WEFT_DCHECK(deferred_.empty());
  AwaitWakers();
  DropQueued();
  if (epoll_ >= 0) close(epoll_);
  if (wake_ >= 0) close(wake_);
}

absl::Status EpollLoop::Core::Open() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return StartError("file descriptor", errno);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) return StartError("file descriptor", errno);
  // Edge-triggered, every write is news, and nobody need read it before the end.
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  event.data.u64 = static_cast<uint32_t>(wake_);
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0)
    return StartError("room in epoll", errno);
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
  stop_.store(true, std::memory_order_release);
  WriteTo(wake_);
  pthread_join(thread_, nullptr);
  ++wakes_due_;
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
    Free(loop);
  }
  return nullptr;
}

void EpollLoop::Core::Run() {
  while (!stop_.load(std::memory_order_acquire)) Turn();
  ended_ = true;
  do {  // what is dropped may bring up something to delete, and the other way round
    DropQueued();
    DeleteDeferred();
  } while (!deferred_.empty() || posted_.load(std::memory_order_relaxed) != nullptr);
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
                                                            std::atomic<uint64_t>* slow_turns) {
  auto core = std::make_unique<Core>(std::move(name), slow_turns);
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
