#include "cluster/host_health.h"

namespace weft::inline v0::cluster {
namespace {

// A store to memory that all threads read only where it changes something.
void Clear(std::atomic<uint32_t>& count) {
  if (count.load(std::memory_order_relaxed) != 0) count.store(0, std::memory_order_relaxed);
}

}  // namespace

bool HostHealth::Add(const Outcome& outcome, base::MonoTime now) {
  if (outcome.kind == Outcome::Kind::kSuccess) {
    AddSuccess(outcome, now);
    return false;
  }
  if (outcome.noticed_late || IsOld(outcome, now)) return false;
  switch (outcome.kind) {
    case Outcome::Kind::kSuccess:
    case Outcome::Kind::kUnprocessed:
      return false;
    case Outcome::Kind::kOverloaded:
      Clear(not_connected_in_row_);
      overloaded_.fetch_add(1, std::memory_order_relaxed);
      return false;
    case Outcome::Kind::kCensored:
      latency_.AddAtLeast(outcome.took);
      return false;
    case Outcome::Kind::kNotConnected:
      return !Counted(not_connected_at_, now) && AddFailure(outcome.kind, not_connected_in_row_);
    case Outcome::Kind::kLost:
      if (Counted(lost_at_, now)) return false;
      break;
    case Outcome::Kind::kTimeout:
      latency_.AddAtLeast(outcome.took);
      break;
    case Outcome::Kind::kError:
      break;
  }
  // What timed out may have waited for a connection.
  if (outcome.kind != Outcome::Kind::kTimeout) Clear(not_connected_in_row_);
  failures_.fetch_add(1, std::memory_order_relaxed);
  return AddFailure(outcome.kind, failures_in_row_);
}

void HostHealth::AddSuccess(const Outcome& outcome, base::MonoTime now) {
  Clear(failures_in_row_);
  Clear(not_connected_in_row_);
  successes_.fetch_add(1, std::memory_order_relaxed);
  if (!outcome.noticed_late) latency_.Add(outcome.took);
  if (on_trial() && !IsOld(outcome, now)) trial_.fetch_sub(1, std::memory_order_relaxed);
}

bool HostHealth::AddFailure(Outcome::Kind kind, std::atomic<uint32_t>& in_row) {
  last_failure_.store(kind, std::memory_order_relaxed);
  const uint32_t failures = in_row.fetch_add(1, std::memory_order_relaxed) + 1;
  return failures == limit_ || (failures == 1 && on_trial());
}

bool HostHealth::Counted(std::atomic<base::MonoTime>& last, base::MonoTime now) {
  base::MonoTime before = last.load(std::memory_order_relaxed);
  if (before != base::MonoTime::min() && now - before < kOnce) return true;
  // Of threads that meet here, one counts.
  return !last.compare_exchange_strong(before, now, std::memory_order_relaxed);
}

HostInterval HostHealth::Take() {
  HostInterval interval;
  interval.successes = successes_.exchange(0, std::memory_order_relaxed);
  interval.failures = failures_.exchange(0, std::memory_order_relaxed);
  interval.overloaded = overloaded_.exchange(0, std::memory_order_relaxed);
  interval.latency = latency_.Take();
  return interval;
}

void HostHealth::Return(base::MonoTime now, int successes) {
  Take();
  failures_in_row_.store(0, std::memory_order_relaxed);
  not_connected_in_row_.store(0, std::memory_order_relaxed);
  returned_at_.store(now, std::memory_order_relaxed);
  trial_.store(successes, std::memory_order_relaxed);
}

}  // namespace weft::inline v0::cluster
