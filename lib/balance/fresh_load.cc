#include "balance/fresh_load.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "balance/latest_reporters.h"
#include "balance/ticks.h"
#include "base/mix.h"
#include "base/places.h"
#include "weft/balancers.h"

namespace weft::inline v0::balance {
namespace {

constexpr size_t kRecent = 16;
constexpr size_t kDrawn = 2;
constexpr int kTries = 16;            // to draw one by speed
constexpr float kMostUnequal = 16;    // times the median's service time, and a part of it, at most
constexpr float kNews = 1.0F / 32;    // weight of a report in the mean load
constexpr float kTwiceAsFast = 0.2F;  // of a request by worker, while the report is fresh
constexpr int kMostBounces = 2;
constexpr auto kForget = std::chrono::seconds(10);

constexpr float kLeastAgeing = InTicks(std::chrono::milliseconds(50));
constexpr float kMostAgeing = InTicks(std::chrono::milliseconds(250));

// When a host reported, and what was sent since.
class Said {
 public:
  static constexpr uint64_t kNothing = 0;
  static uint64_t Pack(uint32_t tick, uint32_t sent) {
    return uint64_t{tick} << 32 | std::min(sent, uint32_t{UINT16_MAX});
  }
  explicit Said(uint64_t packed) : packed_(packed) {}
  bool nothing() const { return packed_ == kNothing; }
  uint32_t tick() const { return static_cast<uint32_t>(packed_ >> 32); }
  float sent() const { return static_cast<float>(static_cast<int32_t>(packed_)); }

 private:
  const uint64_t packed_;
};

// A candidate's score and its place, in one number of which the least is found without a branch:
// floats that are not negative are in the order of their bits.
constexpr float kImpossible = std::numeric_limits<float>::infinity();
uint64_t Rank(float score, size_t place) {
  return uint64_t{std::bit_cast<uint32_t>(score)} << 32 | place;
}
float ScoreIn(uint64_t rank) { return std::bit_cast<float>(static_cast<uint32_t>(rank >> 32)); }
size_t PlaceIn(uint64_t rank) { return static_cast<uint32_t>(rank); }

// Of the list of the last reports: when, and whose.
uint64_t Slot(uint32_t tick, size_t index) { return uint64_t{tick} << 32 | index; }

double MeanWeight(const std::vector<PickerHost>& hosts) {
  double sum = 0;
  for (const PickerHost& host : hosts) sum += host.weight;
  return hosts.empty() ? 1 : sum / static_cast<double>(hosts.size());
}

float ByWorker(const LoadReport& report) {
  return 1 / static_cast<float>(std::max(report.workers, 1U));
}

}  // namespace

class FreshLoadBalancer::FreshLoadPicker final : public Picker {
 public:
  FreshLoadPicker(const FreshLoadOptions& options, const std::vector<PickerHost>& hosts,
                  std::shared_ptr<const Picker> local, std::shared_ptr<Typical> typical,
                  const FreshLoadPicker* last);
  PickResult Pick(const PickFacts& facts) const override;
  void OnReport(size_t index, MonoTime now) const override;

 private:
  // 24 bytes, so that a thousand hosts fit into a processor's first cache.
  struct Entry {
    std::atomic<uint64_t> said{Said::kNothing};
    std::atomic<float> load{1};       // that it said, by worker, less its lead, and one
    std::atomic<float> by_worker{1};  // 1 / workers
    std::atomic<float> penalty{1};
    std::atomic<float> chance{1};  // to be drawn, relative to the others
  };
  // What is the same for all candidates of a pick.
  struct Moment {
    uint32_t tick;
    float mean;    // load, and one
    float ageing;  // 1 / (4 T)
  };
  struct Candidates {
    std::array<uint32_t, kDrawn + kRecent> indices;
    std::array<uint64_t, kDrawn + kRecent> ranks;
    size_t count;

