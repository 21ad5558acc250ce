// The frame of a benchmark of unary calls: N callers that each have one call outstanding, measured
// from outside the library: latency, CPU of the whole process and context switches per call.
//
//   <program> --mode=sync|async --conc=N --port=P [--secs=2] [--warm=0.5] [--resp=64] [--req=64]
//             [--loops=0] and what the program adds
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
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "latency_histogram.h"

namespace weft::bench {

class Arguments {
 public:
  // `more`: arguments of the program itself, with their defaults. Ends the program where one is
  // unknown.
  Arguments(int argc, char** argv, std::map<std::string, std::string> more = {})
      : values_(std::move(more)) {
    values_.insert({{"mode", "sync"},
                    {"conc", "1"},
                    {"port", "7002"},
                    {"secs", "2"},
                    {"warm", "0.5"},
                    {"resp", "64"},
                    {"req", "64"},
                    {"loops", "0"}});
    for (int i = 1; i < argc; ++i) {
      const std::string arg = argv[i];
      const size_t equals = arg.find('=');
      if (arg.rfind("--", 0) != 0 || equals == std::string::npos ||
          values_.count(arg.substr(2, equals - 2)) == 0) {
        std::fprintf(stderr, "unknown argument %s; see the top of the source\n", arg.c_str());
        std::exit(2);
      }
      values_[arg.substr(2, equals - 2)] = arg.substr(equals + 1);
    }
  }
  const std::string& Text(const char* name) const { return values_.at(name); }
  int Int(const char* name) const { return std::atoi(Text(name).c_str()); }
  double Real(const char* name) const { return std::atof(Text(name).c_str()); }

 private:
  std::map<std::string, std::string> values_;
};

// `Caller` makes one call at a time and says whether the answer was what it should be:
//   bool Call();                            waits
//   template <class Done> void Start(Done)  calls done(bool) later; may be started again from there
template <class Caller>
class ClosedLoop {
 public:
  template <class MakeCaller>
  ClosedLoop(const Arguments& args, MakeCaller make) : args_(args), running_(args.Int("conc")) {
    for (int i = 0; i < args.Int("conc"); ++i) slots_.push_back(std::make_unique<Slot>(make()));
  }

  // The exit status.
  int Run(const char* name) {
    std::vector<std::thread> threads;
    for (const auto& slot : slots_) {
      if (args_.Text("mode") == "async") {
        Next(*slot);
      } else {
        threads.emplace_back([this, &slot = *slot] { CallUntilStopped(slot); });
      }
    }
    Sleep(args_.Real("warm"));
    rusage before;
    rusage after;
    getrusage(RUSAGE_SELF, &before);
    const Clock::time_point begin = Clock::now();
    phase_ = Phase::kMeasure;
    Sleep(args_.Real("secs"));
    phase_ = Phase::kStop;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    getrusage(RUSAGE_SELF, &after);
    for (std::thread& thread : threads) thread.join();
    while (running_.load() > 0) std::this_thread::yield();
    Print(name, seconds, before, after);
    return errors_.load() == 0 ? 0 : 1;
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

  static double Seconds(const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  }
  void Print(const char* name, double seconds, const rusage& before, const rusage& after) {
    LatencyHistogram all;
    for (const auto& slot : slots_) all.Merge(slot->histogram);
    const double calls = static_cast<double>(all.count() > 0 ? all.count() : 1);
    const double user_us = (Seconds(after.ru_utime) - Seconds(before.ru_utime)) * 1e6 / calls;
    const double sys_us = (Seconds(after.ru_stime) - Seconds(before.ru_stime)) * 1e6 / calls;
    const double switches =
        static_cast<double>(after.ru_nvcsw - before.ru_nvcsw + after.ru_nivcsw - before.ru_nivcsw);
    std::printf(
        "{\"name\":\"%s\",\"conc\":%d,\"n\":%llu,\"errors\":%llu,\"rps\":%.0f,\"p50\":%.1f,"
        "\"p99\":%.1f,\"p999\":%.1f,\"user_us\":%.3f,\"sys_us\":%.3f,\"cpu_us\":%.3f,\"csw\":%.3f,"
        "\"rss_mb\":%.1f}\n",
        name, args_.Int("conc"), static_cast<unsigned long long>(all.count()),
        static_cast<unsigned long long>(errors_.load()), static_cast<double>(all.count()) / seconds,
        all.QuantileMicros(.5), all.QuantileMicros(.99), all.QuantileMicros(.999), user_us, sys_us,
        user_us + sys_us, switches / calls, static_cast<double>(after.ru_maxrss) / 1024.0);
  }

  const Arguments& args_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::atomic<Phase> phase_{Phase::kWarm};
  std::atomic<uint64_t> errors_{0};
  std::atomic<int> running_;
};

}  // namespace weft::bench

#endif  // WEFT_BENCHMARKS_CLOSED_LOOP_H_
