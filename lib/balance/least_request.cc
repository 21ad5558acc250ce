#include "balance/least_request.h"

#include <cstddef>
#include <cstdint>

#include "balance/host_set.h"
#include "balance/two_choices.h"
#include "balance/weighted_draw.h"

namespace weft::inline v0::balance {
namespace {

class LeastRequestPicker final : public Picker {
 public:
  explicit LeastRequestPicker(const std::vector<PickerHost>& hosts) : hosts_(hosts), draw_(hosts) {}

  PickResult Pick(const PickFacts& facts) const override {
    return PickBetterOfTwo(hosts_, draw_, facts, [this](size_t index) {
      return hosts_[index].in_flight() / draw_.weight(index);
    });
  }

 private:
  const HostSet hosts_;
  const WeightedDraw draw_;
};

}  // namespace

std::shared_ptr<const Picker> LeastRequestBalancer::Update(const std::vector<PickerHost>& hosts) {
  return std::make_shared<LeastRequestPicker>(hosts);
}

}  // namespace weft::inline v0::balance

namespace weft::inline v0 {

BalancerFactory LeastRequest() {
  return [](uint64_t) { return std::make_unique<balance::LeastRequestBalancer>(); };
}

}  // namespace weft::inline v0
