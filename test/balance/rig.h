// A balancer over fake hosts, and what tests ask of its picks.
#ifndef WEFT_TEST_BALANCE_RIG_H_
#define WEFT_TEST_BALANCE_RIG_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mix.h"
#include "support/catch.h"
#include "support/fake_host.h"
#include "weft/balancers.h"

namespace weft::inline v0::balance {

struct Rig {
  Rig(const BalancerFactory& factory, size_t count) : balancer(factory(/*seed=*/1)) {
    for (size_t i = 0; i < count; ++i) Add("10.0." + std::to_string(i) + ".1:80");
    Update();
  }
  Rig(const BalancerFactory& factory, const std::vector<double>& weights)
      : balancer(factory(/*seed=*/1)) {
    for (const double weight : weights)
      Add("10.0." + std::to_string(hosts.size()) + ".1:80", weight);
    Update();
  }
  void Add(const std::string& address, double weight = 1) {
    fakes.push_back(std::make_shared<testing::FakeHost>(address));
    endpoints.push_back({.address = address, .weight = weight});
    hosts.push_back({&endpoints.back(), fakes.back().get(), weight});
  }
  void Remove(size_t index) {
    removed.push_back(
        std::move(fakes[index]));  // of the set before, it is there in the next Update
    fakes.erase(fakes.begin() + static_cast<std::ptrdiff_t>(index));
    hosts.erase(hosts.begin() + static_cast<std::ptrdiff_t>(index));
  }
  void Update() { picker = balancer->Update(hosts); }
  void SetAll(HostState state) {
    for (const auto& fake : fakes) fake->now = state;
  }

  PickResult Pick(PickFacts facts = {}) {
    facts.random = random = base::NextRandom(random);
    return picker->Pick(facts);
  }
  size_t PickHost(const PickFacts& facts = {}) {
    const PickResult result = Pick(facts);
    if (result.kind != PickResult::Kind::kHost) FAIL("no host: " << result.status);
    if (result.index >= hosts.size()) FAIL("no such host");
    return result.index;
  }
  // How many of so many calls each host gets.
  std::vector<double> Deal(int calls, const PickFacts& facts = {}) {
    std::vector<double> counts(hosts.size());
    for (int i = 0; i < calls; ++i) ++counts[PickHost(facts)];
    return counts;
  }

  std::vector<std::shared_ptr<testing::FakeHost>> fakes;
  std::vector<std::shared_ptr<testing::FakeHost>> removed;
  std::deque<Endpoint> endpoints;  // those of all that were ever there
  std::vector<PickerHost> hosts;
  std::unique_ptr<Balancer> balancer;
  std::shared_ptr<const Picker> picker;
  uint64_t random = 42;
};

// How many standard deviations Pearson's statistic is above that of independent draws with these
// shares (Wilson and Hilferty 1931): above 4 the counts are not of these shares.
double ChiSquareExcess(const std::vector<double>& counts, const std::vector<double>& shares);

}  // namespace weft::inline v0::balance

#endif  // WEFT_TEST_BALANCE_RIG_H_
