// CallbackGate: decides, once, whether a callback runs or its handle was destroyed first, and lets
// the destroyer wait for a callback that is running.
//
//   kArmed ── Enter ──▶ kRunning ── Leave ──▶ kClosed
//      └──────────────── Close ─────────────────▲
//
// Close during kRunning waits, unless this thread is the one that runs it.
#ifndef WEFT_LIB_CALL_CALLBACK_GATE_H_
#define WEFT_LIB_CALL_CALLBACK_GATE_H_

#include <atomic>
#include <cstdint>
#include <thread>

namespace weft::inline v0::call {

class CallbackGate {
 public:
  // True: the callback may run; Leave follows, on the same thread.
  bool Enter() {
    runner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    uint32_t armed = kArmed;
    return state_.compare_exchange_strong(armed, kRunning, std::memory_order_acq_rel);
  }
  void Leave() {
    if (state_.exchange(kClosed, std::memory_order_acq_rel) == kAwaited) state_.notify_all();
  }
  // When it returns, the callback does not run any more: it has run, or never will.
  void Close() {
    uint32_t state = kArmed;
    if (state_.compare_exchange_strong(state, kClosed, std::memory_order_acq_rel)) return;
    while (state != kClosed) {
      if (runner_.load(std::memory_order_relaxed) == std::this_thread::get_id()) return;
      if (state == kAwaited ||
          state_.compare_exchange_weak(state, kAwaited, std::memory_order_acq_rel)) {
        state_.wait(kAwaited, std::memory_order_acquire);
        state = state_.load(std::memory_order_acquire);
      }
    }
  }

 private:
  static constexpr uint32_t kArmed = 0, kRunning = 1, kAwaited = 2, kClosed = 3;
  std::atomic<uint32_t> state_{kArmed};
  std::atomic<std::thread::id> runner_{};
};

}  // namespace weft::inline v0::call

#endif  // WEFT_LIB_CALL_CALLBACK_GATE_H_
