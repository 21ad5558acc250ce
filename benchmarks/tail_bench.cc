// tail_bench: the tail of latency without and with hedging, against three echo servers of its own
// that send one answer in a hundred 100 ms late, each by its own chance.
//
//   tail_bench [--rate=2000] [--secs=20] [--warm=3] [--slow=0.01] [--slow-ms=100] [--workers=64]
//
// Calls start at that many a second, whatever has become of those before, and their latency counts
// from when they were to start. Adaptive hedging learns while it warms up. Each way has a factory,
// and so connections, of its own. --workers=0: the servers do not say how busy they are.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "arguments.h"
#include "bench_client.h"
#include "echo_call.h"
#include "echo_server.h"
#include "latency_histogram.h"

namespace {

using Clock = std::chrono::steady_clock;
using When = weft::HedgeOptions::When;
using weft::bench::EchoCaller;

constexpr uint32_t kPayload = 64;

class OpenLoop {
 public:
  OpenLoop(weft::Channel& channel, double per_second)
      : caller_{&channel, &request_, weft::bench::EchoMessage(0, kPayload).size(),
                /*idempotent=*/true},
        per_second_(per_second) {}

  // Starts calls for so long, and waits for the answers.
  void Run(double seconds) {
    const Clock::time_point begin = Clock::now();
    const auto calls = static_cast<int64_t>(per_second_ * seconds);
    running_ += calls;
    for (int64_t i = 0; i < calls; ++i) {
      const auto since = std::chrono::duration<double>(static_cast<double>(i) / per_second_);
      const auto start = begin + std::chrono::duration_cast<Clock::duration>(since);
      std::this_thread::sleep_until(start);
      caller_.Start([this, start](bool good) { OnEnd(start, good); });
    }
    for (int64_t now = running_; now > 0; now = running_) running_.wait(now);
  }

  weft::bench::LatencyHistogram latencies() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return latencies_;
  }
  uint64_t errors() const { return errors_; }
  void Forget() {
    std::lock_guard<std::mutex> lock(mutex_);
    latencies_ = {};
  }

 private:
  void OnEnd(Clock::time_point start, bool good) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (good) latencies_.Add(Clock::now() - start);
    }
    if (!good) ++errors_;
    if (running_.fetch_sub(1) == 1) running_.notify_one();
  }

  const std::string request_ = weft::bench::EchoMessage(kPayload, kPayload);
  EchoCaller caller_;
  const double per_second_;
  std::atomic<int64_t> running_{0};
  std::atomic<uint64_t> errors_{0};
  mutable std::mutex mutex_;
  weft::bench::LatencyHistogram latencies_;
};

// False: some call failed.
bool Measure(const char* name, const weft::HedgeOptions& hedge, const std::string& target,
             const weft::bench::Arguments& args) {
  const auto factory = weft::bench::OrEnd(
      weft::ChannelFactory::Create({.channel = {.balancer = weft::RoundRobin(), .hedge = hedge}}));
  const auto channel = weft::bench::OrEnd(factory->GetChannel(target));
  OpenLoop loop(*channel, args.Real("rate"));
  loop.Run(args.Real("warm"));
  loop.Forget();
  const weft::FactoryStats before = factory->Stats();
  loop.Run(args.Real("secs"));
  const weft::FactoryStats after = factory->Stats();
  const weft::bench::LatencyHistogram latencies = loop.latencies();
  const auto each = [&](uint64_t many) {
    return static_cast<double>(many) / static_cast<double>(latencies.count());
  };
  std::printf("%-18s", name);
  for (const double q : {.5, .95, .99, .995, .999, .9995})
    std::printf(" %7.2f", latencies.QuantileMicros(q) / 1000);
  std::printf("   %8.4f %7llu %8llu\n", each(after.streams_opened - before.streams_opened),
              static_cast<unsigned long long>(after.resets_sent - before.resets_sent),
              static_cast<unsigned long long>(after.losers_drained - before.losers_drained));
  std::fflush(stdout);
  return loop.errors() == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const weft::bench::Arguments args(argc, argv,
                                    {{"rate", "2000"},
                                     {"secs", "20"},
                                     {"warm", "3"},
                                     {"slow", "0.01"},
                                     {"slow-ms", "100"},
                                     {"workers", "64"}});
  std::deque<weft::bench::EchoServer> servers;
  std::string target = "static:";
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    servers.emplace_back(
        weft::bench::EchoServerOptions{.slow_share = args.Real("slow"),
                                       .slow_by = std::chrono::milliseconds(args.Int("slow-ms")),
                                       .seed = seed,
                                       .workers = args.Int("workers")});
    target += (seed > 1 ? "," : "") + servers.back().address();
  }
  std::printf(
      "latency, ms            p50     p95     p99   p99.5   p99.9  p99.95   "
      "attempts  resets  drained\n");
  bool good = Measure("no hedging", {}, target, args);
  good &= Measure("after 10 ms", {.when = When::kAfterDelay, .delay = absl::Milliseconds(10)},
                  target, args);
  good &= Measure("at p95", {.when = When::kAtPercentile}, target, args);
  good &= Measure("adaptive", {.when = When::kAdaptive}, target, args);
  return good ? 0 : 1;
}
