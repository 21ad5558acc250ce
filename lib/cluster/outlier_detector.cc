#include "cluster/outlier_detector.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/strings.h"

namespace weft::inline v0::cluster {
namespace {

std::string_view FailureName(Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::kError:
      return "an error that it answered";
    case Outcome::Kind::kTimeout:
      return "a timeout";
    case Outcome::Kind::kLost:
      return "a lost connection or stream";
    case Outcome::Kind::kNotConnected:
      return "a connection that could not be had";
    default:
      return "a failure";
  }
}

}  // namespace

OutlierDetector::State OutlierDetector::Next(State state, Input input) {
  constexpr State kTable[][3] = {
      // kBlamed, kTimeOver, kProven
      {State::kEjected, State::kHealthy, State::kHealthy},     // kHealthy
      {State::kEjected, State::kReturning, State::kEjected},   // kEjected
      {State::kEjected, State::kReturning, State::kHealthy}};  // kReturning
  return kTable[static_cast<size_t>(state)][static_cast<size_t>(input)];
}

OutlierDetector::OutlierDetector(const OutlierOptions& options, base::Random random,
                                 base::MonoTime now)
    : options_(options),
      interval_(absl::ToChronoNanoseconds(options.interval)),
      random_(std::move(random)),
      interval_end_(now + interval_),
      next_(interval_end_) {}

size_t OutlierDetector::MaxEjected() const {
  if (hosts_.size() < 2) return 0;
  const size_t share = hosts_.size() * static_cast<size_t>(options_.max_ejection_percent) / 100;
  return std::clamp<size_t>(share, 1, hosts_.size() - 1);
}

base::MonoDuration OutlierDetector::Length(int ejections) const {
  absl::Duration length = options_.base_ejection_time;
  for (int n = 1; n < ejections && length < options_.max_ejection_time; ++n) length *= 2;
  return absl::ToChronoNanoseconds(std::min(length, options_.max_ejection_time));
}

OutlierDetector::Record& OutlierDetector::RecordOf(size_t host) {
  std::unique_ptr<Record>& record = hosts_[host].record;
  if (record == nullptr) record = std::make_unique<Record>();
  return *record;
}

OutlierFinding OutlierDetector::InRow(size_t host) const {
  const HostHealth& health = *hosts_[host].health;
  const Outcome::Kind last = health.last_failure();
  const absl::string_view name = base::V(FailureName(last));
  if (health.on_trial()) {
    return {host, OutlierRule::kTrial, 1,
            absl::StrCat("it failed again when it had just returned: ", name)};
  }
  const uint32_t failures = last == Outcome::Kind::kNotConnected ? health.not_connected_in_row()
                                                                 : health.failures_in_row();
  return {host, OutlierRule::kConsecutive, static_cast<double>(failures),
          absl::StrCat(failures, " failures in a row, the last one ", name)};
}

OutlierDetector::Events OutlierDetector::OnHostsChanged(const std::vector<Subject>& hosts,
                                                        base::MonoTime now) {
  std::vector<Entry> before = std::exchange(hosts_, {});
  hosts_.reserve(hosts.size());
  ejected_ = 0;
  for (const Subject& subject : hosts) {
    hosts_.push_back(subject.before == base::kNowhere ? Entry{subject.health, subject.address}
                                                      : std::move(before[subject.before]));
    if (standing(hosts_.size() - 1).state == State::kEjected) ++ejected_;
  }

  Events events;
  while (ejected_ > MaxEjected()) {
    size_t first = hosts_.size();
    for (size_t i = 0; i < hosts_.size(); ++i) {
      if (standing(i).state != State::kEjected) continue;
      if (first == hosts_.size() || standing(i).until < standing(first).until) first = i;
    }
    Return(first, now, events);
  }
  SetNext();
  return events;
}

OutlierDetector::Events OutlierDetector::OnTrip(const HostHealth& health, base::MonoTime now) {
  Events events;
  for (size_t i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i].health != &health) continue;
    Blame(InRow(i), now, events);
    SetNext();
    break;
  }
  return events;
}

OutlierDetector::Events OutlierDetector::OnTime(base::MonoTime now) {
  Events events;
  if (now < next_) return events;
  for (size_t i = 0; i < hosts_.size(); ++i) {
    if (standing(i).state == State::kEjected && standing(i).until <= now) Return(i, now, events);
  }
  if (now >= interval_end_) EndInterval(now, events);
  SetNext();
  return events;
}

