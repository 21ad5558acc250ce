// The servers of a simulation: queues, workers, what slows them, what they refuse.
#include <algorithm>
#include <cmath>

#include "balance_sim/simulation.h"

namespace weft::balance_sim {
namespace {

constexpr Nanos kColdFor = 10 * kSecond;
constexpr double kColdTimes = 5;  // as long at first

}  // namespace

double Simulation::Warmth(const Server& server) const {
  return static_cast<double>(now_ - server.restarted) / static_cast<double>(kColdFor);
}

void Simulation::SetSpeed(Server* server) const {
  double speed = server->speed;
  if (server->slowed) speed *= setup_.fleet.antagonists.slowed;
  const double warm = Warmth(*server);
  if (warm < 1) speed /= kColdTimes - (kColdTimes - 1) * warm;
  server->speed_now = speed;
}

void Simulation::OnRequest(uint32_t id) {
  Call& call = calls_[id];
  Server& server = servers_[call.server];
  call.reached = now_;
  if (call.is_probe) {
    server.side_work += kSideWork;
    return Answer(id);
  }
  if (call.counted && call.server == 0) ++result_.at_first;
  if (Fails(call.server)) {
    call.failed = true;
    server.Learn(kFailsAfter, static_cast<double>(kFailsAfter), kFailsAfter, 1, now_);
    call.report = server.Report(now_);
    call.report.eps = call.report.qps;
    return events_.InLane(kFastFailures, now_ + kFailsAfter + kOneWay, Kind::kAnswer, id);
  }
  if (call.bounce_above > 0 && server.in_flight() > call.bounce_above) {
    call.bounced = true;
    server.side_work += kSideWork;
    return Answer(id);
  }
  call.in_flight_then = server.in_flight() + 1;
  if (server.working < server.workers) return Work(&server, id);
  server.queue.push_back(id);
}

void Simulation::Work(Server* server, uint32_t id) {
  ++server->working;
  Call& call = calls_[id];
  SetSpeed(server);
  call.on_cpu = server->slowed ? setup_.fleet.antagonists.slowed : 1;
  call.worked = static_cast<Nanos>(call.work / server->speed_now) + server->side_work;
  server->side_work = 0;
  events_.At(now_ + call.worked, Kind::kDone, id);
}

void Simulation::OnDone(uint32_t id) {
  const Call& call = calls_[id];
  Server& server = servers_[call.server];
  if (Counts()) result_.busy[call.server] += static_cast<double>(call.worked);
  server.Learn(call.worked, static_cast<double>(call.worked) * call.on_cpu, now_ - call.reached,
               call.in_flight_then, now_);
  --server.working;
  if (!server.queue.empty()) {
    const uint32_t next = server.queue.front();
    server.queue.pop_front();
    Work(&server, next);
  }
  Answer(id);
}

void Simulation::Answer(uint32_t id) {
  calls_[id].report = servers_[calls_[id].server].Report(now_);
  events_.InLane(kNetwork, now_ + kOneWay, Kind::kAnswer, id);
}

void Simulation::OnAntagonist(uint32_t id) {
  if (now_ >= setup_.until) return;
  Server& server = servers_[id];
  server.slowed = !server.slowed;
  SetSpeed(&server);
  const auto& antagonists = setup_.fleet.antagonists;
  const Nanos mean = server.slowed ? antagonists.there : antagonists.gone;
  events_.At(now_ + Exponential(&changes_, static_cast<double>(mean)), Kind::kAntagonist, id);
}

void Simulation::OnRestart() {
  if (now_ >= setup_.until) return;
  const uint32_t first = next_restart_;
  for (uint32_t i = 0; i < kServers / 10; ++i) {
    servers_[next_restart_].restarted = now_;
    SetSpeed(&servers_[next_restart_]);
    next_restart_ = (next_restart_ + 1) % kServers;
  }
  for (uint32_t i = 0; i < clients_.size(); ++i) {
    clients_[i].client.OnRestart(first, kServers / 10, now_);
    AfterRefresh(i);
  }
  events_.At(now_ + kColdFor, Kind::kRestart, 0);
}

}  // namespace weft::balance_sim
