// Simulation: one run. The servers' side is in servers.cc, the clients', which drives the library's
// balancers, in clients.cc.
#ifndef WEFT_BENCHMARKS_BALANCE_SIM_SIMULATION_H_
#define WEFT_BENCHMARKS_BALANCE_SIM_SIMULATION_H_

#include <array>
#include <cstdint>
#include <vector>

#include "balance_sim/client.h"
#include "balance_sim/model.h"
#include "balance_sim/server.h"
#include "base/random.h"
#include "base/shared_random.h"

namespace weft::balance_sim {

// A call, or a probe: alive from when it is sent until its answer has come.
struct Call {
  uint32_t client = 0;
  uint32_t server = 0;
  bool is_probe = false;
  bool counted = false;
  bool after_ejection = false;  // of the failing server, by its client
  bool failed = false;
  bool bounced = false;
  int bounces = 0;
  uint32_t bounce_above = 0;
  Nanos arrived = 0;
  double work = 0;              // ns at speed 1
  Nanos sent = 0;               // to this server
  Nanos reached = 0;            // it
  uint32_t in_flight_then = 0;  // there, itself included
  Nanos worked = 0;             // a worker's time
  double on_cpu = 1;            // the part of it in which no neighbour had the processor
  LoadReport report = {};       // of its answer
  std::array<const HostView*, kMostBounces> tried = {};
};

// What is kept of a client beside its balancing.
struct ClientState {
  Client client;
  Nanos refresh_at = 0;   // the event that is meant; others are out of date
  Nanos ejected_at = -1;  // when it first ejected the failing server
};

class Simulation {
 public:
  explicit Simulation(const Setup& setup);
  Result Run();

 private:
  void Handle(const Event& event);
  MonoTime Mono() const { return MonoTime(std::chrono::nanoseconds(now_)); }
  bool Fails(uint32_t server) const {
    return server == 0 && setup_.fleet.fails_from >= 0 && now_ >= setup_.fleet.fails_from;
  }
  bool Counts() const { return now_ >= setup_.from && now_ < setup_.until; }
  Nanos Exponential(base::Random* random, double mean);
  double DrawWork();
  uint32_t NewCall();
  void Free(uint32_t call) { free_calls_.push_back(call); }

  // The clients.
  void ScheduleArrival();
  void OnArrival();
  void Send(uint32_t call);
  void Probe(uint32_t client);
  void OnAnswer(uint32_t call);
  void Count(const Call& call);
  void OnRefresh(uint32_t client);
  // To be called when its client may have looked at its servers.
  void AfterRefresh(uint32_t client);

  // The servers.
  double Warmth(const Server& server) const;  // 1: it is warm
  void SetSpeed(Server* server) const;
  void OnRequest(uint32_t call);
  void Work(Server* server, uint32_t call);
  void OnDone(uint32_t call);
  void Answer(uint32_t call);
  void OnAntagonist(uint32_t server);
  void OnRestart();

  const Setup setup_;
  double rate_ = 0;  // of calls per ns
  // Apart, so that with every balancer the same calls come, and servers change alike.
  base::Random arrivals_;
  base::Random changes_;
  base::SharedRandom choices_;

  Nanos now_ = 0;
  EventQueue events_;
  std::vector<Call> calls_;
  std::vector<uint32_t> free_calls_;
  std::vector<Server> servers_;
  std::vector<ClientState> clients_;
  uint32_t next_restart_ = 0;
  Result result_;
};

}  // namespace weft::balance_sim

#endif  // WEFT_BENCHMARKS_BALANCE_SIM_SIMULATION_H_
