// What is simulated: servers, clients that balance with the library's own balancers, the run.
//
// 100 servers of W workers with one queue each (first come, first served), C clients that know
// nothing of each other, and an open loop of calls (Poisson), each by a client drawn at random. The
// work of a call takes 10 ms in the mean on a server of speed 1, a message 0.25 ms. Each answer
// carries a report of its server's load; its utilization is the CPU time of the last second by
// worker, which what a neighbour takes is no part of: a server that gets less looks no busier (as
// in the Prequal paper, where weighted round robin goes by that). A call is in error where its
// server failed it or it took more than 15 s.
//
// A probe, and a request that its server refuses because of its load ("bounce"), cost the server 50
// us of a worker's time, which is added to the next work there. What is not there: retries, hedges,
// ejection of outliers, connections, messages that are lost or late.
#ifndef WEFT_BENCHMARKS_BALANCE_SIM_MODEL_H_
#define WEFT_BENCHMARKS_BALANCE_SIM_MODEL_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "balance_sim/event_queue.h"
#include "latency_histogram.h"
#include "weft/balancer.h"

namespace weft::balance_sim {

inline constexpr uint32_t kServers = 100;
inline constexpr Nanos kMeanWork = 10 * kMilli;
inline constexpr Nanos kOneWay = 250 * kMicro;
inline constexpr Nanos kTimeout = 15 * kSecond;
inline constexpr Nanos kFailsAfter = 200 * kMicro;
inline constexpr Nanos kSideWork = 50 * kMicro;  // of a probe, of a bounce
inline constexpr int kMostBounces = 2;

// How the work of calls is spread.
enum class Work : uint8_t {
  kExponential,
  kLognormal,  // of a coefficient of variation of 1.5
};

// How fast servers are, from 1, and what changes it.
struct Fleet {
  uint32_t workers = 1;
  // Speeds from 0.5 to 2, log-uniform; else all 1.
  bool mixed = false;
  // Neighbours on the same machine that come and go: while one is there, the speed is `slowed`
  // times as high. Mean times, exponential; 0: none.
  struct {
    Nanos there = 0;
    Nanos gone = 0;
    double slowed = 1;
  } antagonists = {};
  // Every 10 s the next tenth of the servers starts anew: 5 times as slow, getting to its speed in
  // 10 s.
  bool deploying = false;
  // The first server fails each call at once (0.2 ms), and reports that it is idle and fast.
  bool sinkhole = false;
};

struct Setup {
  BalancerFactory balancer;
  int probes = 0;  // for each call, to servers drawn at random; nobody waits for them
  uint32_t clients = 200;
  Fleet fleet = {};
  Work work = Work::kExponential;
  // While a fleet deploys, clients give servers that start a weight that grows (semantics.md).
  bool slow_start = true;
  // Calls a second, as a share of what the servers' mean speeds could do.
  double load = 0.5;
  uint64_t seed = 1;
  // Calls that arrive before `from` count only as history. The run ends with the last call of
  // before `until`.
  Nanos from = 5 * kSecond;
  Nanos until = 20 * kSecond;
};

// Of the calls between `from` and `until`.
struct Result {
  bench::LatencyHistogram took;
  uint64_t calls = 0;
  uint64_t errors = 0;
  uint64_t probes = 0;
  uint64_t bounces = 0;
  uint64_t at_first = 0;     // attempts at the first server, the sinkhole if there is one
  std::vector<double> busy;  // each server's worker-time on calls, ns

  double Millis(double quantile) const { return took.QuantileMicros(quantile) / 1000; }
  double PerCall(uint64_t count) const {
    return static_cast<double>(count) / static_cast<double>(std::max<uint64_t>(calls, 1));
  }
  // How much busier than the mean the busiest server was.
  double BusiestByMean() const {
    const double sum = std::accumulate(busy.begin(), busy.end(), 0.0);
    return sum == 0 ? 1
                    : *std::max_element(busy.begin(), busy.end()) *
                          static_cast<double>(busy.size()) / sum;
  }
};

Result Simulate(const Setup& setup);

}  // namespace weft::balance_sim

#endif  // WEFT_BENCHMARKS_BALANCE_SIM_MODEL_H_
