#include "balance/prequal.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "balance/latest_reporters.h"
#include "balance/slow_penalty.h"
#include "balance/ticks.h"
#include "base/mix.h"
#include "base/places.h"
#include "weft/balancers.h"

namespace weft::inline v0::balance {
namespace {

constexpr size_t kPool = 16;
constexpr size_t kNews = 64;         // reports of which the quantile is
constexpr size_t kNewsPerLook = 16;  // it is looked up anew after so many
constexpr double kDelta = 1;
constexpr double kRemoveByProbe = 1.0 / 3;
const double kHotQuantile = std::exp2(-0.25);

// A place of the pool: whose report, when it came, how often it was used.
constexpr uint64_t kFree = UINT64_MAX;
uint64_t Place(uint32_t tick, size_t index) { return uint64_t{tick} << 32 | index << 8; }
uint32_t TickIn(uint64_t place) { return static_cast<uint32_t>(place >> 32); }
uint32_t IndexIn(uint64_t place) { return static_cast<uint32_t>(place) >> 8; }
uint32_t UsesIn(uint64_t place) { return static_cast<uint32_t>(place & 0xff); }

// What is in a place of the pool, in one number of which the least is the best: those that are not
// hot, then the others, each by a float that is not negative (such are in the order of their bits).
constexpr uint64_t kNoRank = UINT64_MAX;
uint64_t Rank(bool hot, float value, size_t place) {
  return uint64_t{hot} << 63 | uint64_t{std::bit_cast<uint32_t>(value)} << 32 | place;
}
size_t PlaceIn(uint64_t rank) { return static_cast<uint32_t>(rank); }

// `value`, rounded up as often as its fraction says; `random` from 0 to 1.
uint32_t RoundAtRandom(double value, double random) {
  return static_cast<uint32_t>(std::min(value, 255.0) + random);
}

}  // namespace

// Of all hosts together; outlives pickers.
struct PrequalBalancer::Learnt {
  SlowPenalty penalty;
  std::array<std::atomic<uint32_t>, kNews> news{};  // requests in flight
  std::atomic<uint32_t> reports{0};
  std::atomic<uint32_t> hot_above{UINT32_MAX};

  void Add(uint32_t in_flight, uint32_t count) {
    news[count % kNews].store(in_flight, std::memory_order_relaxed);
    if (count % kNewsPerLook != kNewsPerLook - 1) return;
    std::array<uint32_t, kNews> sorted;
    const size_t known = std::min<size_t>(count + 1, kNews);
    for (size_t i = 0; i < known; ++i) sorted[i] = news[i].load(std::memory_order_relaxed);
    const auto at = static_cast<ptrdiff_t>(kHotQuantile * static_cast<double>(known));
    std::nth_element(sorted.begin(), sorted.begin() + at,
                     sorted.begin() + static_cast<ptrdiff_t>(known));
    hot_above.store(sorted[static_cast<size_t>(at)], std::memory_order_relaxed);
  }
};

class PrequalBalancer::PrequalPicker final : public Picker {
 public:
  PrequalPicker(const PrequalOptions& options, const std::vector<PickerHost>& hosts,
                std::shared_ptr<const Picker> local, std::shared_ptr<Learnt> learnt,
                const PrequalPicker* last);
  PickResult Pick(const PickFacts& facts) const override;
  void OnReport(size_t index, MonoTime now) const override;

 private:
  struct Entry {
    std::atomic<uint64_t> said{0};  // in flight, what was sent since included; latency in ns
    std::atomic<float> penalty{1};
  };
  // The pool as one pick sees it.
  struct Known {
    std::array<uint64_t, kPool> seen;
    std::array<uint64_t, kPool> ranks;  // the lowest is the best; kNoRank: nothing usable is there
    size_t count = 0;
    void Forget(size_t place) {
      ranks[place] = kNoRank;
      --count;
    }
  };

  size_t Inherit(const PrequalPicker& last, const std::vector<size_t>& places);
  Known Look(uint32_t tick) const;
  uint64_t RankOf(size_t place, uint32_t index) const;
  bool CanTake(uint32_t index, const PickFacts& facts) const;
  void Use(size_t place, uint64_t seen, double random) const;
  void Remove(const Known& known) const;
  void Note(size_t index, const HostView::Reported& reported) const;
  void Put(uint32_t index, uint32_t tick) const;

