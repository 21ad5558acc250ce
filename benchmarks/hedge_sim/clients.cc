// The clients of a simulation: they do with the library's policies what a channel's calls do.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "hedge_sim/simulation.h"

namespace weft::hedge_sim {

using policy::HedgePlace;
using policy::HedgePolicy;
using policy::RetryBudget;

void Simulation::ScheduleArrival() {
  const bool burst = now_ >= setup_.burst.from && now_ < setup_.burst.until;
  const double rate = rate_ * (burst ? setup_.burst.times : 1);
  const double gap = -std::log(1 - arrivals_.Uniform(0, 1)) / rate;
  const Nanos at = now_ + static_cast<Nanos>(gap);
  if (at < setup_.until) events_.At(at, Kind::kCall, 0);
}

void Simulation::OnArrival() {
  const auto client = static_cast<uint32_t>(arrivals_.Below(kClients));
  const double scale = static_cast<double>(kMeanWork) * std::exp(-kSigma * kSigma / 2);
  auto work = static_cast<Nanos>(scale * std::exp(kSigma * Normal()));
  const bool slow = arrivals_.Below(100) == 0;
  ScheduleArrival();
  // Without hedging nothing is learnt, and the past does not matter.
  if (!Hedging() && now_ < setup_.from - kSettle) return;

  const uint32_t id = NewCall();
  Call& call = calls_[id];
  call.client = client;
  call.arrived = now_;
  call.work = work + (setup_.cause == Cause::kSlowRequests && slow ? 200 * kMilli : 0);
  call.first_is_slow = slow;
  call.counted = Counts();
  ++call.refs;
  events_.InLane(kDeadlines, now_ + setup_.timeout, Kind::kDeadline, id);
  ClientState& state = *clients_[client];
  state.retries.Deposit(Mono());
  state.hedges.Deposit(Mono());
  if (Hedging()) {
    const base::MonoDuration delay = state.policy.OnCall(Mono());
    if (delay != HedgePolicy::kNever) {
      ++call.refs;
      events_.At(now_ + delay.count(), Kind::kHedge, id);
    }
  }
  StartAttempt(id, PickAny(call), false);
}

bool Simulation::Tried(const Call& call, uint32_t host) const {
  for (int i = 0; i < call.attempts; ++i) {
    if (attempts_[call.tried[static_cast<size_t>(i)]].host == host) return true;
  }
  return false;
}

uint32_t Simulation::PickAny(const Call& call) {
  const ClientState& client = *clients_[call.client];
  const auto load = [&](uint32_t host) {
    return setup_.balancer == Balancer::kTrueLoad ? hosts_[host].queued + hosts_[host].working
                                                  : client.in_flight[host];
  };
  const auto untried = [&] {
    uint32_t host = 0;
    do {
      host = static_cast<uint32_t>(choices_.Below(kHosts));
    } while (Tried(call, host));
    return host;
  };
  const uint32_t one = untried();
  const uint32_t other = untried();
  return load(other) < load(one) ? other : one;
}

uint32_t Simulation::PickWithRoom(const Call& call) {
  const ClientState& client = *clients_[call.client];
  const base::MonoDuration age = client.policy.report_age();
  uint32_t best = kNobody;
  uint32_t equals = 0;
  uint32_t least = kWorkers;
  for (uint32_t host = 0; host < kHosts; ++host) {
    const auto& [report, at] = client.reports[host];
    if (at < Mono() - age || !report.HasRoom() || Tried(call, host)) continue;
    const uint32_t load = report.in_flight;
    if (best == kNobody || load < least) {
      equals = 0;
      least = load;
    } else if (load > least) {
      continue;
    }
    if (choices_.Below(++equals) == 0) best = host;
  }
  return best;
}

void Simulation::StartAttempt(uint32_t id, uint32_t host, bool is_hedge) {
  const uint32_t attempt_id = NewAttempt();
  Attempt& attempt = attempts_[attempt_id];
  Call& call = calls_[id];
  attempt.call = id;
  attempt.host = host;
  attempt.is_hedge = is_hedge;
  const bool slow = call.attempts == 0 ? call.first_is_slow : choices_.Below(100) == 0;
  attempt.work = call.work;
  if (setup_.cause == Cause::kSlowAttempts && slow) attempt.work += 200 * kMilli;
  if (setup_.cause == Cause::kSlowHost && host == 0) attempt.work *= 20;
  call.tried[static_cast<size_t>(call.attempts++)] = attempt_id;
  ++call.live;
  // The attempt's, and the call's of its attempts: `tried` is read until the end.
  ++call.refs;
  ++attempt.refs;
  if (is_hedge) ++call.hedges;
  ClientState& client = *clients_[call.client];
  ++client.in_flight[host];
  if (Counts()) ++result_.attempts;
  if (setup_.cause == Cause::kStalls && choices_.Below(1000) == 0)
    client.stalled_until[host] = std::max(client.stalled_until[host], now_ + 200 * kMilli);
  SendTo(call.client, attempt_id, Kind::kRequest);
}

void Simulation::SendTo(uint32_t client, uint32_t id, Kind kind) {
  Attempt& attempt = attempts_[id];
  ++attempt.refs;
  const Nanos stalled_until = clients_[client]->stalled_until[attempt.host];
  if (stalled_until > now_) return events_.At(stalled_until + kOneWay, kind, id);
  events_.InLane(kNetwork, now_ + kOneWay, kind, id);
}

void Simulation::OnHedgeDue(uint32_t id) {
  Call& call = calls_[id];
  ClientState& client = *clients_[call.client];
  if (call.done || call.attempts >= client.policy.max_attempts()) return Unref(call, id);
  const HedgePlace place = client.policy.Place(Mono());
  if (place == HedgePlace::kNowhere) return Unref(call, id);
  const uint32_t host = place == HedgePlace::kAnyHost ? PickAny(call) : PickWithRoom(call);
  if (host == kNobody) {
    if (++call.looks >= HedgePolicy::kLooks) return Unref(call, id);
    return events_.At(now_ + HedgePolicy::kLookAgain.count(), Kind::kHedge, id);
  }
  if (BudgetForHedge(client)) StartAttempt(id, host, true);
  Unref(calls_[id], id);
}

bool Simulation::BudgetForHedge(ClientState& client) {
  RetryBudget& budget = setup_.separate_budgets ? client.hedges : client.retries;
  return client.policy.TryStart() && budget.TryWithdraw(RetryBudget::Use::kHedge, Mono());
}

void Simulation::OnAnswer(uint32_t id) {
  Attempt& attempt = attempts_[id];
  Call& call = calls_[attempt.call];
  ClientState& client = *clients_[call.client];
  // After its reset nothing of an attempt is heard.
  const bool heard = !attempt.cancelled || setup_.drain;
  if (heard) {
    --client.in_flight[attempt.host];
    client.reports[attempt.host] = {attempt.report, Mono()};
    client.policy.OnReport(attempt.report, Mono());
  }
  if (!call.done) {
    --call.live;
    if (attempt.failed) {
      OnFailure(attempt.call);
    } else {
      End(call, id, true);
    }
  }
  Unref(attempts_[id], id);
}

void Simulation::OnFailure(uint32_t id) {
  Call& call = calls_[id];
  if (call.live > 0) return;
  const policy::AttemptEnd end = {policy::AttemptEnd::What::kAnswered,
                                  absl::StatusCode::kUnavailable};
  const policy::RetryDecision decision =
      retry_.Decide(end, {.idempotent = true, .attempts = call.attempts}, retry_.max_attempts(),
                    choices_.Uniform(0, 1));
  ClientState& client = *clients_[call.client];
  if (decision.kind == policy::RetryDecision::Kind::kAfter &&
      client.retries.TryWithdraw(RetryBudget::Use::kRetry, Mono())) {
    ++call.refs;
    return events_.At(now_ + decision.wait.count(), Kind::kRetry, id);
  }
  End(call, kNobody, false);
}

void Simulation::OnRetryDue(uint32_t id) {
  Call& call = calls_[id];
  // A hedge that came in between takes its place.
  if (!call.done && call.live == 0) StartAttempt(id, PickAny(call), false);
  Unref(calls_[id], id);
}

void Simulation::Cancel(uint32_t id) {
  Attempt& attempt = attempts_[id];
  attempt.cancelled = true;
  if (setup_.drain) return;
  SendTo(calls_[attempt.call].client, id, Kind::kReset);
  ++attempt.refs;
  events_.InLane(kForgetting, now_ + kForgetAfter, Kind::kForget, id);
}

void Simulation::OnForget(uint32_t id) {
  Attempt& attempt = attempts_[id];
  --clients_[calls_[attempt.call].client]->in_flight[attempt.host];
  Unref(attempt, id);
}

void Simulation::OnDeadline(uint32_t id) {
  Call& call = calls_[id];
  if (!call.done) End(call, kNobody, false);
  Unref(call, id);
}

void Simulation::End(Call& call, uint32_t winner, bool ok) {
  call.done = true;
  const Nanos took = now_ - call.arrived;
  ClientState& client = *clients_[call.client];
  const bool fast_failure = !ok && took < setup_.timeout;
  if (Hedging() && !fast_failure) client.policy.OnCallEnd(std::chrono::nanoseconds(took), Mono());
  const bool hedge_won = winner != kNobody && attempts_[winner].is_hedge;
  if (call.hedges > 0) client.policy.OnHedged(call.hedges, hedge_won);
  if (winner != kNobody && Counts())
    result_.useful += static_cast<double>(attempts_[winner].worked);
  if (call.counted) {
    ++result_.calls;
    result_.succeeded += ok ? 1 : 0;
    result_.hedges += static_cast<uint64_t>(call.hedges);
    result_.hedges_won += hedge_won ? 1 : 0;
    result_.samples.push_back({static_cast<float>(call.arrived) / static_cast<float>(kSecond),
                               static_cast<float>(took) / static_cast<float>(kMilli), ok,
                               static_cast<uint8_t>(call.attempts)});
  }
  for (int i = 0; i < call.attempts; ++i) {
    const uint32_t id = call.tried[static_cast<size_t>(i)];
    Attempt& attempt = attempts_[id];
    // One that has failed is gone, though another of the call may end it.
    if (id != winner && !attempt.failed && !attempt.cancelled) Cancel(id);
  }
  for (int i = 0; i < call.attempts; ++i) {
    const uint32_t id = call.tried[static_cast<size_t>(i)];
    Unref(attempts_[id], id);
  }
}

}  // namespace weft::hedge_sim
