// The clients of a simulation: they do with the library's balancers what a channel's calls do.
#include <span>

#include "balance_sim/simulation.h"

namespace weft::balance_sim {

void Simulation::ScheduleArrival() {
  const double rate = now_ < setup_.warm_up ? rate_ * kWarmUpShare : rate_;
  const Nanos at = now_ + Exponential(&arrivals_, 1 / rate);
  if (at < setup_.until) events_.At(at, Kind::kCall, 0);
}

void Simulation::OnRefresh(uint32_t id) {
  ClientState& state = clients_[id];
  if (state.refresh_at != now_ || now_ >= setup_.until) return;
  state.client.Refresh(now_);
  AfterRefresh(id);
}

void Simulation::AfterRefresh(uint32_t id) {
  ClientState& state = clients_[id];
  const Nanos due = state.client.due();
  if (due != state.refresh_at && due < setup_.until) events_.At(due, Kind::kRefresh, id);
  state.refresh_at = due;
  if (state.ejected_at >= 0 || !Fails(0) || !state.client.Ejects(0)) return;
  state.ejected_at = now_;
  result_.ejected_after.push_back(now_ - setup_.fleet.fails_from);
}

void Simulation::OnArrival() {
  const uint32_t id = NewCall();
  Call& call = calls_[id];
  call.client = static_cast<uint32_t>(arrivals_.Below(clients_.size()));
  call.work = DrawWork();
  call.arrived = now_;
  call.counted = Counts();
  if (call.counted) ++result_.calls;
  ScheduleArrival();
  const uint32_t client = call.client;
  Send(id);
  for (int i = 0; i < setup_.probes; ++i) Probe(client);
}

void Simulation::Send(uint32_t id) {
  Call& call = calls_[id];
  Client& client = clients_[call.client].client;
  const std::span<const HostView* const> tried(call.tried);
  const PickFacts facts = {.now = Mono(),
                           .random = choices_.Next(),
                           .tried = tried.first(static_cast<size_t>(call.bounces)),
                           .bounces = call.bounces};
  const Client::Choice choice = client.Pick(facts);
  call.server = choice.server;
  call.bounce_above = choice.bounce_above;
  call.sent = now_;
  call.after_ejection = clients_[call.client].ejected_at >= 0;
  client.host(call.server).Enter();
  events_.InLane(kNetwork, now_ + kOneWay, Kind::kRequest, id);
}

void Simulation::Probe(uint32_t client) {
  const uint32_t id = NewCall();
  Call& call = calls_[id];
  call.is_probe = true;
  call.client = client;
  call.server = static_cast<uint32_t>(choices_.Next() % kServers);
  if (Counts()) ++result_.probes;
  events_.InLane(kNetwork, now_ + kOneWay, Kind::kRequest, id);
}

void Simulation::OnAnswer(uint32_t id) {
  Call& call = calls_[id];
  Client& client = clients_[call.client].client;
  ClientHost& host = client.host(call.server);
  if (!call.is_probe) host.Exit();
  if (call.is_probe || setup_.answers_report) client.OnReport(call.server, call.report, now_);
  if (call.is_probe) return Free(id);
  if (call.bounced) {
    if (call.counted) ++result_.bounces;
    call.bounced = false;
    call.tried[static_cast<size_t>(call.bounces++)] = &host;
    return Send(id);
  }
  using End = cluster::Outcome::Kind;
  const Nanos took = now_ - call.sent;
  const End late = took > kTimeout ? End::kTimeout : End::kSuccess;
  client.OnOutcome(
      call.server,
      {.kind = call.failed ? End::kError : late, .took = std::chrono::nanoseconds(took)}, now_);
  AfterRefresh(call.client);
  if (call.counted) Count(call);
  call.counted = false;
  Free(id);
}

void Simulation::Count(const Call& call) {
  const Nanos in_all = now_ - call.arrived;
  const bool error = call.failed || in_all > kTimeout;
  if (error) ++result_.errors;
  if (!call.failed) result_.took.Add(std::chrono::nanoseconds(in_all));
  if (call.after_ejection) {
    ++result_.calls_after;
    if (error) ++result_.errors_after;
  }
  const Nanos failing = setup_.fleet.fails_from;
  if (failing >= 0 && call.arrived >= failing + kEjectedWithin) {
    ++result_.calls_later;
    if (error) ++result_.errors_later;
  }
}

}  // namespace weft::balance_sim
