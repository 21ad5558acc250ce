#include "balance/round_robin.h"

#include <cstddef>
#include <utility>

#include "balance/host_set.h"
#include "base/mix.h"

namespace weft::inline v0::balance {
namespace {

class RoundRobinPicker final : public Picker {
 public:
  RoundRobinPicker(const std::vector<PickerHost>& hosts, std::shared_ptr<Turn> turn)
      : hosts_(hosts), turn_(std::move(turn)) {}

  PickResult Pick(const PickFacts& facts) const override {
    const uint64_t call = turn_->Take();
    if (!hosts_.empty() && hosts_.Fresh(call % hosts_.size(), facts))
      return PickResult::Host(call % hosts_.size());
    return hosts_.PickDrawn(facts, base::NextRandom(call),
                            [this](uint64_t random) { return base::Below(random, hosts_.size()); });
  }

 private:
  const HostSet hosts_;
  const std::shared_ptr<Turn> turn_;
};

}  // namespace

std::shared_ptr<const Picker> RoundRobinBalancer::Update(const std::vector<PickerHost>& hosts) {
  return std::make_shared<RoundRobinPicker>(hosts, turn_);
}

}  // namespace weft::inline v0::balance

namespace weft::inline v0 {

BalancerFactory RoundRobin() {
  return [](uint64_t seed) { return std::make_unique<balance::RoundRobinBalancer>(seed); };
}

}  // namespace weft::inline v0
