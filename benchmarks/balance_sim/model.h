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
// us of a worker's time, which is added to the next work there. Each client has the library's
// ejection of outliers and slow start, with their defaults (client.h); that a server starts anew
// shows it as a connection lost and made again. What is not there: retries, hedges, connections
// that take time, messages that are lost or late.
//
// Runs begin at a third of the load, while everybody learns: a queue that grew before a balancer
// knew anything would take longer to drain than a run lasts.
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
inline constexpr double kWarmUpShare = 1.0 / 3;  // of the load
inline constexpr Nanos kFailsAfter = 200 * kMicro;
inline constexpr Nanos kSideWork = 50 * kMicro;  // of a probe, of a bounce
inline constexpr int kMostBounces = 2;
inline constexpr Nanos kEjectedWithin = 5 * kSecond;  // a server that fails is to be

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
  // From then on the first server fails each call at once (0.2 ms), and reports that it is idle and
  // fast (a sinkhole). Negative: it does not.
  Nanos fails_from = -1;
};

struct Setup {
  BalancerFactory balancer;
  int probes = 0;              // for each call, to servers drawn at random; nobody waits for them
  bool answers_report = true;  // else nothing but probes does
  uint32_t clients = 200;
  Fleet fleet = {};
  Work work = Work::kExponential;
  // Clients give servers that start anew a weight that grows.
  bool slow_start = true;
  // Calls a second, as a share of what the servers' mean speeds could do.
  double load = 0.5;
  uint64_t seed = 1;
  // Calls that arrive before `from` count only as history, and before `warm_up` there are fewer of
  // them. The run ends with the last call of before `until`.
  Nanos warm_up = 3 * kSecond;
  Nanos from = 7 * kSecond;
  Nanos until = 13 * kSecond;
};

// Of the calls between `from` and `until`.
struct Result {
  bench::LatencyHistogram took;
  uint64_t calls = 0;
  uint64_t errors = 0;
  uint64_t probes = 0;
  uint64_t bounces = 0;
  uint64_t at_first = 0;  // attempts at the first server, the sinkhole if there is one
  // Of those, where a server fails: what its client sent after it had ejected it; what arrived more
  // than 5 s after it began.
  uint64_t calls_after = 0;
  uint64_t errors_after = 0;
  uint64_t calls_later = 0;
  uint64_t errors_later = 0;
  std::vector<Nanos> ejected_after;  // it began to fail; of each client that ejected it
  std::vector<double> busy;          // each server's worker-time on calls, ns

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
