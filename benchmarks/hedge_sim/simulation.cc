#include "hedge_sim/simulation.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace weft::hedge_sim {

double Result::Quantile(double q) const {
  if (samples.empty()) return 0;
  std::vector<float> took(samples.size());
  std::transform(samples.begin(), samples.end(), took.begin(),
                 [](const Sample& sample) { return sample.took; });
  const auto at = took.begin() + static_cast<int64_t>(q * static_cast<double>(took.size() - 1));
  std::nth_element(took.begin(), at, took.end());
  return static_cast<double>(*at);
}

Result Simulate(const Setup& setup) { return Simulation(setup).Run(); }

Simulation::Simulation(const Setup& setup)
    : setup_(setup),
      retry_(setup.retry),
      arrivals_(setup.seed),
      pauses_(setup.seed + 1'000'000),
      choices_(setup.seed + 2'000'000) {
  double work = kMeanWork;
  if (setup.cause == Cause::kSlowAttempts || setup.cause == Cause::kSlowRequests)
    work += 0.01 * 200 * kMilli;
  rate_ = setup.load * kHosts * kWorkers / work;
  const policy::RetryBudget::Options budget = {
      .ratio = setup.retry.budget_ratio,
      .reserve_per_second = setup.retry.budget_reserve_per_second};
  for (uint32_t i = 0; i < kClients; ++i)
    clients_.push_back(std::make_unique<ClientState>(setup.hedge, budget));
  if (setup.cause == Cause::kPauses) {
    for (uint32_t host = 0; host < kHosts; ++host)
      events_.At(static_cast<Nanos>(pauses_.Below(10 * kSecond)), Kind::kPause, host);
  }
  if (setup.frozen.until > setup.frozen.from) {
    for (uint32_t host = 0; host < kHosts; ++host)
      events_.At(setup.frozen.from, Kind::kPause, host);
  }
  ScheduleArrival();
}

Result Simulation::Run() {
  // With the last call of all, pauses alone are left, which would go on for ever.
  while (!events_.empty()) {
    const Event event = events_.Pop();
    if (event.kind == Kind::kPause && event.at >= setup_.until + 20 * kSecond) break;
    now_ = event.at;
    Handle(event);
  }
  return std::move(result_);
}

void Simulation::Handle(const Event& event) {
  switch (event.kind) {
    case Kind::kCall:
      return OnArrival();
    case Kind::kRequest:
      return OnRequest(event.subject);
    case Kind::kReset:
      return OnReset(event.subject);
    case Kind::kDone:
      return OnDone(event.subject);
    case Kind::kAnswer:
      return OnAnswer(event.subject);
    case Kind::kForget:
      return OnForget(event.subject);
    case Kind::kHedge:
      return OnHedgeDue(event.subject);
    case Kind::kRetry:
      return OnRetryDue(event.subject);
    case Kind::kDeadline:
      return OnDeadline(event.subject);
    case Kind::kPause:
      return OnPause(event.subject);
  }
}

double Simulation::Normal() {
  if (has_spare_normal_) {
    has_spare_normal_ = false;
    return spare_normal_;
  }
  const double radius = std::sqrt(-2 * std::log(1 - arrivals_.Uniform(0, 1)));
  const double angle = arrivals_.Uniform(0, 2 * std::numbers::pi);
  spare_normal_ = radius * std::sin(angle);
  has_spare_normal_ = true;
  return radius * std::cos(angle);
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

uint32_t Simulation::NewAttempt() {
  if (free_attempts_.empty()) {
    attempts_.emplace_back();
    return static_cast<uint32_t>(attempts_.size() - 1);
  }
  const uint32_t id = free_attempts_.back();
  free_attempts_.pop_back();
  attempts_[id] = Attempt();
  return id;
}

void Simulation::Unref(Call& call, uint32_t id) {
  if (--call.refs == 0) free_calls_.push_back(id);
}

void Simulation::Unref(Attempt& attempt, uint32_t id) {
  if (--attempt.refs > 0) return;
  const uint32_t call = attempt.call;
  free_attempts_.push_back(id);
  Unref(calls_[call], call);
}

}  // namespace weft::hedge_sim
