#include "balance/weighted_round_robin.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>

#include "absl/time/time.h"
#include "balance/host_set.h"
#include "balance/reported_weights.h"
#include "balance/static_stride.h"
#include "base/time.h"

namespace weft::inline v0::balance {

class WeightedRoundRobinBalancer::WeightedPicker final : public Picker {
 public:
  WeightedPicker(const std::vector<PickerHost>& hosts, const WeightedRoundRobinOptions& options,
                 std::shared_ptr<Turn> turn, const WeightedPicker* last)
      : hosts_(hosts),
        turn_(std::move(turn)),
        period_(std::max(options.weight_update_period, absl::Milliseconds(100))),
        stride_(hosts.size()),
        reported_(hosts, options) {
    if (last != nullptr) {
      std::lock_guard<std::mutex> lock(last->mutex_);
      reported_.Inherit(hosts_, last->hosts_, last->reported_);
      due_.store(last->due_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
    stride_.Set(reported_.Get());
  }

  PickResult Pick(const PickFacts& facts) const override {
    if (hosts_.empty()) return hosts_.PickByCount(facts, facts.random);
    if (facts.now >= due_.load(std::memory_order_relaxed)) Renew(facts.now);
    const size_t next = stride_.Next(*turn_);
    if (hosts_.Fresh(next, facts)) return PickResult::Host(next);
    // Not the next turn, which may be the neighbour's (host_set.h).
    return hosts_.PickDrawn(facts, facts.random,
                            [this](uint64_t random) { return stride_.Draw(random); });
  }

 private:
  // A few microseconds.
  static constexpr size_t kSlice = 128;

  void Renew(MonoTime now) const {
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || now < due_.load(std::memory_order_relaxed)) return;
    const size_t end = std::min(next_ + kSlice, hosts_.size());
    for (; next_ < end; ++next_) reported_.Read(next_, hosts_[next_], now);
    if (next_ < hosts_.size()) return;
    next_ = 0;
    stride_.Set(reported_.Get());
    due_.store(base::After(now, period_), std::memory_order_relaxed);
  }

  const HostSet hosts_;
  const std::shared_ptr<Turn> turn_;
  const absl::Duration period_;
  mutable StaticStride stride_;
  mutable std::atomic<MonoTime> due_{MonoTime::min()};  // when weights are to be computed anew
  mutable std::mutex mutex_;  // picks only try it; an update may wait for a slice
  mutable ReportedWeights reported_;
  mutable size_t next_ = 0;  // the first host that this round has not looked at
};

std::shared_ptr<const Picker> WeightedRoundRobinBalancer::Update(
    const std::vector<PickerHost>& hosts) {
  last_ = std::make_shared<const WeightedPicker>(hosts, options_, turn_, last_.get());
  return last_;
}

double WeightOf(const LoadReport& report, double error_utilization_penalty) {
  if (report.qps <= 0 || report.utilization <= 0) return 0;
  const double errors = report.eps / report.qps * error_utilization_penalty;
  return report.qps / (report.utilization + errors);
}

}  // namespace weft::inline v0::balance

namespace weft::inline v0 {

BalancerFactory WeightedRoundRobin(WeightedRoundRobinOptions options) {
  return [options](uint64_t seed) {
    return std::make_unique<balance::WeightedRoundRobinBalancer>(options, seed);
  };
}

}  // namespace weft::inline v0
