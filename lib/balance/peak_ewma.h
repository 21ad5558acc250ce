// Peak EWMA: of two hosts drawn at random, the one that is likely to answer first (two_choices.h;
// Finagle's PeakEwma).
//
//   score = latency * (in flight / weight + 1), the two drawn in proportion to weight
//
// latency is the host's peak EWMA (cluster/latency_average.h), weight is relative to the mean:
// where weights are equal this is Finagle's latency * (in flight + 1). A host that nobody measured
// yet is tried at once if it is idle, and as good as never while it is busy with the first
// attempts: they may be waiting for the slowest host of all.
#ifndef WEFT_LIB_BALANCE_PEAK_EWMA_H_
#define WEFT_LIB_BALANCE_PEAK_EWMA_H_

#include <memory>
#include <vector>

#include "weft/balancers.h"

namespace weft::inline v0::balance {

class PeakEwmaBalancer final : public Balancer {
 public:
  std::shared_ptr<const Picker> Update(const std::vector<PickerHost>& hosts) override;
};

// `weight` relative to the mean.
double PeakEwmaScore(const HostView& host, double weight, MonoTime now);

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_PEAK_EWMA_H_
