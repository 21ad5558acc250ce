// What hedging does to the slowest calls: the same calls without and with it, to servers of which
// one is late with every tenth answer. examples/run starts them:
//   hedging static:127.0.0.1:8001,127.0.0.1:8002,127.0.0.1:8003
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "weft/weft.h"

namespace {

constexpr size_t kThreads = 8;
constexpr size_t kCallsPerThread = 500;

struct Run {
  std::vector<double> ms;  // how long each call took, in order of length
  size_t failed = 0;
  std::string failure;
  weft::FactoryStats stats;

  double At(double percentile) const {
    return ms[std::min(ms.size() - 1,
                       static_cast<size_t>(percentile * static_cast<double>(ms.size())))];
  }
};

absl::StatusOr<Run> CallThem(const std::string& target, weft::HedgeOptions hedge) {
  auto factory = weft::ChannelFactory::Create();
  if (!factory.ok()) return factory.status();
  // The default balancer would soon leave the late server alone; here it keeps its share.
  auto channel = (*factory)->GetChannel(target, {.balancer = weft::RoundRobin(), .hedge = hedge});
  if (!channel.ok()) return channel.status();
  absl::Status ready = (*channel)->WaitForReady(absl::Seconds(5));
  if (!ready.ok()) return ready;

  std::vector<std::vector<absl::StatusOr<weft::Response>>> answers(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : answers) {
    threads.emplace_back([&] {
      for (size_t i = 0; i < kCallsPerThread; ++i)
        mine.push_back((*channel)->Call(weft::Request::Get("/hedging")));
    });
  }
  for (std::thread& thread : threads) thread.join();

  Run run;
  run.stats = (*factory)->Stats();
  for (const auto& mine : answers) {
    for (const auto& answer : mine) {
      if (answer.ok()) {
        run.ms.push_back(absl::ToDoubleMilliseconds(answer->info.took));
      } else {
        ++run.failed;
        run.failure = answer.status().ToString();
      }
    }
  }
  std::sort(run.ms.begin(), run.ms.end());
  return run;
}

// A bar on a scale of logarithms: each four characters are twice as long.
std::string Bar(double ms) {
  const double length = 4 * std::log2(std::max(ms, 0.25) / 0.25);
  return std::string(1 + static_cast<size_t>(length), '#');
}

void Show(const char* name, double percentile, const Run& without, const Run& with) {
  const double a = without.At(percentile);
  const double b = with.At(percentile);
  std::printf("%-6s %8.2f ms %-36s %8.2f ms %s\n", name, a, Bar(a).c_str(), b, Bar(b).c_str());
}

int Fail(const std::string& why) {
  std::fprintf(stderr, "hedging: %s\n", why.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string target = argc > 1 ? argv[1] : "";
  const absl::StatusOr<Run> without = CallThem(target, {});
  if (!without.ok()) return Fail(without.status().ToString());
  const absl::StatusOr<Run> with = CallThem(target, {.when = weft::HedgeOptions::When::kAdaptive});
  if (!with.ok()) return Fail(with.status().ToString());
  for (const Run& run : {*without, *with}) {
    if (run.failed > 0) return Fail(std::to_string(run.failed) + " calls failed: " + run.failure);
  }

  std::printf("%-6s %-47s   %s\n", "", "without hedges", "with them");
  Show("p50", 0.5, *without, *with);
  Show("p90", 0.9, *without, *with);
  Show("p95", 0.95, *without, *with);
  Show("p99", 0.99, *without, *with);
  Show("p99.9", 0.999, *without, *with);

  const uint64_t calls = kThreads * kCallsPerThread;
  const weft::FactoryStats& stats = with->stats;
  std::printf(
      "\n%llu of %llu calls were hedged (%.1f %% more load), and %llu of the hedges answered "
      "first.\nTo call off the losers took %llu resets of streams; %llu were left to end.\n",
      static_cast<unsigned long long>(stats.hedges), static_cast<unsigned long long>(calls),
      100.0 * static_cast<double>(stats.hedges) / static_cast<double>(calls),
      static_cast<unsigned long long>(stats.hedges_won),
      static_cast<unsigned long long>(stats.resets_sent),
      static_cast<unsigned long long>(stats.losers_drained));
  return 0;
}
