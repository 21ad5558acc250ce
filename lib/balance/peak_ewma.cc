#include "balance/peak_ewma.h"

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "balance/host_set.h"
#include "balance/two_choices.h"
#include "balance/weighted_draw.h"

namespace weft::inline v0::balance {
namespace {

// In ns, days: above any host that was measured. Those that were not are compared by what they have
// in flight.
constexpr double kPenalty = 1e15;

class PeakEwmaPicker final : public Picker {
 public:
  explicit PeakEwmaPicker(const std::vector<PickerHost>& hosts) : hosts_(hosts), draw_(hosts) {}

  PickResult Pick(const PickFacts& facts) const override {
    return PickBetterOfTwo(hosts_, draw_, facts, [&](size_t index) {
      return PeakEwmaScore(hosts_[index], draw_.weight(index), facts.now);
    });
  }

 private:
  const HostSet hosts_;
  const WeightedDraw draw_;
};

}  // namespace

double PeakEwmaScore(const HostView& host, double weight, MonoTime now) {
  const uint32_t in_flight = host.in_flight();
  const auto latency = static_cast<double>(host.latency(now).count());
  const double load = in_flight / weight;
  if (latency == 0) return in_flight == 0 ? 0 : kPenalty * (load + 1);
  return latency * (load + 1);
}

std::shared_ptr<const Picker> PeakEwmaBalancer::Update(const std::vector<PickerHost>& hosts) {
  return std::make_shared<PeakEwmaPicker>(hosts);
}

}  // namespace weft::inline v0::balance

namespace weft::inline v0 {

BalancerFactory PeakEwma() {
  return [](uint64_t) { return std::make_unique<balance::PeakEwmaBalancer>(); };
}

}  // namespace weft::inline v0
