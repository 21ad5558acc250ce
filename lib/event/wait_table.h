// Waiting and waking of blocked callers.
//
// A completer wakes the callers that one read brought answers for. One futex call per caller would
// dominate the cost of a call, so waiters share words: 32 threads sleep on one generation word,
// each with a bit of its own, and one FUTEX_WAKE_BITSET wakes all of them whose answers came. The
// words belong to the process's threads, not to calls or connections: once a waiter is done,
// nothing of its call is touched any more, so its memory may go at once.
//
//   waiter                                      completer
//   gen = word.generation                       done.exchange(1) was 2: batch += (word, bit)
//   done: 0 → 2 (sleeping), and its slot        …
//   FUTEX_WAIT_BITSET(word, gen, bit)           at the end of the batch: ++word.generation,
//   … until done is 1                           FUTEX_WAKE_BITSET(word, bits)
//
// No wake-up is lost: a waiter that read the generation before the completer raised it does not
// sleep on the old value.
#ifndef WEFT_LIB_EVENT_WAIT_TABLE_H_
#define WEFT_LIB_EVENT_WAIT_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::inline v0::event {

struct alignas(64) WaitWord {
  std::atomic<uint32_t> generation{0};
};

// The callers to wake at the end of a batch. Belongs to whoever completes calls: not thread-safe.
// Room for a few words; when it is full it wakes early.
class WakeBatch {
 public:
  void Add(WaitWord* word, uint32_t bit);
  // Wakes them; says how many words' worth of threads, at least, were woken (0: nobody).
  size_t Wake();
  bool empty() const { return used_ == 0; }

 private:
  struct Entry {
    WaitWord* word;
    uint32_t bits;
  };
  static constexpr size_t kEntries = 16;
  Entry entries_[kEntries];
  size_t used_ = 0;
};

// One wait, of any thread.
class Waiter {
 public:
  Waiter() = default;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // Blocks until Complete was called. Once.
  void Wait();
  // Once, any thread. The waiter may be gone when it returns; its thread runs on only after `batch`
  // was woken, or before.
  void Complete(WakeBatch& batch);

 private:
  // kSleeping is joined by the slot of the thread that sleeps, so that whoever completes learns it
  // with the state, and touches nothing afterwards.
  static constexpr uint32_t kPending = 0, kDone = 1, kSleeping = 2, kStates = 4;
  std::atomic<uint32_t> done_{kPending};
};

}  // namespace weft::inline v0::event

#endif  // WEFT_LIB_EVENT_WAIT_TABLE_H_
