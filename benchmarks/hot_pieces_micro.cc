// The hot pieces of a call, one by one: strand, timers, the list of what is waiting, waking,
// headers.
#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/snapshot.h"
#include "event/epoll_loop.h"
#include "event/strand.h"
#include "event/timer_heap.h"
#include "event/wait_table.h"
#include "weft/headers.h"

namespace weft {
namespace {

struct Nothing final : event::Op {
  void Run() override {}
};
struct Body final : event::Strand::Body {
  void Flush() override {}
  void Keep() override {}
  void Drop() override {}
};

std::atomic<uint64_t> slow_turns{0};

// An uncontended operation: link, drive, let go.
void StrandSubmit(benchmark::State& state) {
  const auto loop = event::EpollLoop::Start("bench", &slow_turns).value();
  Body body;
  event::Strand strand(*loop, body);
  Nothing op;
  for (auto _ : state) strand.Submit(&op);
}
BENCHMARK(StrandSubmit);

struct Tick final : event::Timer {
  void OnTimer() override {}
};

// Deadlines in rising order, as calls with equal timeouts have them, with state.range(0) of them
// armed.
void TimerArmAndDisarm(benchmark::State& state) {
  event::TimerHeap heap;
  std::vector<std::unique_ptr<Tick>> ticks;
  base::MonoTime at{};
  for (int i = 0; i < state.range(0); ++i) ticks.push_back(std::make_unique<Tick>());
  for (auto& tick : ticks) heap.Arm(tick.get(), at += std::chrono::microseconds(1));
  size_t next = 0;
  for (auto _ : state) {
    Tick* const tick = ticks[next].get();
    next = (next + 1) % ticks.size();
    heap.Disarm(tick);
    heap.Arm(tick, at += std::chrono::microseconds(1));
  }
  for (auto& tick : ticks) heap.Disarm(tick.get());
}
BENCHMARK(TimerArmAndDisarm)->Arg(1)->Arg(128)->Arg(10000);

void SnapshotRead(benchmark::State& state) {
  static base::Snapshot<int>* const snapshot = [] {
    auto* made = new base::Snapshot<int>();
    made->Set(std::make_shared<const int>(7));
    return made;
  }();
  for (auto _ : state)
    benchmark::DoNotOptimize(snapshot->With([](const int* value) { return *value; }));
}
BENCHMARK(SnapshotRead)->Threads(1)->Threads(2);

// Completing a caller that has not gone to sleep yet.
void CompleteAwakeWaiter(benchmark::State& state) {
  for (auto _ : state) {
    event::Waiter waiter;
    event::WakeBatch batch;
    waiter.Complete(batch);
    waiter.Wait();
  }
}
BENCHMARK(CompleteAwakeWaiter);

void HeadersOfAResponse(benchmark::State& state) {
  for (auto _ : state) {
    Headers headers;
    headers.Reserve(4, 128);
    headers.Add("content-type", "application/grpc");
    headers.Add("date", "Sun, 06 Nov 1994 08:49:37 GMT");
    headers.Add("server", "lean");
    headers.Add("x-request-id", "0123456789abcdef");
    benchmark::DoNotOptimize(headers["x-request-id"]);
  }
}
BENCHMARK(HeadersOfAResponse);

void HeadersValidate(benchmark::State& state) {
  const Headers headers{{"te", "trailers"},
                        {"content-type", "application/grpc"},
                        {"x-request-id", "0123456789abcdef"}};
  for (auto _ : state) benchmark::DoNotOptimize(headers.Validate());
}
BENCHMARK(HeadersValidate);

}  // namespace
}  // namespace weft

BENCHMARK_MAIN();
