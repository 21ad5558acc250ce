// Standby: looks after loops, and has another thread go on with one whose own thread is stuck in
// user code, so that a slow callback delays nobody else's answers and deadlines by more than
// 20 ms.
//
// One thread. While callbacks run it looks every 10 ms; when none has run for a second it sleeps,
// and the next one wakes it.
#ifndef WEFT_LIB_EVENT_STANDBY_H_
#define WEFT_LIB_EVENT_STANDBY_H_

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"

namespace weft::inline v0::event {

class Standby {
 public:
  // A loop as it is seen from here. All with the standby's lock held.
  class Ward {
   public:
    // How often its thread entered user code, where it is in user code now; 0 where it is not.
    virtual uint64_t entry() const = 0;
    // Its thread is stuck: somebody else is to go on.
    virtual void Relieve() = 0;

   protected:
    ~Ward() = default;
  };

  // RESOURCE_EXHAUSTED where no thread is to be had.
  static absl::StatusOr<std::shared_ptr<Standby>> Start();
  ~Standby();  // nobody is looked after any more
  Standby(const Standby&) = delete;
  Standby& operator=(const Standby&) = delete;

  void Add(Ward* ward);
  // Nothing is done for it any more once this has returned.
  void Remove(Ward* ward);

  // A loop's thread has entered user code (and said so before).
  void OnUserCode() {
    if (asleep_.load(std::memory_order_seq_cst)) Wake();
  }

 private:
  struct Watched {
    Ward* ward;
    uint64_t seen = 0;
  };

  Standby() = default;
  static void* ThreadMain(void* standby);
  void Run();
  // Looks at everybody; whether anything has happened since the last time.
  bool Look();
  void Wake();

  pthread_t thread_{};
  std::atomic<bool> asleep_{false};
  std::mutex mutex_;  // guards the rest
  std::condition_variable changed_;
  bool stop_ = false;
  std::vector<Watched> watched_;
};

// Creates a thread with all signals blocked, but for those of faults and profilers. An error
// number.
int CreateThread(pthread_t* thread, void* (*main)(void*), void* argument);

}  // namespace weft::inline v0::event

#endif  // WEFT_LIB_EVENT_STANDBY_H_
