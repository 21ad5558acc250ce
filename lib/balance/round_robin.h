// Round robin: each call to the next host that is connected, in the order of the endpoint set.
// Weights are not used.
//
// Formula: call c goes to host c mod n, for n hosts. Where that one cannot take it (not connected,
// or this call tried it before), the call is dealt out anew: up to kDraws hosts are drawn at
// random, each equally likely, and the first that can take the call has it. Going on to the
// neighbour instead would give the host after a dead one twice its share, and the host after a dead
// rack the whole rack's; drawn like this, each living host has its turn plus an equal part of the
// dead hosts' turns. The draws are a hash of c, so nothing is shared but the counter. Where they
// all miss, the hosts are counted, and one of those that can take the call is drawn, equally likely
// again. Cost: O(1), O(n) only where most hosts are down.
//
// The counter starts anywhere, or else all clients of a service that start together would call the
// same host first, and go on when the host set changes.
#ifndef WEFT_LIB_BALANCE_ROUND_ROBIN_H_
#define WEFT_LIB_BALANCE_ROUND_ROBIN_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "weft/balancer.h"

namespace weft::inline v0::balance {

class RoundRobinBalancer final : public Balancer {
 public:
  // `start`: any number.
  explicit RoundRobinBalancer(uint64_t start);
  std::shared_ptr<const Picker> Update(const std::vector<PickerHost>& hosts) override;

 private:
  // Shared by all pickers of a balancer; alone on its cache line, as all calls write it.
  struct alignas(64) Counter {
    explicit Counter(uint64_t start) : next(start) {}
    std::atomic<uint64_t> next;
  };
  class RoundRobinPicker;
  const std::shared_ptr<Counter> counter_;
};

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_ROUND_ROBIN_H_
