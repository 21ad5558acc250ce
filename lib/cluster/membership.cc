#include "cluster/membership.h"

#include <algorithm>

#include "base/mix.h"
#include "base/places.h"
#include "cluster/slow_start.h"

namespace weft::inline v0::cluster {
namespace {

// How finely weights follow slow start: so many steps in a window.
constexpr int kSlowStartSteps = 20;
constexpr base::MonoDuration kShortestStep = std::chrono::milliseconds(100);

// Slow start: long over; not begun.
constexpr base::MonoTime kWarm = base::MonoTime::min();
constexpr base::MonoTime kNotYet = base::kNever;

Host* AsHost(const PickerHost& entry) { return static_cast<Host*>(entry.host.get()); }

// Whether it is another now. Most are the same, and counting references costs more than to look.
bool Set(PickerHost& to, const PickerHost& from, double weight) {
  if (to.host == from.host && to.endpoint == from.endpoint && to.weight == weight) return false;
  to = from;
  to.weight = weight;
  return true;
}

}  // namespace

absl::Status Validate(const SlowStartOptions& options) {
  if (options.window < absl::ZeroDuration() || options.window > absl::Hours(1))
    return absl::InvalidArgumentError("SlowStartOptions::window must be from 0 to 1 h");
  // Written so that NaN is out of range.
  if (!(options.aggression >= 0.1 && options.aggression <= 10))
    return absl::InvalidArgumentError("SlowStartOptions::aggression must be from 0.1 to 10");
  return absl::OkStatus();
}

Membership::Membership(Options options, base::MonoTime now)
    : options_(std::move(options)), window_(absl::ToChronoNanoseconds(options_.slow_start.window)) {
  if (options_.outlier.enabled)
    detector_.emplace(options_.outlier, base::Random(options_.seed), now);
}

Membership::LevelKey Membership::KeyOf(const Endpoint& endpoint) const {
  const Locality& mine = options_.locality;
  const bool own = !mine.zone.empty() && endpoint.locality.zone == mine.zone &&
                   endpoint.locality.region == mine.region;
  return {endpoint.priority, !own};
}

void Membership::Update(std::vector<PickerHost> hosts, base::MonoTime now) {
  const bool first = all_->empty();
  std::vector<Entry> old = std::move(entries_);  // those that are gone are kept to the end
  std::vector<const void*> before;
  before.reserve(old.size());
  for (const Entry& entry : old) before.push_back(HostOf(entry).host.get());

  all_ = std::make_shared<const std::vector<PickerHost>>(std::move(hosts));
  std::vector<const void*> there;
  there.reserve(all_->size());
  entries_.clear();
  entries_.reserve(all_->size());
  for (size_t place = 0; place < all_->size(); ++place) {
    const PickerHost& host = (*all_)[place];
    if (host.endpoint->draining) continue;
    there.push_back(host.host.get());
    entries_.emplace_back().place = place;
  }
  const std::vector<size_t> places = base::PlacesBefore(before, there);
  for (auto& [key, level] : levels_) level.entries.clear();
  std::vector<OutlierDetector::Subject> subjects;
  subjects.reserve(entries_.size());
  for (size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    const PickerHost& host = HostOf(entry);
    if (places[i] != base::kNowhere) {
      const size_t place = entry.place;
      entry = std::move(old[places[i]]);
      entry.place = place;
    } else {
      entry.member = base::MakeRef<Member>(base::Ref<Host>::Share(AsHost(host)),
                                           options_.outlier.consecutive_failures);
      entry.began = first ? kWarm : kNotYet;
    }
    levels_[KeyOf(*host.endpoint)].entries.push_back(i);
    if (detector_.has_value()) subjects.push_back({&entry.member->health, AsHost(host)->address()});
  }
  std::erase_if(levels_, [](const auto& level) { return level.second.entries.empty(); });
  set_changed_ = true;
  if (detector_.has_value()) Note(detector_->OnHostsChanged(subjects, now));
}

void Membership::SetBalancer(BalancerFactory balancer) {
  options_.balancer = std::move(balancer);
  for (auto& [key, level] : levels_) {
    level.balancer = nullptr;
    level.picker = nullptr;
  }
}

void Membership::OnTrip(const Member& member, base::MonoTime now) {
  if (detector_.has_value()) Note(detector_->OnTrip(member.health, now));
}

void Membership::Note(const OutlierDetector::Events& events) {
  if (options_.counters == nullptr) return;
  for (const OutlierDetector::Event& event : events) {
    switch (event.kind) {
      case OutlierDetector::Event::Kind::kEjected:
        options_.counters->ejections.Add();
        break;
      case OutlierDetector::Event::Kind::kSpared:
        options_.counters->ejections_spared.Add();
        break;
      case OutlierDetector::Event::Kind::kReturned:
        break;
    }
  }
}

// Since when it is connected; and a host that is dialled again and again stays out of reach until
// that succeeds.
void Membership::Look(size_t index, base::MonoTime now) {
  Entry& entry = entries_[index];
  switch (AsHost(HostOf(entry))->state()) {
    case HostState::kReady:
      entry.unreachable = false;
      if (entry.began == kNotYet) entry.began = now;
      break;
    case HostState::kBackoff:
    case HostState::kClosed:
      entry.unreachable = true;
      entry.began = kNotYet;
      break;
    case HostState::kIdle:
    case HostState::kConnecting:
      break;
  }
  if (passes_checks_ != nullptr) entry.fails_checks = !passes_checks_(*entry.member->host);
  if (detector_.has_value() && entry.began != kNotYet)
    entry.began = std::max(entry.began, detector_->standing(index).returned_at);
}

double Membership::SlowStart(const Entry& entry, base::MonoTime now) const {
  if (entry.began == kWarm) return 1;
  const base::MonoDuration since =
      entry.began == kNotYet ? base::MonoDuration::zero() : now - entry.began;
  return SlowStartFactor(since, window_, options_.slow_start.aggression);
}

std::shared_ptr<const Hosts> Membership::Refresh(base::MonoTime now) {
  refreshed_ = now;
  if (detector_.has_value()) Note(detector_->OnTime(now));
  for (size_t i = 0; i < entries_.size(); ++i) Look(i, now);
  starting_ = false;
  bool changed = RefreshShares();
  uint32_t number = 0;
  for (auto& [key, level] : levels_) changed = RefreshLevel(number++, level, now) || changed;
  if (!changed && !set_changed_) return nullptr;
  set_changed_ = false;
  return Publish();
}

// Whether they are others than before.
bool Membership::RefreshShares() {
  std::vector<Level> facts;
  facts.reserve(levels_.size());
  for (const auto& [key, level] : levels_) {
    const auto healthy = std::count_if(level.entries.begin(), level.entries.end(),
                                       [this](size_t entry) { return Healthy(entry); });
    facts.push_back({.priority = key.first,
                     .own_zone = !key.second,
                     .hosts = level.entries.size(),
                     .healthy = static_cast<size_t>(healthy)});
  }
  const std::vector<LevelShare> shares =
      SharesOf(facts, options_.outlier.panic_threshold_percent / 100.0);
  bool changed = false;
  size_t i = 0;
  for (auto& [key, level] : levels_) {
    const LevelShare share = shares[i++];
    if (share.panic && !level.share.panic && options_.counters != nullptr)
      options_.counters->panics.Add();
    changed = changed || !(share == level.share);
    level.share = share;
  }
  return changed;
}

// Whether its balancer was told something new.
bool Membership::RefreshLevel(uint32_t number, LevelState& level, base::MonoTime now) {
  std::vector<size_t> given;
  std::vector<double> factors;
  given.reserve(level.entries.size());
  factors.reserve(level.entries.size());
  double most = 0;
  for (const size_t entry : level.entries) {
    if (!Fit(entry) && !level.share.panic) continue;
    given.push_back(entry);
    factors.push_back(SlowStart(entries_[entry], now));
    most = std::max(most, factors.back());
  }
  bool changed = level.picker == nullptr || level.hosts.size() != given.size();
  level.hosts.resize(given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    const Entry& entry = entries_[given[i]];
    const PickerHost& host = HostOf(entry);
    // Where all of them are new, nobody is spared.
    changed = Set(level.hosts[i], host, host.endpoint->weight * factors[i] / most) || changed;
    starting_ = starting_ || (factors[i] < 1 && entry.began != kNotYet);
  }
  level.given = std::move(given);
  if (changed || set_changed_) {
    for (size_t i = 0; i < level.given.size(); ++i)
      entries_[level.given[i]].member->SetPlace({number, static_cast<uint32_t>(i)});
  }
  if (!changed) return false;
  if (level.balancer == nullptr)
    level.balancer = options_.balancer(base::NextRandom(options_.seed + number));
  level.picker = level.balancer->Update(level.hosts);
  return true;
}

std::shared_ptr<const Hosts> Membership::Publish() const {
  auto hosts = std::make_shared<Hosts>();
  hosts->all = all_;
  double up_to = 0;
  uint32_t number = 0;
  for (const auto& [key, level] : levels_) {
    up_to += level.share.share;
    const uint32_t mine = number++;
    hosts->unfit += level.entries.size() - level.given.size();
    if (level.given.empty()) continue;
    Group& group = hosts->groups.emplace_back();
    group.number = mine;
    group.balancer = level.balancer;
    group.picker = level.picker;
    group.up_to = up_to;
    group.members.reserve(level.given.size());
    for (const size_t entry : level.given) group.members.push_back(entries_[entry].member);
  }
  return hosts;
}

base::MonoTime Membership::next(bool busy) const {
  base::MonoTime next = base::kNever;
  if (detector_.has_value() && (busy || detector_->ejected() > 0)) next = detector_->next();
  if (starting_)
    next = std::min(next, refreshed_ + std::max(window_ / kSlowStartSteps, kShortestStep));
  return next;
}

std::vector<Membership::Standing> Membership::Standings() const {
  std::vector<double> weights(entries_.size());
  for (const auto& [key, level] : levels_) {
    for (size_t i = 0; i < level.given.size(); ++i) weights[level.given[i]] = level.hosts[i].weight;
  }
  std::vector<Standing> standings;
  standings.reserve(all_->size());
  size_t entry = 0;
  for (const PickerHost& host : *all_) {
    Standing& standing = standings.emplace_back();
    standing.host = host;
    if (host.endpoint->draining) continue;
    standing.weight = weights[entry];
    standing.ejected = Ejected(entry);
    if (standing.ejected) standing.why = detector_->standing(entry).why;
    standing.fails_checks = entries_[entry].fails_checks;
    ++entry;
  }
  return standings;
}

}  // namespace weft::inline v0::cluster