void OutlierDetector::EndInterval(base::MonoTime now, Events& events) {
  interval_end_ += interval_;
  if (interval_end_ <= now) interval_end_ = now + interval_;  // this process did not run

  std::vector<size_t> judged;
  std::vector<HostInterval> counts;
  std::vector<OutlierFinding> found;
  std::vector<bool> healthy(hosts_.size(), false);  // all through it
  for (size_t i = 0; i < hosts_.size(); ++i) {
    HostHealth& health = *hosts_[i].health;
    const State state = standing(i).state;
    if (state == State::kEjected) continue;
    healthy[i] = state == State::kHealthy;
    if (!healthy[i] && !health.on_trial()) RecordOf(i).standing.state = Next(state, Input::kProven);
    if (health.tripped()) found.push_back(InRow(i));
    judged.push_back(i);
    counts.push_back(health.Take());
  }

  std::vector<bool> slow(hosts_.size(), false);
  for (OutlierFinding& finding : FindOutliers(options_, counts)) {
    finding.host = judged[finding.host];
    if (finding.rule == OutlierRule::kLatency) {
      slow[finding.host] = true;
      const int intervals = ++RecordOf(finding.host).slow_intervals;
      if (intervals < options_.latency_intervals) continue;
      absl::StrAppend(&finding.why, ", for ", intervals, " intervals");
    }
    found.push_back(std::move(finding));
  }
  for (const size_t host : judged) {
    if (!slow[host] && hosts_[host].record != nullptr) RecordOf(host).slow_intervals = 0;
  }
  for (const OutlierFinding& finding : found) {
    healthy[finding.host] = false;
    Blame(finding, now, events);
  }
  for (const size_t host : judged) {
    if (healthy[host] && standing(host).ejections > 0) --RecordOf(host).standing.ejections;
  }
}

void OutlierDetector::Blame(const OutlierFinding& finding, base::MonoTime now, Events& events) {
  const Entry& entry = hosts_[finding.host];
  if (standing(finding.host).state == State::kEjected) return;
  if (ejected_ >= MaxEjected()) {
    events.push_back({Event::Kind::kSpared, finding.host, finding.rule,
                      absl::StrCat(base::V(entry.address), " is not ejected, as ", ejected_, " of ",
                                   hosts_.size(), " hosts are: ", finding.why)});
    return;
  }
  Record& record = RecordOf(finding.host);
  Standing& standing = record.standing;
  standing.state = Next(standing.state, Input::kBlamed);
  ++ejected_;
  // Not beyond what makes it longer, or it would be long remembered.
  if (standing.ejections == 0 || Length(standing.ejections) < Length(standing.ejections + 1))
    ++standing.ejections;
  const double jitter =
      random_.Uniform(0, absl::ToDoubleNanoseconds(options_.max_ejection_time_jitter));
  const base::MonoDuration length =
      Length(standing.ejections) + base::MonoDuration(static_cast<int64_t>(jitter));
  standing.until = base::After(now, length);
  standing.why = finding.why;
  record.slow_intervals = 0;
  events.push_back({Event::Kind::kEjected, finding.host, finding.rule,
                    absl::StrFormat("%s is ejected for %.1f s: %s", base::V(entry.address),
                                    static_cast<double>(length.count()) / 1e9, finding.why)});
}

void OutlierDetector::Return(size_t host, base::MonoTime now, Events& events) {
  const Entry& entry = hosts_[host];
  Standing& standing = RecordOf(host).standing;
  const bool early = standing.until > now;
  standing.state = Next(standing.state, Input::kTimeOver);
  standing.returned_at = now;
  --ejected_;
  entry.health->Return(now, kTrial);
  events.push_back({Event::Kind::kReturned,
                    host,
                    {},
                    absl::StrCat(base::V(entry.address), " returns",
                                 early ? " early, as other hosts have gone" : "")});
}

void OutlierDetector::SetNext() {
  next_ = interval_end_;
  if (ejected_ == 0) return;
  for (size_t i = 0; i < hosts_.size(); ++i) {
    if (standing(i).state == State::kEjected) next_ = std::min(next_, standing(i).until);
  }
}

}  // namespace weft::inline v0::cluster
