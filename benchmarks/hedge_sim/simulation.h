// Simulation: one run. The hosts' side is in hosts.cc, the clients', which drives the library's
// policies, in clients.cc.
#ifndef WEFT_BENCHMARKS_HEDGE_SIM_SIMULATION_H_
#define WEFT_BENCHMARKS_HEDGE_SIM_SIMULATION_H_

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "hedge_sim/event_queue.h"
#include "hedge_sim/model.h"
#include "policy/hedge_policy.h"
#include "policy/retry_budget.h"
#include "policy/retry_policy.h"

namespace weft::hedge_sim {

inline constexpr uint32_t kNobody = UINT32_MAX;

// Calls and attempts live as long as an event or one another names them.
struct Call {
  uint32_t client = 0;
  uint32_t refs = 0;
  Nanos arrived = 0;
  Nanos work = 0;
  bool first_is_slow = false;
  bool done = false;
  bool counted = false;
  int attempts = 0;
  int live = 0;
  int hedges = 0;
  int looks = 0;
  std::array<uint32_t, 5> tried = {};  // attempts, in order
};

struct Attempt {
  enum class At : uint8_t { kOnItsWay, kQueued, kWorkedOn, kGone };
  uint32_t call = kNobody;
  uint32_t refs = 0;
  uint32_t host = 0;
  At at = At::kOnItsWay;
  bool is_hedge = false;
  bool cancelled = false;
  bool failed = false;
  Nanos work = 0;
  Nanos done_at = 0;
  Nanos pauses_seen = 0;
  Nanos worked = 0;
  LoadReport report = {};  // of its answer
};

struct HostState {
  std::deque<uint32_t> queue;
  uint32_t queued = 0;  // without those that were reset
  uint32_t working = 0;
  Nanos paused_until = 0;
  Nanos paused = 0;  // in all, the present pause to its end included
};

struct ClientState {
  ClientState(const HedgeOptions& hedge, const policy::RetryBudget::Options& budget)
      : policy(hedge),
        retries(budget),
        hedges({.ratio = 2 * budget.ratio, .reserve_per_second = 0}) {}
  policy::HedgePolicy policy;
  policy::RetryBudget retries;
  policy::RetryBudget hedges;  // with separate budgets only; hedges get half of any
  std::array<uint16_t, kHosts> in_flight = {};
  struct Report {
    LoadReport said = {};
    base::MonoTime at = base::MonoTime::min();
  };
  std::array<Report, kHosts> reports;
  // Until when what is sent on a connection stays under way.
  std::array<Nanos, kHosts> stalled_until = {};
};

class Simulation {
 public:
  explicit Simulation(const Setup& setup);
  Result Run();

 private:
  void Handle(const Event& event);
  base::MonoTime Mono() const { return base::MonoTime(base::MonoDuration(now_)); }
  bool Hedging() const { return setup_.hedge.when != HedgeOptions::When::kNever; }
  bool Counts() const { return now_ >= setup_.from && now_ < setup_.until; }
  double Normal();

  uint32_t NewCall();
  uint32_t NewAttempt();
  void Unref(Call& call, uint32_t id);
  void Unref(Attempt& attempt, uint32_t id);

  // The clients.
  void ScheduleArrival();
  void OnArrival();
  void StartAttempt(uint32_t call, uint32_t host, bool is_hedge);
  void SendTo(uint32_t client, uint32_t attempt, Kind kind);
  void Cancel(uint32_t attempt);
  void OnAnswer(uint32_t attempt);
  void OnFailure(uint32_t call);
  void OnHedgeDue(uint32_t call);
  void OnRetryDue(uint32_t call);
  void OnForget(uint32_t attempt);
  void OnDeadline(uint32_t call);
  void End(Call& call, uint32_t winner, bool ok);
  bool Tried(const Call& call, uint32_t host) const;
  uint32_t PickAny(const Call& call);
  uint32_t PickWithRoom(const Call& call);
  bool BudgetForHedge(ClientState& client);

  // The hosts.
  void OnRequest(uint32_t attempt);
  void OnReset(uint32_t attempt);
  void OnDone(uint32_t attempt);
  void OnPause(uint32_t host);
  void Pause(uint32_t host, Nanos length);
  void Work(uint32_t attempt);
  void WorkOnNext(HostState& host);
  void SendAnswer(uint32_t attempt);
  bool IsFailing(uint32_t host) const;

  const Setup setup_;
  const policy::RetryPolicy retry_;
  double rate_ = 0;  // of calls per ns
  // Apart, so that with and without hedging the same calls come, and hosts pause alike.
  base::Random arrivals_;
  base::Random pauses_;
  base::Random choices_;
  double spare_normal_ = 0;
  bool has_spare_normal_ = false;

  Nanos now_ = 0;
  EventQueue events_;
  std::vector<Call> calls_;
  std::vector<uint32_t> free_calls_;
  std::vector<Attempt> attempts_;
  std::vector<uint32_t> free_attempts_;
  std::vector<std::unique_ptr<ClientState>> clients_;
  std::array<HostState, kHosts> hosts_;
  Result result_;
};

}  // namespace weft::hedge_sim

#endif  // WEFT_BENCHMARKS_HEDGE_SIM_SIMULATION_H_
