// Turn: a number that all pickers of a balancer count on. Thread-safe.
#ifndef WEFT_LIB_BALANCE_TURN_H_
#define WEFT_LIB_BALANCE_TURN_H_

#include <atomic>
#include <cstdint>

namespace weft::inline v0::balance {

// Alone on its cache line, as all calls write it.
class alignas(64) Turn {
 public:
  explicit Turn(uint64_t start) : next_(start) {}
  uint64_t Take() { return next_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> next_;
};

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_TURN_H_
