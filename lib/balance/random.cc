#include "balance/random.h"

#include "balance/host_set.h"
#include "balance/weighted_draw.h"

namespace weft::inline v0::balance {
namespace {

class RandomPicker final : public Picker {
 public:
  explicit RandomPicker(const std::vector<PickerHost>& hosts) : hosts_(hosts), draw_(hosts) {}

  PickResult Pick(const PickFacts& facts) const override {
    return hosts_.PickDrawn(facts, facts.random, draw_, draw_.weights());
  }

 private:
  const HostSet hosts_;
  const WeightedDraw draw_;
};

}  // namespace

std::shared_ptr<const Picker> RandomBalancer::Update(const std::vector<PickerHost>& hosts) {
  return std::make_shared<RandomPicker>(hosts);
}

}  // namespace weft::inline v0::balance

namespace weft::inline v0 {

BalancerFactory Random() {
  return [](uint64_t) { return std::make_unique<balance::RandomBalancer>(); };
}

}  // namespace weft::inline v0
