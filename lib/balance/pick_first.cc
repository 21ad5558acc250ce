#include "balance/pick_first.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <numeric>
#include <utility>

#include "balance/host_set.h"
#include "base/hash.h"

namespace weft::inline v0::balance {

class PickFirstBalancer::PickFirstPicker final : public Picker {
 public:
  // `order`: indices of `hosts`, the first one first. `chosen`: the host to stay with, if it is
  // there.
  PickFirstPicker(const std::vector<PickerHost>& hosts, std::vector<uint32_t> order,
                  const HostView* chosen)
      : hosts_(hosts), order_(std::move(order)) {
    for (uint32_t place = 0; place < order_.size(); ++place) {
      if (&hosts_[order_[place]] == chosen) chosen_.store(place, std::memory_order_relaxed);
    }
  }

  PickResult Pick(const PickFacts& facts) const override {
    if (hosts_.empty()) return hosts_.PickByCount(facts, facts.random);
    uint32_t chosen = chosen_.load(std::memory_order_relaxed);
    if (hosts_.Fresh(order_[chosen], facts)) return PickResult::Host(order_[chosen]);
    const bool lost = hosts_[order_[chosen]].state() != HostState::kReady;
    for (uint32_t place = 0; place < order_.size(); ++place) {
      if (!hosts_.Fresh(order_[place], facts)) continue;
      // Of several that find another, one decides for those that come after.
      if (lost) chosen_.compare_exchange_strong(chosen, place, std::memory_order_relaxed);
      return PickResult::Host(order_[place]);
    }
    return hosts_.PickByCount(facts, facts.random);
  }

  const HostView* chosen() const {
    return hosts_.empty() ? nullptr : &hosts_[order_[chosen_.load(std::memory_order_relaxed)]];
  }

 private:
  const HostSet hosts_;
  const std::vector<uint32_t> order_;
  mutable std::atomic<uint32_t> chosen_{0};  // a place in order_
};

std::shared_ptr<const Picker> PickFirstBalancer::Update(const std::vector<PickerHost>& hosts) {
  std::vector<uint32_t> order(hosts.size());
  std::iota(order.begin(), order.end(), 0);
  if (options_.shuffle) {
    // By a hash with the seed: a host that comes or goes does not turn the others' order around.
    std::vector<uint64_t> rank;
    rank.reserve(hosts.size());
    for (const PickerHost& host : hosts) rank.push_back(base::Hash(host.host->address(), seed_));
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return rank[a] < rank[b]; });
  }
  last_ = std::make_shared<const PickFirstPicker>(hosts, std::move(order),
                                                  last_ == nullptr ? nullptr : last_->chosen());
  return last_;
}

}  // namespace weft::inline v0::balance

namespace weft::inline v0 {

BalancerFactory PickFirst(PickFirstOptions options) {
  return [options](uint64_t seed) {
    return std::make_unique<balance::PickFirstBalancer>(options, seed);
  };
}

}  // namespace weft::inline v0
