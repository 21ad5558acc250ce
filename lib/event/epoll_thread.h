// A thread of an EpollLoop: its first one, or one that takes over. Only its own sources include
// this.
#ifndef WEFT_LIB_EVENT_EPOLL_THREAD_H_
#define WEFT_LIB_EVENT_EPOLL_THREAD_H_

#include <pthread.h>

#include <atomic>

#include "event/epoll_core.h"
#include "event/tenure.h"

namespace weft::inline v0::event {

// Kept by the loop, and by the thread itself for as long as it runs: a thread that was relieved may
// outlive the loop.
struct EpollLoop::Core::Thread {
  enum Order { kWait, kBegin, kTakeOver, kForget };

  Thread(EpollLoop* of, Standby* standby) : loop(of), tenure(standby) {}
  void Tell(Order what) {
    order.store(what, std::memory_order_release);
    order.notify_one();
  }

  EpollLoop* const loop;
  Tenure tenure;
  std::atomic<Order> order{kWait};
  pthread_t handle{};
};

}  // namespace weft::inline v0::event

#endif  // WEFT_LIB_EVENT_EPOLL_THREAD_H_
