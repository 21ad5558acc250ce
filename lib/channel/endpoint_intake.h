// EndpointIntake: what a channel takes of the endpoints that its registry gives, set by set, told
// as what a cluster's new set has of the one before. Sets are large and change little, so an
// endpoint that is the same object as before costs a comparison, and one that is equal is not
// parsed again, nor is its host looked up.
#ifndef WEFT_LIB_CHANNEL_ENDPOINT_INTAKE_H_
#define WEFT_LIB_CHANNEL_ENDPOINT_INTAKE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/places.h"
#include "cluster/host.h"
#include "cluster/new_set.h"
#include "net/address.h"
#include "weft/balancing_options.h"
#include "weft/endpoint.h"

namespace weft::inline v0::channel {

// INVALID_ARGUMENT names the field that is out of range.
absl::Status Validate(const SubsetOptions& options);

// Not thread-safe.
class EndpointIntake {
 public:
  // The host of an address that is new to the set.
  using Acquire = std::function<std::shared_ptr<cluster::Host>(const net::Address& address)>;

  struct Taken {
    // Against the last one that was taken; empty where none was, or where there are no endpoints.
    cluster::NewSet set;
    size_t skipped = 0;        // could not be used
    std::string warning = {};  // which was the first of them, and why; empty: none was skipped
  };

  // A subset's client_name is set where it is needed.
  explicit EndpointIntake(SubsetOptions subset) : subset_(std::move(subset)) {}

  // Those with a good address and weight; of several with one address the first. Then the subset,
  // where one is wanted; endpoints that drain are not in it. Does not go by what was taken before,
  // but for what it costs. Where there are some and none can be used, nothing is taken.
  Taken Take(const EndpointSet& endpoints, const Acquire& acquire);

 private:
  // An address, by its number in known_.
  using Id = uint32_t;
  struct Known {
    std::shared_ptr<const Endpoint> endpoint = {};  // as it was given last
    const std::string* address = nullptr;           // one spelling; of ids_
    uint64_t set = 0;                               // the last one that it was in
    size_t place = base::kNowhere;                  // in the last one that was taken
    bool listed = false;                            // in last_
    bool news = true;                               // it says something else than when it was taken
  };

  // Both: `next` is where in the last set it is expected; moved on.
  std::optional<Id> InStep(const Endpoint* endpoint, size_t& next) const;
  absl::StatusOr<Id> IdOf(const std::string& address, size_t& next);  // made where it is new
  // Whose endpoint it is now; or what is wrong with it.
  absl::StatusOr<Id> Note(const std::shared_ptr<const Endpoint>& endpoint, size_t& next);
  void Forget(Id id);
  std::vector<Id> SubsetOf(const std::vector<Id>& ids) const;
  // The set is `ids`, of which the `chosen` are taken.
  void List(std::vector<Id> ids, const std::vector<Id>& chosen);
  cluster::NewSet Tell(const std::vector<Id>& chosen, const Acquire& acquire);

  const SubsetOptions subset_;
  std::unordered_map<std::string, Id> ids_;
  std::vector<Known> known_;  // beside each other, as a set passes them in order
  std::vector<Id> free_;      // of known_
  std::vector<Id> last_;      // the last set, in its order
  uint64_t set_ = 0;
};

}  // namespace weft::inline v0::channel

#endif  // WEFT_LIB_CHANNEL_ENDPOINT_INTAKE_H_
