// The frame of a benchmark of unary calls: N callers that each have one call outstanding, measured
// from outside the library: latency, CPU of the whole process and context switches per call.
//
//   <program> --mode=sync|async --conc=N --port=P [--secs=2] [--warm=0.5] [--resp=64] [--req=64]
//             [--loops=0]
//
// sync: N threads that block; async: N calls outstanding, each started again from the callback of
// the one before. Ends with one line of JSON.
#ifndef WEFT_BENCHMARKS_CLOSED_LOOP_H_
#define WEFT_BENCHMARKS_CLOSED_LOOP_H_

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "arguments.h"
#include "latency_histogram.h"

namespace weft::bench {

inline Arguments LoopArguments(int argc, char** argv) {
  return {argc,
          argv,
          {{"mode", "sync"},
           {"conc", "1"},
           {"port", "7002"},
           {"secs", "2"},
           {"warm", "0.5"},
           {"resp", "64"},
           {"req", "64"},
           {"loops", "0"}}};
}

struct LoopShape {
  bool async = false;
  int conc = 1;
  double warm_seconds = 0.5;
  double seconds = 2;
};

struct Measured {
  LatencyHistogram latencies;  // of the calls that went well
  uint64_t errors = 0;
  double seconds = 0;
  // Each, of the whole process.
  double user_us = 0;
  double sys_us = 0;
  double switches = 0;
  double cpu_us() const { return user_us + sys_us; }
};

// `Caller` makes one call at a time and says whether the answer was what it should be:
//   bool Call();                            waits
//   template <class Done> void Start(Done)  calls done(bool) later; may be started again from there
template <class Caller>
class ClosedLoop {
 public:
  template <class MakeCaller>
  ClosedLoop(const LoopShape& shape, MakeCaller make) : shape_(shape), running_(shape.conc) {
    for (int i = 0; i < shape.conc; ++i) slots_.push_back(std::make_unique<Slot>(make()));
  }

  // Once.
  Measured Run() {
    std::vector<std::thread> threads;
    for (const auto& slot : slots_) {
      if (shape_.async) {
        Next(*slot);
      } else {
        threads.emplace_back([this, &slot = *slot] { CallUntilStopped(slot); });
      }
    }
    Sleep(shape_.warm_seconds);
    rusage before;
    rusage after;
    getrusage(RUSAGE_SELF, &before);
    const Clock::time_point begin = Clock::now();
    phase_ = Phase::kMeasure;
    Sleep(shape_.seconds);
    phase_ = Phase::kStop;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    getrusage(RUSAGE_SELF, &after);
    for (std::thread& thread : threads) thread.join();
    while (running_.load() > 0) std::this_thread::yield();
    return Sum(seconds, before, after);
  }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase { kWarm, kMeasure, kStop };
  struct Slot {
    explicit Slot(Caller made) : caller(std::move(made)) {}
    Caller caller;
    LatencyHistogram histogram;
    Clock::time_point start;
  };

  static void Sleep(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }
  bool stopped() const { return phase_.load(std::memory_order_relaxed) == Phase::kStop; }

  void CallUntilStopped(Slot& slot) {
    while (!stopped()) {
      slot.start = Clock::now();
      Record(slot, slot.caller.Call());
    }
    running_.fetch_sub(1);
  }
  void Next(Slot& slot) {
    if (stopped()) {
      running_.fetch_sub(1);
      return;
    }
    slot.start = Clock::now();
    slot.caller.Start([this, &slot](bool good) {
      Record(slot, good);
      Next(slot);
    });
  }
  void Record(Slot& slot, bool good) {
    if (phase_.load(std::memory_order_relaxed) != Phase::kMeasure) return;
    if (good) {
      slot.histogram.Add(Clock::now() - slot.start);
    } else {
      errors_.fetch_add(1);
    }
  }

  static double Micros(const timeval& from, const timeval& to) {
    return static_cast<double>(to.tv_sec - from.tv_sec) * 1e6 +
           static_cast<double>(to.tv_usec - from.tv_usec);
  }
  Measured Sum(double seconds, const rusage& before, const rusage& after) const {
    Measured sum;
    sum.errors = errors_.load();
    sum.seconds = seconds;
    for (const auto& slot : slots_) sum.latencies.Merge(slot->histogram);
    const uint64_t count = sum.latencies.count();
    const double calls = static_cast<double>(count > 0 ? count : 1);
    sum.user_us = Micros(before.ru_utime, after.ru_utime) / calls;
    sum.sys_us = Micros(before.ru_stime, after.ru_stime) / calls;
    const auto switches = after.ru_nvcsw - before.ru_nvcsw + after.ru_nivcsw - before.ru_nivcsw;
    sum.switches = static_cast<double>(switches) / calls;
    return sum;
  }

  const LoopShape shape_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::atomic<Phase> phase_{Phase::kWarm};
  std::atomic<uint64_t> errors_{0};
  std::atomic<int> running_;
};

// By LoopArguments, to the line of JSON and the exit status.
template <class Caller, class MakeCaller>
int RunLoop(const char* name, const Arguments& args, MakeCaller make) {
  const LoopShape shape{.async = args.Text("mode") == "async",
                        .conc = args.Int("conc"),
                        .warm_seconds = args.Real("warm"),
                        .seconds = args.Real("secs")};
  const Measured m = ClosedLoop<Caller>(shape, make).Run();
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const LatencyHistogram& latencies = m.latencies;
  std::printf(
      "{\"name\":\"%s\",\"conc\":%d,\"n\":%llu,\"errors\":%llu,\"rps\":%.0f,\"p50\":%.1f,"
      "\"p99\":%.1f,\"p999\":%.1f,\"user_us\":%.3f,\"sys_us\":%.3f,\"cpu_us\":%.3f,\"csw\":%.3f,"
      "\"rss_mb\":%.1f}\n",
      name, shape.conc, static_cast<unsigned long long>(latencies.count()),
      static_cast<unsigned long long>(m.errors), static_cast<double>(latencies.count()) / m.seconds,
      latencies.QuantileMicros(.5), latencies.QuantileMicros(.99), latencies.QuantileMicros(.999),
      m.user_us, m.sys_us, m.cpu_us(), m.switches, static_cast<double>(usage.ru_maxrss) / 1024.0);
  return m.errors == 0 ? 0 : 1;
}

}  // namespace weft::bench

#endif  // WEFT_BENCHMARKS_CLOSED_LOOP_H_