    // A host may be there several times.
    void Worsen(uint32_t index, float times) {
      for (size_t i = 0; i < count; ++i) {
        if (indices[i] == index) ranks[i] = Rank(ScoreIn(ranks[i]) * times, i);
      }
    }
  };

  void Inherit(size_t index, const FreshLoadPicker& last, size_t place);
  void SetList(std::vector<uint64_t> slots);
  void Note(size_t index, const HostView::Reported& said, float lead) const;
  float SetSpeed(size_t index, const LoadReport& report) const;
  void FindMost() const;
  inline float UpdatePenalty(size_t index, MonoTime now) const;
  inline uint32_t Draw(uint64_t* random) const;
  Candidates Look(const PickFacts& facts, size_t reports) const;
  inline float ScoreOf(uint32_t index, const Moment& moment) const;
  bool CanTake(uint32_t index, const PickFacts& facts) const;
  void UseUp(size_t slot, uint32_t index, const PickFacts& facts) const;
  PickResult Choose(uint32_t index, const PickFacts& facts) const;

  const FreshLoadOptions options_;
  const std::shared_ptr<const Picker> local_;
  const std::shared_ptr<Typical> typical_;
  const std::vector<PickerHost> hosts_;
  const size_t size_;
  const double mean_weight_;
  const std::unique_ptr<Entry[]> entries_;
  // Tick and index of the last reports.
  alignas(64) mutable std::array<std::atomic<uint64_t>, kRecent> recent_;
  mutable std::atomic<uint32_t> listed_{0};
  mutable std::atomic<uint32_t> reports_{0};
  mutable std::atomic<float> ageing_{1 / (4 * kMostAgeing)};  // 1 / (4 T)
  mutable std::atomic<float> most_{0};                        // of all chances
};

FreshLoadBalancer::FreshLoadPicker::FreshLoadPicker(const FreshLoadOptions& options,
                                                    const std::vector<PickerHost>& hosts,
                                                    std::shared_ptr<const Picker> local,
                                                    std::shared_ptr<Typical> typical,
                                                    const FreshLoadPicker* last)
    : options_(options),
      local_(std::move(local)),
      typical_(std::move(typical)),
      hosts_(hosts),
      size_(hosts.size()),
      mean_weight_(MeanWeight(hosts)),
      entries_(std::make_unique<Entry[]>(size_)) {
  const std::vector<size_t> places = last == nullptr ? std::vector<size_t>(size_, base::kNowhere)
                                                     : PlacesBefore(last->hosts_, hosts_);
  for (size_t i = 0; i < size_; ++i) {
    if (places[i] != base::kNowhere) {
      Inherit(i, *last, places[i]);
      continue;
    }
    const HostView::Reported said = hosts_[i].host->reported();
    const float lead = SetSpeed(i, said.report);
    if (said.report.TellsInFlight()) Note(i, said, lead);
  }
  FindMost();
  std::vector<uint64_t> list;
  for (const size_t index : LatestReporters(hosts_, places, kRecent))
    list.push_back(Slot(TickOf(hosts_[index].host->reported().at), index));
  if (last != nullptr) {
    const size_t listed = std::min<size_t>(last->listed_.load(std::memory_order_relaxed), kRecent);
    const std::vector<size_t> after = PlacesAfter(places, last->size_);
    for (size_t i = 0; i < listed; ++i) {
      const uint64_t slot = last->recent_[i].load(std::memory_order_relaxed);
      const size_t index = after[static_cast<uint32_t>(slot)];
      if (index != base::kNowhere) list.push_back(Slot(static_cast<uint32_t>(slot >> 32), index));
    }
    reports_.store(last->reports_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    ageing_.store(last->ageing_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  SetList(std::move(list));
}

// What was learnt of a host that stays. Of its weight a part of its chance may have come or gone.
void FreshLoadBalancer::FreshLoadPicker::Inherit(size_t index, const FreshLoadPicker& last,
                                                 size_t place) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  Entry& entry = entries_[index];
  const Entry& known = last.entries_[place];
  entry.said.store(known.said.load(kRelaxed), kRelaxed);
  entry.load.store(known.load.load(kRelaxed), kRelaxed);
  entry.by_worker.store(known.by_worker.load(kRelaxed), kRelaxed);
  entry.penalty.store(known.penalty.load(kRelaxed), kRelaxed);
  const auto grown = static_cast<float>(hosts_[index].weight / last.hosts_[place].weight);
  entry.chance.store(known.chance.load(kRelaxed) * grown, kRelaxed);
}

// The latest of `slots`, the oldest of them first.
void FreshLoadBalancer::FreshLoadPicker::SetList(std::vector<uint64_t> slots) {
  std::sort(slots.begin(), slots.end(), [](uint64_t a, uint64_t b) {
    return static_cast<int32_t>(static_cast<uint32_t>(a >> 32) - static_cast<uint32_t>(b >> 32)) <
           0;
  });
  const size_t count = std::min(slots.size(), kRecent);
  for (size_t i = 0; i < count; ++i)
    recent_[i].store(slots[slots.size() - count + i], std::memory_order_relaxed);
  listed_.store(static_cast<uint32_t>(count), std::memory_order_relaxed);
}

void FreshLoadBalancer::FreshLoadPicker::Note(size_t index, const HostView::Reported& said,
                                              float lead) const {
  const float by_worker = ByWorker(said.report);
  entries_[index].by_worker.store(by_worker, std::memory_order_relaxed);
  const float load = static_cast<float>(said.report.in_flight) * by_worker;
  entries_[index].load.store(load - lead + 1, std::memory_order_relaxed);
  entries_[index].said.store(Said::Pack(TickOf(said.at), said.sent_since),
                             std::memory_order_relaxed);
}

// Returns its lead.
float FreshLoadBalancer::FreshLoadPicker::SetSpeed(size_t index, const LoadReport& report) const {
  Entry& entry = entries_[index];
  const float median = typical_->service_time.get();
  auto takes = static_cast<float>(report.service_time.count());
  float speed = 1;
  if (median > 0 && takes > 0) {
    const bool fails = entry.penalty.load(std::memory_order_relaxed) > 1;
    takes = std::clamp(takes, fails ? median : median / kMostUnequal, median * kMostUnequal);
    speed = median / takes;
  }
  const float chance = static_cast<float>(hosts_[index].weight) *
                       static_cast<float>(std::max(report.workers, 1U)) * speed * speed;
  entry.chance.store(chance, std::memory_order_relaxed);
  if (chance > most_.load(std::memory_order_relaxed))
    most_.store(chance, std::memory_order_relaxed);
  return kTwiceAsFast * std::log2(speed);
}

void FreshLoadBalancer::FreshLoadPicker::FindMost() const {
  float most = 0;
  for (size_t i = 0; i < size_; ++i)
    most = std::max(most, entries_[i].chance.load(std::memory_order_relaxed));
  most_.store(most, std::memory_order_relaxed);
}

inline float FreshLoadBalancer::FreshLoadPicker::UpdatePenalty(size_t index, MonoTime now) const {
  const float penalty = typical_->penalty.Of(*hosts_[index].host, now);
  std::atomic<float>& known = entries_[index].penalty;
  if (known.load(std::memory_order_relaxed) != penalty)
    known.store(penalty, std::memory_order_relaxed);
  return penalty;
}

inline uint32_t FreshLoadBalancer::FreshLoadPicker::Draw(uint64_t* random) const {
  const float most = most_.load(std::memory_order_relaxed);
  uint32_t index = 0;
  for (int i = 0; i < kTries; ++i) {
    *random = base::NextRandom(*random);
    index = static_cast<uint32_t>(base::Below(*random, size_));
    const float level = static_cast<float>(*random & 0xffffff) * 0x1.0p-24F * most;
    if (level < entries_[index].chance.load(std::memory_order_relaxed)) break;
  }
  return index;
}

inline float FreshLoadBalancer::FreshLoadPicker::ScoreOf(uint32_t index,
                                                         const Moment& moment) const {
  const Entry& entry = entries_[index];
  const Said said(entry.said.load(std::memory_order_relaxed));
  const float by_worker = entry.by_worker.load(std::memory_order_relaxed);
  const auto age = static_cast<float>(static_cast<int32_t>(TicksSince(said.tick(), moment.tick)));
  float load = moment.mean;
  if (said.nothing() || age > InTicks(kForget)) {
    load += static_cast<float>(hosts_[index].host->in_flight()) * by_worker;
  } else {
    // As good as e^-x here.
    const float left = std::max(0.0F, 1 - age * moment.ageing);
    const float fresh = (left * left) * (left * left);
    load += (entry.load.load(std::memory_order_relaxed) - load) * fresh + said.sent() * by_worker;
  }
  return load * entry.penalty.load(std::memory_order_relaxed);
}

bool FreshLoadBalancer::FreshLoadPicker::CanTake(uint32_t index, const PickFacts& facts) const {
  const HostView* const host = hosts_[index].host;
  return host->state() == HostState::kReady &&
         std::find(facts.tried.begin(), facts.tried.end(), host) == facts.tried.end();
}

FreshLoadBalancer::FreshLoadPicker::Candidates FreshLoadBalancer::FreshLoadPicker::Look(
    const PickFacts& facts, size_t reports) const {
  const Moment moment = {.tick = TickOf(facts.now),
                         .mean = typical_->load.load(std::memory_order_relaxed) + 1,
                         .ageing = ageing_.load(std::memory_order_relaxed)};
  Candidates candidates;
  candidates.count = kDrawn + reports;
  uint64_t random = facts.random;
  for (size_t i = 0; i < kDrawn; ++i) {
    const uint32_t index = Draw(&random);
    // The penalty of one that gets no calls falls as well.
    if (entries_[index].penalty.load(std::memory_order_relaxed) > 1)
      UpdatePenalty(index, facts.now);
    candidates.indices[i] = index;
  }
  for (size_t i = 0; i < reports; ++i) {
    candidates.indices[kDrawn + i] =
        static_cast<uint32_t>(recent_[i].load(std::memory_order_relaxed));
  }
  for (size_t i = 0; i < candidates.count; ++i)
    candidates.ranks[i] = Rank(ScoreOf(candidates.indices[i], moment), i);
  return candidates;
}

PickResult FreshLoadBalancer::FreshLoadPicker::Pick(const PickFacts& facts) const {
  const size_t reports = std::min<size_t>(listed_.load(std::memory_order_relaxed), kRecent);
  if (reports == 0) return local_->Pick(facts);
  Candidates candidates = Look(facts, reports);
  for (size_t left = candidates.count; left > 0; --left) {
    uint64_t best = candidates.ranks[0];
    for (size_t i = 1; i < candidates.count; ++i) best = std::min(best, candidates.ranks[i]);
    if (ScoreIn(best) == kImpossible) break;
    const uint32_t index = candidates.indices[PlaceIn(best)];
    // One that has failed since it reported may not be the best any more.
    const float known = entries_[index].penalty.load(std::memory_order_relaxed);
    const float penalty = UpdatePenalty(index, facts.now);
    if (!CanTake(index, facts)) {
      candidates.Worsen(index, kImpossible);
    } else if (penalty > 1.01F * known) {
      candidates.Worsen(index, penalty / known);
    } else {
      if (PlaceIn(best) >= kDrawn) UseUp(PlaceIn(best) - kDrawn, index, facts);
      return Choose(index, facts);
    }
  }
  return local_->Pick(facts);
}

// Of a host of little weight one call for each report on the list, whose place another one has
// then.
void FreshLoadBalancer::FreshLoadPicker::UseUp(size_t slot, uint32_t index,
                                               const PickFacts& facts) const {
  if (hosts_[index].weight >= mean_weight_) return;
  uint64_t random = ~facts.random;
  recent_[slot].store(Slot(TickOf(facts.now), Draw(&random)), std::memory_order_relaxed);
}

PickResult FreshLoadBalancer::FreshLoadPicker::Choose(uint32_t index,
                                                      const PickFacts& facts) const {
  std::atomic<uint64_t>& said = entries_[index].said;
  if (said.load(std::memory_order_relaxed) != Said::kNothing)
    said.fetch_add(1, std::memory_order_relaxed);
  PickResult result = PickResult::Host(index);
  if (options_.bounce_at > 0 && facts.bounces < kMostBounces) {
    const float mean = typical_->load.load(std::memory_order_relaxed) /
                       entries_[index].by_worker.load(std::memory_order_relaxed);
    result.bounce_above =
        std::max(1U, static_cast<uint32_t>(options_.bounce_at * static_cast<double>(mean)));
  }
  return result;
}

void FreshLoadBalancer::FreshLoadPicker::OnReport(size_t index, MonoTime now) const {
  if (index >= size_) return;
  const HostView::Reported said = hosts_[index].host->reported();
  if (!said.report.TellsInFlight()) return;
  const uint32_t count = reports_.fetch_add(1, std::memory_order_relaxed);
  const size_t other = base::Below(base::NextRandom(count), size_);
  if (other != index) typical_->penalty.Learn(said.report, *hosts_[other].host, now);
  UpdatePenalty(index, now);
  const float load = static_cast<float>(said.report.in_flight) * ByWorker(said.report);
  const float mean = typical_->load.load(std::memory_order_relaxed);
  typical_->load.store(mean + (load - mean) * kNews, std::memory_order_relaxed);
  typical_->service_time.Add(static_cast<float>(said.report.service_time.count()));
  Note(index, said, SetSpeed(index, said.report));

  if (count % size_ == 0) FindMost();

  // Not each report of a host that is to get little, such as one that starts slowly: it is as idle
  // as its weight is small, and would always be the best of the list.
  if (base::Chance(base::NextRandom(base::NextRandom(count))) * mean_weight_ >=
      hosts_[index].weight) {
    return;
  }
  const uint32_t listed = listed_.fetch_add(1, std::memory_order_relaxed);
  std::atomic<uint64_t>& slot = recent_[listed % kRecent];
  const uint32_t tick = TickOf(now);
  if (listed >= kRecent) {
    const auto oldest = static_cast<uint32_t>(slot.load(std::memory_order_relaxed) >> 32);
    const float gap = static_cast<float>(TicksSince(oldest, tick)) / kRecent;
    ageing_.store(1 / (4 * std::clamp(gap, kLeastAgeing, kMostAgeing)), std::memory_order_relaxed);
  }
  slot.store(Slot(tick, index), std::memory_order_relaxed);
}

FreshLoadBalancer::FreshLoadBalancer(const FreshLoadOptions& options,
                                     std::unique_ptr<Balancer> local)
    : options_(options), local_(std::move(local)) {}

std::shared_ptr<const Picker> FreshLoadBalancer::Update(const std::vector<PickerHost>& hosts) {
  last_ = std::make_shared<const FreshLoadPicker>(options_, hosts, local_->Update(hosts), typical_,
                                                  last_.get());
  return last_;
}

}  // namespace weft::inline v0::balance

namespace weft::inline v0 {

BalancerFactory FreshLoad(FreshLoadOptions options) {
  return [options, local = PeakEwma()](uint64_t seed) {
    return std::make_unique<balance::FreshLoadBalancer>(options, local(seed));
  };
}

}  // namespace weft::inline v0
