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
  PrequalPicker(const PrequalOptions& options, double reports_per_call,
                const std::vector<PickerHost>& hosts, std::shared_ptr<const Picker> local,
                std::shared_ptr<Learnt> learnt);
  PickResult Pick(const PickFacts& facts) const override;
  void OnReport(size_t index, MonoTime now) const override;

 private:
  struct Entry {
    std::shared_ptr<HostView> host;
    std::atomic<uint64_t> said{0};  // in flight, what was sent since included; latency in ns
    std::atomic<float> penalty{1};
  };
  struct Candidate {
    size_t place = kPool;
    uint64_t seen = kFree;
    bool hot = false;
    float rank = 0;  // of those alike the lowest is the best
    bool BetterThan(const Candidate& other) const {
      return hot != other.hot ? !hot : rank < other.rank;
    }
  };

  Candidate Look(size_t place, const PickFacts& facts) const;
  void Use(const Candidate& chosen, double random) const;
  void Remove(const std::array<Candidate, kPool>& known, size_t count) const;
  void Note(size_t index, const HostView::Reported& reported) const;
  void Put(uint32_t index, uint32_t tick) const;

  const uint32_t max_age_;  // ticks
  double reuse_ = 255;
  double remove_ = 0;
  const std::shared_ptr<const Picker> local_;
  const std::shared_ptr<Learnt> learnt_;
  const size_t size_;
  const std::unique_ptr<Entry[]> entries_;
  alignas(64) mutable std::array<std::atomic<uint64_t>, kPool> pool_;
  mutable std::atomic<uint32_t> next_{0};  // of equally old places
  mutable std::atomic<bool> worst_next_{false};
};

PrequalBalancer::PrequalPicker::PrequalPicker(const PrequalOptions& options,
                                              double reports_per_call,
                                              const std::vector<PickerHost>& hosts,
                                              std::shared_ptr<const Picker> local,
                                              std::shared_ptr<Learnt> learnt)
    : max_age_(static_cast<uint32_t>(
          std::min<int64_t>(options.max_age.count() >> kTickBits, UINT32_MAX / 2))),
      local_(std::move(local)),
      learnt_(std::move(learnt)),
      size_(hosts.size()),
      entries_(std::make_unique<Entry[]>(size_)) {
  remove_ = std::min(1.0, reports_per_call * kRemoveByProbe);
  const double others = 1 - static_cast<double>(std::min(kPool, size_)) /
                                static_cast<double>(std::max<size_t>(size_, 1));
  const double spare = others * reports_per_call - remove_;
  if (spare > 0) reuse_ = std::max(1.0, (1 + kDelta) / spare);
  for (std::atomic<uint64_t>& place : pool_) place.store(kFree, std::memory_order_relaxed);
  for (size_t i = 0; i < size_; ++i) entries_[i].host = hosts[i].host;
  for (const size_t index : LatestReporters(hosts, kPool))
    Note(index, hosts[index].host->reported());
}

PrequalBalancer::PrequalPicker::Candidate PrequalBalancer::PrequalPicker::Look(
    size_t place, const PickFacts& facts) const {
  const uint64_t seen = pool_[place].load(std::memory_order_relaxed);
  if (seen == kFree || TicksSince(TickIn(seen), TickOf(facts.now)) > max_age_) return {};
  const Entry& entry = entries_[IndexIn(seen)];
  const HostView* const host = entry.host.get();
  if (host->state() != HostState::kReady ||
      std::find(facts.tried.begin(), facts.tried.end(), host) != facts.tried.end()) {
    return {};
  }
  const uint64_t said = entry.said.load(std::memory_order_relaxed);
  const auto in_flight = static_cast<uint32_t>(said >> 32);
  const float penalty = entry.penalty.load(std::memory_order_relaxed);
  const bool hot = penalty > 1 || in_flight > learnt_->hot_above.load(std::memory_order_relaxed);
  const float latency = std::bit_cast<float>(static_cast<uint32_t>(said));
  return {place, seen, hot, hot ? (static_cast<float>(in_flight) + 1) * penalty : latency};
}

