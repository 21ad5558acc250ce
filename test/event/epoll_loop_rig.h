// What the tests of EpollLoop share.
#ifndef WEFT_TEST_EVENT_EPOLL_LOOP_RIG_H_
#define WEFT_TEST_EVENT_EPOLL_LOOP_RIG_H_

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "event/epoll_loop.h"
#include "event/on_loop.h"
#include "support/catch.h"

namespace weft::event {

inline std::unique_ptr<EpollLoop> NewLoop(std::atomic<uint64_t>* slow_turns = nullptr) {
  absl::StatusOr<std::unique_ptr<EpollLoop>> loop = EpollLoop::Start("test-loop", slow_turns);
  REQUIRE(loop.ok());
  return *std::move(loop);
}

class FnTask final : public Task {
 public:
  explicit FnTask(std::function<void()> fn) : fn_(std::move(fn)) {}
  void Run() override { fn_(); }
  void Drop() override { dropped = true; }
  bool dropped = false;

 private:
  std::function<void()> fn_;
};

class FnTimer final : public Timer {
 public:
  explicit FnTimer(std::function<void()> fn) : fn_(std::move(fn)) {}
  void OnTimer() override { fn_(); }

 private:
  std::function<void()> fn_;
};

class FnDeferred final : public Deferred {
 public:
  explicit FnDeferred(std::function<void()> fn) : fn_(std::move(fn)) {}
  ~FnDeferred() override { fn_(); }

 private:
  std::function<void()> fn_;
};

class FnWatcher final : public FdWatcher {
 public:
  explicit FnWatcher(std::function<void(bool, bool)> fn) : fn_(std::move(fn)) {}
  void OnReady(bool readable, bool writable) override { fn_(readable, writable); }
  void OnHangup() override { hangup = true; }
  bool hangup = false;

 private:
  std::function<void(bool, bool)> fn_;
};

// Edges that were told, for another thread to wait for.
class Edges {
 public:
  void Add(bool readable, bool writable) {
    std::lock_guard<std::mutex> lock(mutex_);
    edges_.emplace_back(readable, writable);
    added_.notify_one();
  }
  std::pair<bool, bool> Next() {
    std::unique_lock<std::mutex> lock(mutex_);
    REQUIRE(added_.wait_for(lock, std::chrono::seconds(30), [this] { return !edges_.empty(); }));
    const std::pair<bool, bool> edge = edges_.front();
    edges_.pop_front();
    return edge;
  }
  bool none() {
    std::lock_guard<std::mutex> lock(mutex_);
    return edges_.empty();
  }

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<std::pair<bool, bool>> edges_;
};

struct Pair {
  Pair() { REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fd) == 0); }
  ~Pair() {
    for (int end : fd) {
      if (end >= 0) close(end);
    }
  }
  int fd[2];
};

inline void SendByte(int fd) { REQUIRE(send(fd, "x", 1, MSG_NOSIGNAL) == 1); }

}  // namespace weft::event

#endif  // WEFT_TEST_EVENT_EPOLL_LOOP_RIG_H_
