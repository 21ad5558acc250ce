// The hosts of a simulation: a queue, workers, pauses, what a reset does.
#include <algorithm>

#include "hedge_sim/simulation.h"

namespace weft::hedge_sim {

bool Simulation::IsFailing(uint32_t host) const {
  return host < setup_.failing.hosts && now_ >= setup_.failing.from && now_ < setup_.failing.until;
}

void Simulation::OnRequest(uint32_t id) {
  Attempt& attempt = attempts_[id];
  HostState& host = hosts_[attempt.host];
  if (IsFailing(attempt.host)) {
    attempt.failed = true;
    return SendAnswer(id);
  }
  if (host.working < kWorkers) return Work(id);
  attempt.at = Attempt::At::kQueued;
  host.queue.push_back(id);  // keeps the event's reference
  ++host.queued;
}

void Simulation::Work(uint32_t id) {
  Attempt& attempt = attempts_[id];
  HostState& host = hosts_[attempt.host];
  attempt.at = Attempt::At::kWorkedOn;
  ++host.working;
  // Work that begins in a pause begins at its end.
  attempt.done_at = std::max(now_, host.paused_until) + attempt.work;
  attempt.pauses_seen = host.paused;
  events_.At(attempt.done_at, Kind::kDone, id);
}

void Simulation::WorkOnNext(HostState& host) {
  while (!host.queue.empty() && host.working < kWorkers) {
    const uint32_t id = host.queue.front();
    host.queue.pop_front();
    Attempt& attempt = attempts_[id];
    if (attempt.at != Attempt::At::kQueued) {
      Unref(attempt, id);
      continue;
    }
    --host.queued;
    Work(id);
  }
}

void Simulation::OnDone(uint32_t id) {
  Attempt& attempt = attempts_[id];
  if (attempt.at != Attempt::At::kWorkedOn) return Unref(attempt, id);
  HostState& host = hosts_[attempt.host];
  if (host.paused != attempt.pauses_seen) {
    attempt.done_at += host.paused - attempt.pauses_seen;
    attempt.pauses_seen = host.paused;
    return events_.At(attempt.done_at, Kind::kDone, id);
  }
  --host.working;
  attempt.worked = attempt.work;
  if (Counts()) result_.worked += static_cast<double>(attempt.worked);
  WorkOnNext(host);
  SendAnswer(id);
}

void Simulation::SendAnswer(uint32_t id) {
  Attempt& attempt = attempts_[id];
  const HostState& host = hosts_[attempt.host];
  attempt.at = Attempt::At::kGone;
  attempt.report = {.in_flight = host.queued + host.working, .workers = kWorkers};
  events_.InLane(kNetwork, now_ + kOneWay, Kind::kAnswer, id);
}

void Simulation::OnReset(uint32_t id) {
  Attempt& attempt = attempts_[id];
  HostState& host = hosts_[attempt.host];
  if (attempt.at == Attempt::At::kWorkedOn || attempt.at == Attempt::At::kQueued) {
    if (host.paused_until > now_) return events_.At(host.paused_until, Kind::kReset, id);
    if (attempt.at == Attempt::At::kQueued) {
      --host.queued;
    } else {
      --host.working;
      const Nanos done_at = attempt.done_at + (host.paused - attempt.pauses_seen);
      attempt.worked = attempt.work - (done_at - now_);
      if (Counts()) result_.worked += static_cast<double>(attempt.worked);
    }
    attempt.at = Attempt::At::kGone;
    WorkOnNext(host);
  }
  Unref(attempt, id);
}

void Simulation::OnPause(uint32_t host) {
  if (setup_.cause != Cause::kPauses) return Pause(host, setup_.frozen.until - now_);
  Pause(host, static_cast<Nanos>(pauses_.Uniform(100, 300) * kMilli));
  events_.At(now_ + 10 * kSecond, Kind::kPause, host);
}

void Simulation::Pause(uint32_t host, Nanos length) {
  hosts_[host].paused += length;
  hosts_[host].paused_until = now_ + length;
}

}  // namespace weft::hedge_sim