PickResult PrequalBalancer::PrequalPicker::Pick(const PickFacts& facts) const {
  std::array<Candidate, kPool> known;
  size_t count = 0;
  for (size_t place = 0; place < kPool; ++place) {
    const Candidate candidate = Look(place, facts);
    if (candidate.place < kPool) known[count++] = candidate;
  }
  while (count >= 2) {
    Candidate* const best =
        std::min_element(known.begin(), known.begin() + static_cast<ptrdiff_t>(count),
                         [](const Candidate& a, const Candidate& b) { return a.BetterThan(b); });
    Entry& entry = entries_[IndexIn(best->seen)];
    const float penalty = learnt_->penalty.Of(*entry.host, facts.now);
    // One that has failed since it reported has no place there any more.
    if (penalty > 1.01F * entry.penalty.load(std::memory_order_relaxed)) {
      entry.penalty.store(penalty, std::memory_order_relaxed);
      pool_[best->place].compare_exchange_strong(best->seen, kFree, std::memory_order_relaxed);
      *best = known[--count];
      continue;
    }
    entry.said.fetch_add(uint64_t{1} << 32, std::memory_order_relaxed);
    const Candidate chosen = *best;
    Use(chosen, static_cast<double>(facts.random >> 32) * 0x1.0p-32);
    if (RoundAtRandom(remove_, static_cast<double>(facts.random & UINT32_MAX) * 0x1.0p-32) > 0)
      Remove(known, count);
    return PickResult::Host(IndexIn(chosen.seen));
  }
  return local_->Pick(facts);
}

void PrequalBalancer::PrequalPicker::Use(const Candidate& chosen, double random) const {
  uint64_t seen = chosen.seen;
  const uint32_t uses = UsesIn(seen) + 1;
  const bool over = uses >= RoundAtRandom(reuse_, random);
  pool_[chosen.place].compare_exchange_strong(seen, over || uses > 0xfe ? kFree : seen + 1,
                                              std::memory_order_relaxed);
}

void PrequalBalancer::PrequalPicker::Remove(const std::array<Candidate, kPool>& known,
                                            size_t count) const {
  const bool worst = worst_next_.load(std::memory_order_relaxed);
  worst_next_.store(!worst, std::memory_order_relaxed);
  const Candidate* gone = &known[0];
  for (size_t i = 1; i < count; ++i) {
    const bool more =
        worst ? gone->BetterThan(known[i]) : TickIn(known[i].seen) < TickIn(gone->seen);
    if (more) gone = &known[i];
  }
  uint64_t seen = gone->seen;
  pool_[gone->place].compare_exchange_strong(seen, kFree, std::memory_order_relaxed);
}

void PrequalBalancer::PrequalPicker::OnReport(size_t index, MonoTime now) const {
  if (index >= size_) return;
  Entry& entry = entries_[index];
  const HostView::Reported reported = entry.host->reported();
  if (!reported.report.TellsInFlight()) return;
  const uint32_t count = learnt_->reports.fetch_add(1, std::memory_order_relaxed);
  learnt_->Add(reported.report.in_flight, count);
  const size_t other = base::Below(base::NextRandom(count), size_);
  if (other != index) learnt_->penalty.Learn(reported.report, *entries_[other].host, now);
  entry.penalty.store(learnt_->penalty.Of(*entry.host, now), std::memory_order_relaxed);
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

PrequalBalancer::PrequalBalancer(const PrequalOptions& options, double reports_per_call,
                                 std::unique_ptr<Balancer> local)
    : options_(options),
      reports_per_call_(reports_per_call),
      local_(std::move(local)),
      learnt_(std::make_shared<Learnt>()) {}

PrequalBalancer::~PrequalBalancer() = default;

std::shared_ptr<const Picker> PrequalBalancer::Update(const std::vector<PickerHost>& hosts) {
  return std::make_shared<PrequalPicker>(options_, reports_per_call_, hosts, local_->Update(hosts),
                                         learnt_);
}

}  // namespace weft::inline v0::balance

namespace weft::inline v0 {

BalancerFactory Prequal(PrequalOptions options) {
  return [options, local = LeastRequest()](uint64_t seed) {
    return std::make_unique<balance::PrequalBalancer>(options, 1, local(seed));
  };
}

}  // namespace weft::inline v0
