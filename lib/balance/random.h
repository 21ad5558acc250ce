// Random: each call to a host drawn in proportion to weight (weighted_draw.h). The only policy that
// keeps nothing at all, and the measure of all others: what they cost more, they have to win.
#ifndef WEFT_LIB_BALANCE_RANDOM_H_
#define WEFT_LIB_BALANCE_RANDOM_H_

#include <memory>
#include <vector>

#include "weft/balancers.h"

namespace weft::inline v0::balance {

class RandomBalancer final : public Balancer {
 public:
  std::shared_ptr<const Picker> Update(const std::vector<PickerHost>& hosts) override;
};

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_RANDOM_H_
