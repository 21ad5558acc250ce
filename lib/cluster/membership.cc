#include "cluster/membership.h"

#include <algorithm>
#include <utility>

#include "base/mix.h"
#include "cluster/slow_start.h"

namespace weft::inline v0::cluster {
namespace {

// How finely weights follow slow start: so many steps in a window.
constexpr int kSlowStartSteps = 20;
constexpr base::MonoDuration kShortestStep = std::chrono::milliseconds(100);

// Slow start: long over; not begun.
constexpr base::MonoTime kWarm = base::MonoTime::min();
constexpr base::MonoTime kNotYet = base::kNever;

bool Same(const PickerHost& a, const PickerHost& b) {
  return a.host == b.host && a.endpoint == b.endpoint && a.weight == b.weight;
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

Membership::Membership(Options options, MemberListener& listener, base::MonoTime now)
    : options_(std::move(options)),
      window_(absl::ToChronoNanoseconds(options_.slow_start.window)),
      listener_(listener) {
  if (options_.outlier.enabled)
    detector_.emplace(options_.outlier, base::Random(options_.seed), now);
}

Membership::LevelKey Membership::KeyOf(const Endpoint& endpoint) const {
  const Locality& mine = options_.locality;
  const bool own = !mine.zone.empty() && endpoint.locality.zone == mine.zone &&
                   endpoint.locality.region == mine.region;
  return {endpoint.priority, !own};
}

void Membership::Update(NewSet set, base::MonoTime now) {
  const bool first = items_.empty();
  const base::Ref<Departed> departed = std::exchange(departed_, base::MakeRef<Departed>());
  departed->next = departed_;
  std::vector<Item> items = std::exchange(items_, {});
  std::vector<Entry> entries = std::exchange(entries_, {});
  auto all = std::make_shared<std::vector<PickerHost>>();
  items_.reserve(set.size());
  entries_.reserve(set.size());
  all->reserve(set.size());
  for (NewSetEntry& next : set) {
    Item& item = items_.emplace_back();
    PickerHost& host = all->emplace_back();
    if (next.before != base::kNowhere) {
      item = std::move(items[next.before]);
      host = (*all_)[next.before];
    }
    if (next.host != nullptr) item.host = std::move(next.host);
    const bool news = next.endpoint != nullptr;
    if (news) {
      if (item.endpoint != nullptr) departed->endpoints.push_back(std::move(item.endpoint));
      item.endpoint = std::move(next.endpoint);
      host = {item.endpoint.get(), item.host.get(), item.endpoint->weight};
    }
    // Nothing is read of an endpoint or a host that stays: of so many, none is in a cache.
    const bool drains = news ? item.endpoint->draining : item.entry == kNone;
    const uint32_t before = std::exchange(item.entry, kNone);
    if (drains) continue;
    item.entry = static_cast<uint32_t>(entries_.size());
    Entry& entry = entries_.emplace_back();
    if (before != kNone) entry = std::move(entries[before]);
    entry.before = before;
    entry.item = static_cast<uint32_t>(items_.size() - 1);
    if (news) entry.level = KeyOf(*item.endpoint);
    if (before == kNone) {
      entry.member = base::MakeRef<Member>(base::Ref<Host>::Share(item.host.get()),
                                           options_.outlier.consecutive_failures);
      entry.began = first ? kWarm : kNotYet;
      entry.member->Listen(&listener_);
      Look(entry, now);
    }
    if (before != item.entry) entry.member->entry = item.entry;
  }
  all_ = std::move(all);
  PartWith(items, entries, *departed);
  FillLevels();
  TellDetector(now);
  set_changed_ = true;
}

// What of the set before is not in this one.
void Membership::PartWith(std::vector<Item>& items, std::vector<Entry>& entries,
                          Departed& departed) {
  for (Item& item : items) {
    if (item.host == nullptr) continue;
    departed.endpoints.push_back(std::move(item.endpoint));
    departed.hosts.push_back(std::move(item.host));
  }
  for (Entry& entry : entries) {
    if (!entry.member) continue;
    entry.member->StopListening();
    entry.member->SetPlace({});
    departed.members.push_back(std::move(entry.member));
  }
}

void Membership::FillLevels() {
  for (auto& [key, level] : levels_) level.entries.clear();
  LevelState* level = nullptr;  // of the entry before, as most are of one
  LevelKey key;
  for (uint32_t i = 0; i < entries_.size(); ++i) {
    if (level == nullptr || entries_[i].level != key) {
      key = entries_[i].level;
      level = &levels_[key];
    }
    level->entries.push_back(i);
  }
  std::erase_if(levels_, [](const auto& each) { return each.second.entries.empty(); });
}

void Membership::TellDetector(base::MonoTime now) {
  if (!detector_.has_value()) return;
  std::vector<OutlierDetector::Subject> subjects;
  subjects.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    OutlierDetector::Subject& subject = subjects.emplace_back();
    if (entry.before != kNone) {
      subject.before = entry.before;
    } else {
      subject.health = &entry.member->health;
      subject.address = entry.member->host->address();
    }
  }
  Note(detector_->OnHostsChanged(subjects, now));
}

void Membership::Close() {
  for (const Entry& entry : entries_) entry.member->StopListening();
}

void Membership::SetBalancer(BalancerFactory balancer) {
  options_.balancer = std::move(balancer);
  for (auto& [key, level] : levels_) {
    level.balancer = nullptr;
    level.picker = nullptr;
  }
}

void Membership::OnHostState(const Member& member, base::MonoTime now) {
  if (member.entry >= entries_.size()) return;
  Entry& entry = entries_[member.entry];
  if (entry.member.get() == &member) Look(entry, now);
}

void Membership::OnTrip(const Member& member, base::MonoTime now) {
  if (detector_.has_value()) Note(detector_->OnTrip(member.health, now));
}

void Membership::Note(const OutlierDetector::Events& events) {
  telemetry::Counters* const counters = options_.counters;
  for (const OutlierDetector::Event& event : events) {
    switch (event.kind) {
      case OutlierDetector::Event::Kind::kEjected:
        if (counters != nullptr) counters->ejections.Add();
        break;
      case OutlierDetector::Event::Kind::kSpared:
        if (counters != nullptr) counters->ejections_spared.Add();
        break;
      case OutlierDetector::Event::Kind::kReturned: {
        base::MonoTime& began = entries_[event.host].began;
        if (began != kNotYet) began = std::max(began, detector_->standing(event.host).returned_at);
        break;
      }
    }
  }
}

// Since when it is connected; and a host that is dialled again and again stays out of reach until
// that succeeds.
void Membership::Look(Entry& entry, base::MonoTime now) {
  switch (entry.member->host->state()) {
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
  if (passes_checks_ != nullptr) {
    for (Entry& entry : entries_) entry.fails_checks = !passes_checks_(*entry.member->host);
  }
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
  std::vector<double> factors;
  factors.reserve(level.entries.size());
  level.given.clear();
  double most = 0;
  for (const uint32_t index : level.entries) {
    if (!Fit(index) && !level.share.panic) {
      Place(entries_[index], {});
      continue;
    }
    level.given.push_back(index);
    factors.push_back(SlowStart(entries_[index], now));
    most = std::max(most, factors.back());
  }
  bool changed = level.picker == nullptr || level.hosts.size() != level.given.size();
  level.hosts.resize(level.given.size());
  for (uint32_t i = 0; i < level.given.size(); ++i) {
    Entry& entry = entries_[level.given[i]];
    Place(entry, {number, i});
    PickerHost host = (*all_)[entry.item];
    // Where all of them are new, nobody is spared.
    host.weight = host.weight * factors[i] / most;
    changed = changed || !Same(host, level.hosts[i]);
    level.hosts[i] = host;
    starting_ = starting_ || (factors[i] < 1 && entry.began != kNotYet);
  }
  if (!changed) return false;
  if (level.balancer == nullptr)
    level.balancer = options_.balancer(base::NextRandom(options_.seed + number));
  level.picker = level.balancer->Update(level.hosts);
  return true;
}

void Membership::Place(Entry& entry, Member::Place place) {
  if (entry.given == place) return;
  entry.given = place;
  entry.member->SetPlace(place);
}

std::shared_ptr<const Hosts> Membership::Publish() const {
  auto hosts = std::make_shared<Hosts>();
  hosts->departed = departed_;
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
    for (const uint32_t entry : level.given) group.members.push_back(entries_[entry].member.get());
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
  standings.reserve(items_.size());
  for (const Item& item : items_) {
    Standing& standing = standings.emplace_back();
    standing.endpoint = item.endpoint;
    standing.host = item.host;
    if (item.entry == kNone) continue;
    standing.weight = weights[item.entry];
    standing.ejected = Ejected(item.entry);
    if (standing.ejected) standing.why = detector_->standing(item.entry).why;
    standing.fails_checks = entries_[item.entry].fails_checks;
  }
  return standings;
}

}  // namespace weft::inline v0::cluster
