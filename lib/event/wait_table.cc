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

Waiter::Waiter() : word_(&words[ThisThreadsSlot() / 32]), bit_(1u << (ThisThreadsSlot() % 32)) {}

void Waiter::Wait() {
  for (;;) {
    const uint32_t generation = word_->generation.load(std::memory_order_seq_cst);
    uint32_t pending = kPending;
    if (!done_.compare_exchange_strong(pending, kSleeping, std::memory_order_seq_cst) &&
        pending == kDone)
      return;
    FutexWait(word_->generation, generation, bit_);
    if (done_.load(std::memory_order_acquire) == kDone) return;
  }
}

void Waiter::Complete(WakeBatch& batch) {
  WaitWord* const word = word_;
  const uint32_t bit = bit_;
  // From here on the waiter may be gone.
  if (done_.exchange(kDone, std::memory_order_seq_cst) == kSleeping) batch.Add(word, bit);
}

}  // namespace weft::inline v0::event
