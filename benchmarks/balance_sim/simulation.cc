#include "balance_sim/simulation.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace weft::balance_sim {
namespace {

// Log-uniform from 0.5 to 2, dealt out so that neighbours in the list differ.
double MixedSpeed(uint32_t server) {
  const uint32_t rank = server * 37 % kServers;
  return 0.5 * std::pow(4, (rank + 0.5) / kServers);
}

// The mean speed of a server that starts anew once in a while, as a share of its own.
double ShareInDeploy() {
  // A tenth of the time it starts: the mean of 1 / (5 - 4 x) for x from 0 to 1.
  return 0.9 + 0.1 * std::log(5) / 4;
}

double ShareWithAntagonists(const Fleet& fleet) {
  const auto there = static_cast<double>(fleet.antagonists.there);
  const auto gone = static_cast<double>(fleet.antagonists.gone);
  return there == 0 ? 1 : (there * fleet.antagonists.slowed + gone) / (there + gone);
}

}  // namespace

Result Simulate(const Setup& setup) { return Simulation(setup).Run(); }

Simulation::Simulation(const Setup& setup)
    : setup_(setup), arrivals_(setup.seed), changes_(setup.seed + 1'000'000) {
  choices_.Seed(setup.seed + 2'000'000);
  const Fleet& fleet = setup_.fleet;
  double speeds = 0;
  for (uint32_t i = 0; i < kServers; ++i) {
    Server server;
    server.number = i;
    server.address = "10.0.0." + std::to_string(i) + ":80";
    server.workers = fleet.workers;
    server.speed = fleet.mixed ? MixedSpeed(i) : 1;
    server.speed_now = server.speed;
    speeds += server.speed;
    servers_.push_back(std::move(server));
    if (fleet.antagonists.there > 0) {
      // As if it had gone on for ever.
      const auto there = static_cast<double>(fleet.antagonists.there);
      const double share = there / (there + static_cast<double>(fleet.antagonists.gone));
      servers_[i].slowed = changes_.Uniform(0, 1) >= share;
      OnAntagonist(i);
    }
  }
  double capacity = speeds * fleet.workers * ShareWithAntagonists(fleet);
  if (fleet.deploying) {
    capacity *= ShareInDeploy();
    events_.At(0, Kind::kRestart, 0);
  }
  rate_ = setup.load * capacity / static_cast<double>(kMeanWork);
  result_.busy.resize(kServers);

  clients_.reserve(setup.clients);
  for (uint32_t i = 0; i < setup.clients; ++i) {
    clients_.push_back(
        {.client = Client(
             {.balancer = setup.balancer, .seed = choices_.Next(), .slow_start = setup.slow_start},
             servers_, now_)});
    AfterRefresh(i);
  }
  ScheduleArrival();
}

Result Simulation::Run() {
  while (!events_.empty()) {
    const Event event = events_.Pop();
    // Overloaded servers would go on for long; what is left then has taken too long.
    if (event.at > setup_.until + kTimeout) break;
    now_ = event.at;
    Handle(event);
  }
  for (const Call& call : calls_) {
    if (!call.counted) continue;
    ++result_.errors;
    result_.took.Add(std::chrono::nanoseconds(now_ - call.arrived));
  }
  return std::move(result_);
}

void Simulation::Handle(const Event& event) {
  switch (event.kind) {
    case Kind::kCall:
      return OnArrival();
    case Kind::kRequest:
      return OnRequest(event.subject);
    case Kind::kDone:
      return OnDone(event.subject);
    case Kind::kAnswer:
      return OnAnswer(event.subject);
    case Kind::kAntagonist:
      return OnAntagonist(event.subject);
    case Kind::kRestart:
      return OnRestart();
    case Kind::kRefresh:
      return OnRefresh(event.subject);
  }
}

Nanos Simulation::Exponential(base::Random* random, double mean) {
  return static_cast<Nanos>(-std::log(1 - random->Uniform(0, 1)) * mean);
}

double Simulation::DrawWork() {
  constexpr auto kMean = static_cast<double>(kMeanWork);
  if (setup_.work == Work::kExponential) return -std::log(1 - arrivals_.Uniform(0, 1)) * kMean;
  const double variance = std::log(1 + 1.5 * 1.5);
  const double normal = std::sqrt(-2 * std::log(1 - arrivals_.Uniform(0, 1))) *
                        std::cos(arrivals_.Uniform(0, 2 * std::numbers::pi));
  return kMean * std::exp(std::sqrt(variance) * normal - variance / 2);
}

uint32_t Simulation::NewCall() {
  if (free_calls_.empty()) {
    calls_.emplace_back();
    return static_cast<uint32_t>(calls_.size() - 1);
  }
  const uint32_t id = free_calls_.back();
  free_calls_.pop_back();
  calls_[id] = Call();
  return id;
}

}  // namespace weft::balance_sim
