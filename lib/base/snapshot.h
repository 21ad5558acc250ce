// Snapshot<T>: an immutable value that many threads read all the time and one replaces now and
// then.
//
// Readers lock one of 16 stripes, chosen by thread, so that they meet neither each other nor a
// shared reference count; a writer visits all stripes. A read therefore costs one uncontended lock
// (about 20 ns), whatever the number of cores.
#ifndef WEFT_LIB_BASE_SNAPSHOT_H_
#define WEFT_LIB_BASE_SNAPSHOT_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace weft::inline v0::base {

template <class T>
class Snapshot {
 public:
  // `read` is called with the present value (null before the first Set) and must be short: a writer
  // waits for it.
  template <class Read>
  auto With(Read&& read) const {
    const Stripe& stripe = stripes_[ThisThreadsStripe()];
    std::lock_guard<std::mutex> lock(stripe.mutex);
    return std::forward<Read>(read)(stripe.value.get());
  }
  std::shared_ptr<const T> Get() const {
    const Stripe& stripe = stripes_[ThisThreadsStripe()];
    std::lock_guard<std::mutex> lock(stripe.mutex);
    return stripe.value;
  }
  // When it returns, no reader uses the old value any more.
  void Set(std::shared_ptr<const T> value) {
    for (Stripe& stripe : stripes_) {
      std::shared_ptr<const T> old = value;
      std::lock_guard<std::mutex> lock(stripe.mutex);
      stripe.value.swap(old);
    }
  }

 private:
  static constexpr size_t kStripes = 16;
  struct alignas(64) Stripe {
    mutable std::mutex mutex;
    std::shared_ptr<const T> value;
  };
  static size_t ThisThreadsStripe() {
    static std::atomic<size_t> next{0};
    thread_local const size_t mine = next.fetch_add(1, std::memory_order_relaxed) % kStripes;
    return mine;
  }
  std::array<Stripe, kStripes> stripes_;
};

}  // namespace weft::inline v0::base

#endif  // WEFT_LIB_BASE_SNAPSHOT_H_
