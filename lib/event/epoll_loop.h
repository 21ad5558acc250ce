// EpollLoop: the real loop: a thread, an epoll set, an eventfd and a timerfd.
#ifndef WEFT_LIB_EVENT_EPOLL_LOOP_H_
#define WEFT_LIB_EVENT_EPOLL_LOOP_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include "absl/status/statusor.h"
#include "event/loop.h"
#include "event/standby.h"

namespace weft::inline v0::event {

class EpollLoop final : public Loop {
 public:
  // Starts the thread (all signals blocked in it, but for those of faults and profilers).
  // RESOURCE_EXHAUSTED where a descriptor or the thread cannot be had. `slow_turns` counts turns
  // that, with their tasks, took more than 100 ms, and times that another thread went on with the
  // loop; it outlives the loop. Without a `standby` nobody does.
  static absl::StatusOr<std::unique_ptr<EpollLoop>> Start(
      std::string name, std::atomic<uint64_t>* slow_turns,
      std::shared_ptr<Standby> standby = nullptr);
  // Ends the thread after the turn that runs, and joins it. Tasks that are still queued are
  // dropped. What was posted may bring this about before the Post returns.
  ~EpollLoop() override;
  // On the loop's own thread (a callback destroyed everything) `delete` cannot join. Nothing of the
  // loop runs any more when it returns, just as elsewhere: no event, timer or task; what was queued
  // has been dropped. But the loop itself lives, with its thread, to the end of the turn, where
  // objects whose deletion was deferred are deleted and may still call it.
  static void operator delete(EpollLoop* loop, std::destroying_delete_t);

  const Clock& clock() const override;
  bool IsCurrent() const override;
  void Post(Task* task) override;
  base::MonoTime now() const override;
  void AtTurnEnd(Task* task) override;
  void DeleteLater(std::unique_ptr<Deferred> object) override;
  void Arm(Timer* timer, base::MonoTime at) override;
  void Disarm(Timer* timer) override;
  absl::Status Watch(int fd, FdWatcher* watcher) override;
  void Unwatch(int fd, FdWatcher* watcher) override;
  void AwaitRelieved() override;

 private:
  class Core;
  explicit EpollLoop(std::unique_ptr<Core> core);
  static void Free(EpollLoop* loop);  // what `delete` does elsewhere
  const std::unique_ptr<Core> core_;
};

}  // namespace weft::inline v0::event

#endif  // WEFT_LIB_EVENT_EPOLL_LOOP_H_
