#include "event/standby.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace weft::inline v0::event {
namespace {

constexpr std::chrono::milliseconds kTick(10);
constexpr int kTicksUntilSleep = 100;

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

// Not std::thread, which throws where there is no thread.
int CreateThread(pthread_t* thread, void* (*main)(void*), void* argument) {
  const sigset_t blocked = SignalsToBlock();
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  const int error = pthread_create(thread, nullptr, main, argument);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

absl::StatusOr<std::shared_ptr<Standby>> Standby::Start() {
  std::shared_ptr<Standby> standby(new Standby);
  if (const int error = CreateThread(&standby->thread_, &ThreadMain, standby.get()); error != 0) {
    standby->stop_ = true;
    return absl::ResourceExhaustedError(
        absl::StrCat("no thread to be had: ", std::generic_category().message(error)));
  }
  return standby;
}

Standby::~Standby() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stop_) return;  // there is no thread
    stop_ = true;
  }
  changed_.notify_one();
  pthread_join(thread_, nullptr);
}

void Standby::Add(Ward* ward) {
  std::lock_guard<std::mutex> lock(mutex_);
  watched_.push_back({ward});
}

void Standby::Remove(Ward* ward) {
  std::lock_guard<std::mutex> lock(mutex_);
  watched_.erase(std::find_if(watched_.begin(), watched_.end(),
                              [ward](const Watched& watched) { return watched.ward == ward; }));
}

void* Standby::ThreadMain(void* standby) {
  pthread_setname_np(pthread_self(), "weft-standby");
  static_cast<Standby*>(standby)->Run();
  return nullptr;
}

void Standby::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  int quiet = 0;
  while (!stop_) {
    quiet = Look() ? 0 : quiet + 1;
    if (quiet < kTicksUntilSleep) {
      changed_.wait_for(lock, kTick);
      continue;
    }
    asleep_.store(true, std::memory_order_seq_cst);
    if (!Look()) {
      changed_.wait(lock, [this] { return stop_ || !asleep_.load(std::memory_order_relaxed); });
    }
    asleep_.store(false, std::memory_order_relaxed);
    quiet = 0;
  }
}

bool Standby::Look() {
  bool active = false;
  for (Watched& watched : watched_) {
    const uint64_t entry = watched.ward->entry();
    if (entry == 0) continue;
    active = true;
    if (entry == watched.seen) {
      watched.ward->Relieve();
    } else {
      watched.seen = entry;
    }
  }
  return active;
}

void Standby::Wake() {
  if (!asleep_.exchange(false, std::memory_order_relaxed)) return;
  std::lock_guard<std::mutex> lock(mutex_);
  changed_.notify_one();
}

}  // namespace weft::inline v0::event
