// EndpointIntake: what a channel takes of the endpoints that its registry gives, set by set. Sets
// are large and change little, so an endpoint that was there before costs a comparison: it is not
// parsed again, nor is its host looked up.
#ifndef WEFT_LIB_CHANNEL_ENDPOINT_INTAKE_H_
#define WEFT_LIB_CHANNEL_ENDPOINT_INTAKE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "net/address.h"
#include "weft/balancer.h"
#include "weft/balancing_options.h"
#include "weft/endpoint.h"

namespace weft::inline v0::channel {

// INVALID_ARGUMENT names the field that is out of range.
absl::Status Validate(const SubsetOptions& options);

// Not thread-safe. Keeps the hosts of the last set.
class EndpointIntake {
 public:
  // The host of an address that is new to the set.
  using Acquire = std::function<std::shared_ptr<HostView>(const net::Address& address)>;

  struct Taken {
    std::vector<PickerHost> hosts;
    size_t skipped = 0;        // could not be used
    std::string warning = {};  // which was the first of them, and why; empty: none was skipped
  };

  // A subset's client_name is set where it is needed.
  explicit EndpointIntake(SubsetOptions subset) : subset_(std::move(subset)) {}

  // Those with a good address and weight; of several with one address the first. Then the subset,
  // where one is wanted; endpoints that drain are not in it. Does not go by what was taken before,
  // but for what it costs. Where none can be used, the set before stays the last one.
  Taken Take(const EndpointSet& endpoints, const Acquire& acquire);

 private:
  struct Known {
    std::shared_ptr<const Endpoint> endpoint = {};
    std::shared_ptr<HostView> host = {};  // null: not in the subset
    uint64_t set = 0;                     // the last one that it was in
  };
  using ByAddress = std::unordered_map<std::string, Known>;  // one spelling
  using Entry = ByAddress::value_type;

  // Made where the address is new; or what is wrong with that. `next`: where in the last set it is
  // expected; moved on.
  absl::StatusOr<Entry*> EntryOf(const std::string& address, size_t& next);
  void KeepSubset(std::vector<Entry*>& taken) const;

  const SubsetOptions subset_;
  ByAddress known_;
  std::vector<Entry*> last_;  // of known_, in the order of the last set
  uint64_t set_ = 0;
};

}  // namespace weft::inline v0::channel

#endif  // WEFT_LIB_CHANNEL_ENDPOINT_INTAKE_H_
