#include "base/fork.h"

#include <pthread.h>

#include <atomic>

namespace weft::inline v0::base {
namespace {

constinit std::atomic<uint64_t> generation{0};

}  // namespace

uint64_t ForkGeneration() {
  [[maybe_unused]] static const int registered =
      pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
  return generation.load(std::memory_order_relaxed);
}

}  // namespace weft::inline v0::base
