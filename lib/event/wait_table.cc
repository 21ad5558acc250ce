#include "event/wait_table.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace weft::inline v0::event {
namespace {

constexpr size_t kWords =
    64;  // 2,048 threads before two of them share a bit (and may wake each other without need)

// Zero-initialised and trivially destroyed: the words live as long as the threads that sleep on
// them, that is, for ever.
constinit WaitWord words[kWords];

uint32_t* Raw(std::atomic<uint32_t>& word) { return reinterpret_cast<uint32_t*>(&word); }

void FutexWait(std::atomic<uint32_t>& word, uint32_t expected, uint32_t bit) {
  syscall(SYS_futex, Raw(word), FUTEX_WAIT_BITSET_PRIVATE, expected, nullptr, nullptr, bit);
}

void FutexWake(std::atomic<uint32_t>& word, uint32_t bits) {
  syscall(SYS_futex, Raw(word), FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, nullptr, nullptr, bits);
}

// Neighbouring threads share a word, so that the threads of one pool are woken by one call.
uint32_t ThisThreadsSlot() {
  static std::atomic<uint32_t> next{0};
  thread_local const uint32_t mine = next.fetch_add(1, std::memory_order_relaxed) % (kWords * 32);
  return mine;
}

}  // namespace

void WakeBatch::Add(WaitWord* word, uint32_t bit) {
  for (size_t i = 0; i < used_; ++i) {
    if (entries_[i].word == word) {
      entries_[i].bits |= bit;
      return;
    }
  }
  if (used_ == kEntries) Wake();
  entries_[used_++] = {word, bit};
}

size_t WakeBatch::Wake() {
  size_t woken = 0;
  for (size_t i = 0; i < used_; ++i) {
    entries_[i].word->generation.fetch_add(1, std::memory_order_seq_cst);
    FutexWake(entries_[i].word->generation, entries_[i].bits);
    woken += static_cast<size_t>(__builtin_popcount(entries_[i].bits));
  }
  used_ = 0;
  return woken;
}

void Waiter::Wait() {
  const uint32_t slot = ThisThreadsSlot();
  WaitWord& word = words[slot / 32];
  const uint32_t bit = 1u << (slot % 32);
  const uint32_t sleeping = kSleeping + slot * kStates;
  for (;;) {
    const uint32_t generation = word.generation.load(std::memory_order_seq_cst);
    uint32_t pending = kPending;
    if (!done_.compare_exchange_strong(pending, sleeping, std::memory_order_seq_cst) &&
        pending == kDone)
      return;
    FutexWait(word.generation, generation, bit);
    if (done_.load(std::memory_order_acquire) == kDone) return;
  }
}

void Waiter::Complete(WakeBatch& batch) {
  const uint32_t before = done_.exchange(kDone, std::memory_order_seq_cst);
  // From here on the waiter may be gone.
  if (before == kPending) return;
  const uint32_t slot = before / kStates;
  batch.Add(&words[slot / 32], 1u << (slot % 32));
}

}  // namespace weft::inline v0::event
