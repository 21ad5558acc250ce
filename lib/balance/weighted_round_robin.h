// Weighted round robin: turns in proportion to what hosts can do, by their own word (gRFC A58).
//
//   weight = qps / (utilization + eps / qps * error_utilization_penalty)
//
// of the last report in which neither qps nor utilization is zero: how many requests the host would
// have each second if it were fully used. A weight is used once reports have come for the blackout
// period (a host that has just started is fast and idle, and its first reports are wild), and until
// none has come for the expiration period. Hosts without a weight get the mean of those that have
// one; where nobody has one, the endpoints' weights count. A host that starts slowly has that part
// of its weight that slow start gives it.
//
// Turns are dealt by static_stride.h. Weights are computed anew once per update period, by the
// picks that come then: each does a slice of a few hosts, one at a time, and a pick that finds
// another at it goes on with the weights that there are. So no pick waits for another, nor for all
// hosts.
#ifndef WEFT_LIB_BALANCE_WEIGHTED_ROUND_ROBIN_H_
#define WEFT_LIB_BALANCE_WEIGHTED_ROUND_ROBIN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "balance/turn.h"
#include "weft/balancers.h"

namespace weft::inline v0::balance {

class WeightedRoundRobinBalancer final : public Balancer {
 public:
  WeightedRoundRobinBalancer(const WeightedRoundRobinOptions& options, uint64_t start)
      : options_(options), turn_(std::make_shared<Turn>(start)) {}
  std::shared_ptr<const Picker> Update(const std::vector<PickerHost>& hosts) override;

 private:
  class WeightedPicker;
  const WeightedRoundRobinOptions options_;
  const std::shared_ptr<Turn> turn_;
  std::shared_ptr<const WeightedPicker> last_;
};

// 0: the report gives none.
double WeightOf(const LoadReport& report, double error_utilization_penalty);

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_WEIGHTED_ROUND_ROBIN_H_
