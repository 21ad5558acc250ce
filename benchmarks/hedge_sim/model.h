// What is simulated: the fleet, the causes of slowness, the run.
//
// 50 hosts of 4 workers with one queue each, 100 clients that choose among them by P2C on their own
// requests in flight, and an open loop of calls (Poisson). A request has work of its own, lognormal
// of 10 ms mean and sigma 0.8, and its hedge has the same: slowness that is the request's follows
// it.
// Each answer carries a report of the host's load. A message takes 0.25 ms.
//
// A reset takes a request from its host's queue, or from its worker, when it arrives. What is not
// there: balancing by reports, ejection of hosts, connections that fail, limits of resets.
#ifndef WEFT_BENCHMARKS_HEDGE_SIM_MODEL_H_
#define WEFT_BENCHMARKS_HEDGE_SIM_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "hedge_sim/event_queue.h"
#include "weft/hedge_options.h"
#include "weft/retry_options.h"

namespace weft::hedge_sim {

inline constexpr uint32_t kHosts = 50;
inline constexpr uint32_t kWorkers = 4;
inline constexpr uint32_t kClients = 100;
inline constexpr Nanos kMeanWork = 10 * kMilli;
inline constexpr double kSigma = 0.8;
inline constexpr Nanos kOneWay = 250 * kMicro;
// So long a cancelled attempt still counts as in flight for its client's balancer: what was
// cancelled because a host is slow must not make that host look idle.
inline constexpr Nanos kForgetAfter = 2 * kSecond;

enum class Cause : uint8_t {
  kNone,          // T0
  kSlowAttempts,  // T1: 1 % of attempts have 200 ms more work, wherever they run
  kPauses,        // T2: each host stands still for 100 … 300 ms every 10 s
  kSlowHost,      // T3: one host takes 20 times as long
  kStalls,        // T4: 0.1 % of requests stall their connection for 200 ms
  kSlowRequests,  // T5: 1 % of requests have 200 ms more work, and their hedges too
};
inline constexpr size_t kCauses = 6;
inline constexpr std::string_view kCauseNames[kCauses] = {"T0", "T1", "T2", "T3", "T4", "T5"};

// Of two random hosts a client takes the one with less in flight.
enum class Balancer : uint8_t {
  kOwnInFlight,  // of this client's requests, cancelled ones for `kForgetAfter` more
  kTrueLoad,     // of all clients': better than any balancer can know, for comparison
};

struct Setup {
  Cause cause = Cause::kNone;
  // Of the workers' time, the causes' 200 ms included; pauses and a slow host take from what is
  // left.
  double load = 0.5;
  uint64_t seed = 1;
  Balancer balancer = Balancer::kOwnInFlight;
  HedgeOptions hedge = {};
  // Without resets hosts work on cancelled attempts to the end.
  bool drain = false;
  RetryOptions retry = {};
  // Retries and hedges take from budgets of their own.
  bool separate_budgets = false;
  Nanos timeout = 15 * kSecond;

  // Calls that arrive before `from` count only as history: with hedging all of them, without it
  // (nothing is learnt) those of the last `kSettle`. The run ends with the last call of before
  // `until`.
  Nanos from = 60 * kSecond;
  Nanos until = 100 * kSecond;

  // Times as many calls in a while.
  struct {
    double times = 1;
    Nanos from = 0;
    Nanos until = 0;
  } burst = {};
  // The first so many hosts answer UNAVAILABLE at once, in a while.
  struct {
    uint32_t hosts = 0;
    Nanos from = 0;
    Nanos until = 0;
  } failing = {};
  // All hosts stand still, in a while.
  struct {
    Nanos from = 0;
    Nanos until = 0;
  } frozen = {};
};
inline constexpr Nanos kSettle = 15 * kSecond;

// Of the calls between `from` and `until`.
struct Result {
  struct Sample {
    float arrived = 0;  // seconds
    float took = 0;     // milliseconds
    bool ok = true;
    uint8_t attempts = 1;
  };
  std::vector<Sample> samples;
  uint64_t calls = 0;
  uint64_t attempts = 0;
  uint64_t hedges = 0;
  uint64_t hedges_won = 0;
  uint64_t succeeded = 0;
  // Of the workers', in ns: all, and what went into answers that were taken.
  double worked = 0;
  double useful = 0;

  // Milliseconds; of all samples.
  double Quantile(double q) const;
  double AttemptsPerCall() const {
    return static_cast<double>(attempts) / static_cast<double>(calls);
  }
  double HedgesWon() const {
    return hedges == 0 ? 0 : static_cast<double>(hedges_won) / static_cast<double>(hedges);
  }
  double ExtraWork() const { return useful == 0 ? 0 : worked / useful - 1; }
  double Success() const { return static_cast<double>(succeeded) / static_cast<double>(calls); }
};

Result Simulate(const Setup& setup);

}  // namespace weft::hedge_sim

#endif  // WEFT_BENCHMARKS_HEDGE_SIM_MODEL_H_