  const uint32_t max_age_;  // ticks
  double reuse_ = 255;
  double remove_ = 0;
  const std::shared_ptr<const Picker> local_;
  const std::shared_ptr<Learnt> learnt_;
  const std::vector<PickerHost> hosts_;
  const size_t size_;
  const std::unique_ptr<Entry[]> entries_;
  alignas(64) mutable std::array<std::atomic<uint64_t>, kPool> pool_;
  mutable std::atomic<uint32_t> next_{0};  // of equally old places
  mutable std::atomic<bool> worst_next_{false};
};

PrequalBalancer::PrequalPicker::PrequalPicker(const PrequalOptions& options,
                                              const std::vector<PickerHost>& hosts,
                                              std::shared_ptr<const Picker> local,
                                              std::shared_ptr<Learnt> learnt,
                                              const PrequalPicker* last)
    : max_age_(static_cast<uint32_t>(
          std::min<int64_t>(options.max_age.count() >> kTickBits, UINT32_MAX / 2))),
      local_(std::move(local)),
      learnt_(std::move(learnt)),
      hosts_(hosts),
      size_(hosts.size()),
      entries_(std::make_unique<Entry[]>(size_)) {
  remove_ = std::min(1.0, options.reports_per_call * kRemoveByProbe);
  const double others = 1 - static_cast<double>(std::min(kPool, size_)) /
                                static_cast<double>(std::max<size_t>(size_, 1));
  const double spare = others * options.reports_per_call - remove_;
  if (spare > 0) reuse_ = std::max(1.0, (1 + kDelta) / spare);
  for (std::atomic<uint64_t>& place : pool_) place.store(kFree, std::memory_order_relaxed);
  const std::vector<size_t> places = last == nullptr ? std::vector<size_t>(size_, base::kNowhere)
                                                     : PlacesBefore(last->hosts_, hosts_);
  size_t kept = 0;
  if (last != nullptr) kept = Inherit(*last, places);
  // What new hosts have said, to others maybe, has the places that are left.
  for (const size_t index : LatestReporters(hosts_, places, kPool - kept))
    Note(index, hosts_[index].host->reported());
}

// What was learnt of hosts that stay. Returns how many places of the pool are not free.
size_t PrequalBalancer::PrequalPicker::Inherit(const PrequalPicker& last,
                                               const std::vector<size_t>& places) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  for (size_t i = 0; i < size_; ++i) {
    if (places[i] == base::kNowhere) continue;
    const Entry& known = last.entries_[places[i]];
    entries_[i].said.store(known.said.load(kRelaxed), kRelaxed);
    entries_[i].penalty.store(known.penalty.load(kRelaxed), kRelaxed);
  }
  const std::vector<size_t> after = PlacesAfter(places, last.size_);
  size_t kept = 0;
  for (size_t place = 0; place < kPool; ++place) {
    const uint64_t seen = last.pool_[place].load(kRelaxed);
    if (seen == kFree || after[IndexIn(seen)] == base::kNowhere) continue;
    pool_[place].store(Place(TickIn(seen), after[IndexIn(seen)]) | UsesIn(seen), kRelaxed);
    ++kept;
  }
  worst_next_.store(last.worst_next_.load(kRelaxed), kRelaxed);
  return kept;
}

uint64_t PrequalBalancer::PrequalPicker::RankOf(size_t place, uint32_t index) const {
  const Entry& entry = entries_[index];
  const uint64_t said = entry.said.load(std::memory_order_relaxed);
  const auto in_flight = static_cast<uint32_t>(said >> 32);
  const float latency = std::bit_cast<float>(static_cast<uint32_t>(said));
  const float penalty = entry.penalty.load(std::memory_order_relaxed);
  const bool hot = penalty > 1 || in_flight > learnt_->hot_above.load(std::memory_order_relaxed);
  const float value = hot ? (static_cast<float>(in_flight) + 1) * penalty : latency;
  return Rank(hot, value, place);
}

PrequalBalancer::PrequalPicker::Known PrequalBalancer::PrequalPicker::Look(uint32_t tick) const {
  Known known;
  for (size_t place = 0; place < kPool; ++place) {
    const uint64_t seen = pool_[place].load(std::memory_order_relaxed);
    const bool usable = seen != kFree && TicksSince(TickIn(seen), tick) <= max_age_;
    known.seen[place] = seen;
    known.ranks[place] = usable ? RankOf(place, IndexIn(seen)) : kNoRank;
    if (usable) ++known.count;
  }
  return known;
}

bool PrequalBalancer::PrequalPicker::CanTake(uint32_t index, const PickFacts& facts) const {
  const HostView* const host = hosts_[index].host;
  return host->state() == HostState::kReady &&
         std::find(facts.tried.begin(), facts.tried.end(), host) == facts.tried.end();
}

