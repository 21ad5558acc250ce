// Least request: of two hosts drawn at random, the one with fewer requests in flight
// (two_choices.h).
//
//   score = in flight / weight, the two drawn in proportion to weight
//
// Where the weights are equal this is what everybody calls least request. Where they are not, an
// idle service is shared in exact proportion to the weights (all scores are zero), and a busy one
// so that the work per weight is equal. With the usual (in flight + 1) / weight and hosts drawn
// alike, the heavier of two idle hosts would always win, and yet none could have more than 2/n of
// the calls.
#ifndef WEFT_LIB_BALANCE_LEAST_REQUEST_H_
#define WEFT_LIB_BALANCE_LEAST_REQUEST_H_

#include <memory>
#include <vector>

#include "weft/balancers.h"

namespace weft::inline v0::balance {

class LeastRequestBalancer final : public Balancer {
 public:
  std::shared_ptr<const Picker> Update(const std::vector<PickerHost>& hosts) override;
};

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_LEAST_REQUEST_H_
