// The clients of a simulation: they do with the library's balancers what a channel's calls do.
#include <span>

#include "balance_sim/simulation.h"

namespace weft::balance_sim {

void Simulation::ScheduleArrival() {
  const Nanos at = now_ + Exponential(&arrivals_, 1 / rate_);
  if (at < setup_.until) events_.At(at, Kind::kCall, 0);
}

void Simulation::UpdateWeights() {
  static const auto endpoint = std::make_shared<const Endpoint>();
  std::vector<PickerHost> hosts(kServers);
  for (Client& client : clients_) {
    for (uint32_t i = 0; i < kServers; ++i) {
      hosts[i].endpoint = endpoint;
      // Not counted: clients live as long as the simulation.
      hosts[i].host = std::shared_ptr<HostView>(std::shared_ptr<void>(), &client.hosts[i]);
      hosts[i].weight = WeightOf(servers_[i]);
    }
    client.picker = client.balancer->Update(hosts);
  }
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
  Client& client = clients_[call.client];
  const std::span<const HostView* const> tried(call.tried);
  const PickFacts facts = {.now = Mono(),
                           .random = choices_.Next(),
                           .tried = tried.first(static_cast<size_t>(call.bounces)),
                           .bounces = call.bounces};
  const PickResult picked = client.picker->Pick(facts);
  call.server = static_cast<uint32_t>(picked.index);
  call.bounce_above = picked.bounce_above;
  call.sent = now_;
  client.hosts[call.server].Enter();
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
  Client& client = clients_[call.client];
  ClientHost& host = client.hosts[call.server];
  if (!call.is_probe) host.Exit();
  host.SetReport(call.report, Mono());
  client.picker->OnReport(call.server, Mono());
  if (call.is_probe) return Free(id);
  if (call.bounced) {
    if (call.counted) ++result_.bounces;
    call.bounced = false;
    call.tried[static_cast<size_t>(call.bounces++)] = &host;
    return Send(id);
  }
  host.Learn(std::chrono::nanoseconds(now_ - call.sent), call.failed, Mono());
  if (call.counted) {
    const Nanos in_all = now_ - call.arrived;
    if (call.failed || in_all > kTimeout) ++result_.errors;
    if (!call.failed) result_.took.Add(std::chrono::nanoseconds(in_all));
    call.counted = false;
  }
  Free(id);
}

}  // namespace weft::balance_sim
