// Pick first: all calls to one host, the first that is connected in the order of the endpoint set
// (or in an order of this client's own), and to that one until it is lost, though one before it
// comes back (gRPC's pick_first, gRFC A62).
//
// It stays with that host through updates too. A retry that has tried it goes to another one, and
// the calls after it do not follow. Unlike gRPC's, the other hosts are connected all the while, so
// going over to the next costs no dialling.
#ifndef WEFT_LIB_BALANCE_PICK_FIRST_H_
#define WEFT_LIB_BALANCE_PICK_FIRST_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "weft/balancers.h"

namespace weft::inline v0::balance {

class PickFirstBalancer final : public Balancer {
 public:
  PickFirstBalancer(PickFirstOptions options, uint64_t seed) : options_(options), seed_(seed) {}
  std::shared_ptr<const Picker> Update(const std::vector<PickerHost>& hosts) override;

 private:
  class PickFirstPicker;
  const PickFirstOptions options_;
  const uint64_t seed_;
  std::shared_ptr<const PickFirstPicker> last_;
};

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_PICK_FIRST_H_
