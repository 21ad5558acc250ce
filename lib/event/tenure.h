// Tenure: the time that a thread has as a loop's thread, and how it can end while user code runs.
//
//             EnterUser                     TryTake (another thread)
//   kWeft ───────────────▶ kUser ─────────────────────────▶ kTaken
//     ▲                      │                                 │
//     ├──── LeaveUser ◀──────┤                                 ▼
//     └──── Claim ◀──────────┘              Claim and LeaveUser say no: the thread is not the
//     loop's
//                                           any more, and touches nothing of it
//
// While a loop's thread is in user code, the loop is between two tasks: nothing is half done, and
// no strand is held. So another thread can go on with it, as long as the first one finds out before
// it touches the loop again, be it that the user code returns or that it calls Weft. What it finds
// out by is Claim, which is asked by all that is about to use a loop as its own.
#ifndef WEFT_LIB_EVENT_TENURE_H_
#define WEFT_LIB_EVENT_TENURE_H_

#include <atomic>
#include <cstdint>

namespace weft::inline v0::event {

class Standby;

class Tenure {
 public:
  // `standby` may be null: then nobody takes the loop.
  explicit Tenure(Standby* standby) : standby_(standby) {}
  Tenure(const Tenure&) = delete;
  Tenure& operator=(const Tenure&) = delete;

  // The thread itself
  // ------------------------------------------------------------------------------------------------
  void EnterUser();
  void LeaveUser() {
    in_user_ = false;
    Claim();
  }
  // Whether the loop is (still) this thread's; if so, it stays so until BackToUser or the next
  // EnterUser.
  bool Claim() {
    uint32_t state = state_.load(std::memory_order_relaxed);
    if (state == kUser && state_.compare_exchange_strong(state, kWeft, std::memory_order_acquire,
                                                         std::memory_order_relaxed)) {
      return true;
    }
    return state == kWeft;
  }
  // The user code that had called Weft goes on.
  void BackToUser() {
    if (in_user_ && state_.load(std::memory_order_relaxed) == kWeft) GoToUser();
  }
  bool taken() const { return state_.load(std::memory_order_relaxed) == kTaken; }

  // Another thread, at any time in between
  // ------------------------------------------------------------------------------------
  // How often user code was entered, and whether it runs now.
  uint64_t entries() const { return entries_.load(std::memory_order_relaxed); }
  bool in_user_code() const { return state_.load(std::memory_order_seq_cst) == kUser; }
  // True: the loop is the caller's.
  bool TryTake() {
    uint32_t user = kUser;
    return state_.compare_exchange_strong(user, kTaken, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

 private:
  void GoToUser();

  static constexpr uint32_t kWeft = 0, kUser = 1, kTaken = 2;
  Standby* const standby_;
  bool in_user_ = false;
  std::atomic<uint32_t> state_{kWeft};
  std::atomic<uint64_t> entries_{0};
};

}  // namespace weft::inline v0::event

#endif  // WEFT_LIB_EVENT_TENURE_H_
