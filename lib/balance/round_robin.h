// Round robin: each call to the next host that is connected, in the order of the endpoint set.
// Weights are not used.
//
// Formula: call c goes to host c mod n, for n hosts. Where that one cannot take it, the call is
// dealt out anew (host_set.h): so each living host has its turn plus an equal part of the dead
// hosts' turns. The draws are a hash of c, so nothing is shared but the counter.
//
// The counter starts anywhere, or else all clients of a service that start together would call the
// same host first, and goes on when the host set changes.
#ifndef WEFT_LIB_BALANCE_ROUND_ROBIN_H_
#define WEFT_LIB_BALANCE_ROUND_ROBIN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "balance/turn.h"
#include "weft/balancers.h"

namespace weft::inline v0::balance {

class RoundRobinBalancer final : public Balancer {
 public:
  // `start`: any number.
  explicit RoundRobinBalancer(uint64_t start) : turn_(std::make_shared<Turn>(start)) {}
  std::shared_ptr<const Picker> Update(const std::vector<PickerHost>& hosts) override;

 private:
  const std::shared_ptr<Turn> turn_;
};

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_ROUND_ROBIN_H_
