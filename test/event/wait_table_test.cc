// Blocked callers are woken, each once, by whoever completes them.
#include "event/wait_table.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "support/catch.h"

namespace weft::event {
namespace {

TEST_CASE("a wait that was completed before it began does not sleep") {
  Waiter waiter;
  WakeBatch batch;
  waiter.Complete(batch);
  CHECK(batch.empty());
  waiter.Wait();
}

TEST_CASE("many threads are woken through few words, and none is forgotten") {
  constexpr int kThreads = 70;
  constexpr int kRounds = 50;
  std::vector<std::atomic<Waiter*>> waiting(kThreads);
  std::atomic<int> through{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        Waiter waiter;
        waiting[static_cast<size_t>(t)].store(&waiter, std::memory_order_release);
        waiter.Wait();
        through.fetch_add(1);
      }
    });
  }
  int completed = 0;
  while (completed < kThreads * kRounds) {
    WakeBatch batch;
    for (auto& slot : waiting) {
      if (Waiter* const waiter = slot.exchange(nullptr, std::memory_order_acquire)) {
        waiter->Complete(batch);
        ++completed;
      }
    }
    batch.Wake();
    CHECK(batch.empty());
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(through.load() == kThreads * kRounds);
}

}  // namespace
}  // namespace weft::event
