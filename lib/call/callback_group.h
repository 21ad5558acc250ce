// CallbackGroup: as CallbackGate, for a stream, of which several callbacks may run at the same time
// and one after another.
#ifndef WEFT_LIB_CALL_CALLBACK_GROUP_H_
#define WEFT_LIB_CALL_CALLBACK_GROUP_H_

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace weft::inline v0::call {

class CallbackGroup {
 public:
  // True: a callback may run; Leave follows, on the same thread.
  bool Enter() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return false;
    running_.push_back(std::this_thread::get_id());
    return true;
  }
  void Leave() {
    std::lock_guard<std::mutex> lock(mutex_);
    running_.erase(std::find(running_.begin(), running_.end(), std::this_thread::get_id()));
    if (closed_) left_.notify_all();
  }
  // When it returns, none runs any more and none will, except those that this thread is in.
  void Close() {
    std::unique_lock<std::mutex> lock(mutex_);
    closed_ = true;
    left_.wait(lock, [this] {
      const std::thread::id self = std::this_thread::get_id();
      return std::all_of(running_.begin(), running_.end(),
                         [self](std::thread::id id) { return id == self; });
    });
  }

 private:
  std::mutex mutex_;
  std::condition_variable left_;
  bool closed_ = false;
  std::vector<std::thread::id> running_;
};

}  // namespace weft::inline v0::call

#endif  // WEFT_LIB_CALL_CALLBACK_GROUP_H_
