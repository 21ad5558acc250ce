// LastReport: what a host last said of its own load, kept where every pick can read it.
#ifndef WEFT_LIB_CLUSTER_LAST_REPORT_H_
#define WEFT_LIB_CLUSTER_LAST_REPORT_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "base/time.h"
#include "weft/load_report.h"

namespace weft::inline v0::cluster {

// Thread-safe, without locks: a sequence lock (Boehm, "Can Seqlocks Get Along with Programming
// Language Memory Models?", 2012). Of several that write at the same time one wins, and the others
// leave it at that: they all have news of the same moment.
class LastReport {
 public:
  struct Stamped {
    LoadReport report;
    base::MonoTime at = base::MonoTime::min();  // min(): there was none
    uint32_t entered = 0;                       // attempts that the host had been given by then
    bool operator==(const Stamped&) const = default;
  };

  void Set(const Stamped& last) {
    uint32_t before = sequence_.load(std::memory_order_relaxed);
    if (before % 2 != 0 ||
        !sequence_.compare_exchange_strong(before, before + 1, std::memory_order_acquire,
                                           std::memory_order_relaxed)) {
      return;
    }
    const Words words = std::bit_cast<Words>(Packed{last});
    std::atomic_thread_fence(std::memory_order_release);
    for (size_t i = 0; i < kWords; ++i) words_[i].store(words[i], std::memory_order_relaxed);
    sequence_.store(before + 2, std::memory_order_release);
  }

  Stamped Get() const {
    for (;;) {
      const uint32_t before = sequence_.load(std::memory_order_acquire);
      if (before == 0) return {};
      Words words;
      for (size_t i = 0; i < kWords; ++i) words[i] = words_[i].load(std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (before % 2 == 0 && sequence_.load(std::memory_order_relaxed) == before)
        return std::bit_cast<Packed>(words).last;
    }
  }

 private:
  static constexpr size_t kWords = (sizeof(Stamped) + 7) / 8;
  using Words = std::array<uint64_t, kWords>;
  struct Packed {
    Stamped last;
  };
  static_assert(sizeof(Packed) == sizeof(Words));

  std::atomic<uint32_t> sequence_{0};  // odd: being written
  std::array<std::atomic<uint64_t>, kWords> words_{};
};

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_LAST_REPORT_H_