PickResult PrequalBalancer::PrequalPicker::Pick(const PickFacts& facts) const {
  Known known = Look(TickOf(facts.now));
  while (known.count >= 2) {
    uint64_t best = kNoRank;
    for (const uint64_t rank : known.ranks) best = std::min(best, rank);
    const size_t place = PlaceIn(best);
    uint64_t seen = known.seen[place];
    const uint32_t index = IndexIn(seen);
    if (!CanTake(index, facts)) {
      known.Forget(place);
      continue;
    }
    Entry& entry = entries_[index];
    const float penalty = learnt_->penalty.Of(*hosts_[index].host, facts.now);
    // One that has failed since it reported has no place there any more.
    if (penalty > 1.01F * entry.penalty.load(std::memory_order_relaxed)) {
      entry.penalty.store(penalty, std::memory_order_relaxed);
      pool_[place].compare_exchange_strong(seen, kFree, std::memory_order_relaxed);
      known.Forget(place);
      continue;
    }
    entry.said.fetch_add(uint64_t{1} << 32, std::memory_order_relaxed);
    Use(place, seen, static_cast<double>(facts.random >> 32) * 0x1.0p-32);
    if (RoundAtRandom(remove_, static_cast<double>(facts.random & UINT32_MAX) * 0x1.0p-32) > 0)
      Remove(known);
    return PickResult::Host(index);
  }
  return local_->Pick(facts);
}

void PrequalBalancer::PrequalPicker::Use(size_t place, uint64_t seen, double random) const {
  const uint32_t uses = UsesIn(seen) + 1;
  const bool over = uses >= RoundAtRandom(reuse_, random);
  pool_[place].compare_exchange_strong(seen, over || uses > 0xfe ? kFree : seen + 1,
                                       std::memory_order_relaxed);
}

void PrequalBalancer::PrequalPicker::Remove(const Known& known) const {
  const bool worst = worst_next_.load(std::memory_order_relaxed);
  worst_next_.store(!worst, std::memory_order_relaxed);
  size_t gone = kPool;
  for (size_t i = 0; i < kPool; ++i) {
    if (known.ranks[i] == kNoRank) continue;
    if (gone == kPool || (worst ? known.ranks[i] > known.ranks[gone]
                                : TickIn(known.seen[i]) < TickIn(known.seen[gone])))
      gone = i;
  }
  uint64_t seen = known.seen[gone];
  pool_[gone].compare_exchange_strong(seen, kFree, std::memory_order_relaxed);
}

void PrequalBalancer::PrequalPicker::OnReport(size_t index, MonoTime now) const {
  if (index >= size_) return;
  Entry& entry = entries_[index];
  const HostView& host = *hosts_[index].host;
  const HostView::Reported reported = host.reported();
  if (!reported.report.TellsInFlight()) return;
  const uint32_t count = learnt_->reports.fetch_add(1, std::memory_order_relaxed);
  learnt_->Add(reported.report.in_flight, count);
  const size_t other = base::Below(base::NextRandom(count), size_);
  if (other != index) learnt_->penalty.Learn(reported.report, *hosts_[other].host, now);
  entry.penalty.store(learnt_->penalty.Of(host, now), std::memory_order_relaxed);
  Note(index, reported);
}

void PrequalBalancer::PrequalPicker::Note(size_t index, const HostView::Reported& reported) const {
  const LoadReport& said = reported.report;
  const auto latency = static_cast<float>(said.latency.count());
  entries_[index].said.store(
      uint64_t{said.in_flight + reported.sent_since} << 32 | std::bit_cast<uint32_t>(latency),
      std::memory_order_relaxed);
  Put(static_cast<uint32_t>(index), TickOf(reported.at));
}

void PrequalBalancer::PrequalPicker::Put(uint32_t index, uint32_t tick) const {
  size_t into = 0;
  int64_t oldest = -1;
  // From another place each time: of those equally old each has its turn.
  const size_t first = next_.fetch_add(1, std::memory_order_relaxed) % kPool;
  for (size_t i = 0; i < kPool; ++i) {
    const size_t place = (first + i) % kPool;
    const uint64_t seen = pool_[place].load(std::memory_order_relaxed);
    if (seen != kFree && IndexIn(seen) == index) {
      into = place;
      break;
    }
    const int64_t age = seen == kFree ? INT64_MAX : TicksSince(TickIn(seen), tick);
    if (age <= oldest) continue;
    oldest = age;
    into = place;
  }
  pool_[into].store(Place(tick, index), std::memory_order_relaxed);
}

PrequalBalancer::PrequalBalancer(const PrequalOptions& options, std::unique_ptr<Balancer> local)
    : options_(options), local_(std::move(local)), learnt_(std::make_shared<Learnt>()) {}

PrequalBalancer::~PrequalBalancer() = default;

std::shared_ptr<const Picker> PrequalBalancer::Update(const std::vector<PickerHost>& hosts) {
  last_ = std::make_shared<const PrequalPicker>(options_, hosts, local_->Update(hosts), learnt_,
                                                last_.get());
  return last_;
}

}  // namespace weft::inline v0::balance

namespace weft::inline v0 {

BalancerFactory Prequal(PrequalOptions options) {
  return [options, local = LeastRequest()](uint64_t seed) {
    return std::make_unique<balance::PrequalBalancer>(options, local(seed));
  };
}

}  // namespace weft::inline v0
