// PendingCount: how many things have yet to end, and a way to wait for the last.
#ifndef WEFT_LIB_BASE_PENDING_COUNT_H_
#define WEFT_LIB_BASE_PENDING_COUNT_H_

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace weft::inline v0::base {

// Thread-safe.
class PendingCount {
 public:
  void Begin() {
    std::lock_guard<std::mutex> lock(mutex_);
    ++count_;
  }
  // Notifies with the lock held: the waiter may destroy this as soon as it is awake.
  void End() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (--count_ == 0) none_.notify_all();
  }
  void WaitForNone() {
    std::unique_lock<std::mutex> lock(mutex_);
    none_.wait(lock, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  size_t count_ = 0;
};

}  // namespace weft::inline v0::base

#endif  // WEFT_LIB_BASE_PENDING_COUNT_H_
