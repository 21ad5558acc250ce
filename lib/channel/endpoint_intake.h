// EndpointIntake: what a channel takes of the endpoints that its registry gives.
#ifndef WEFT_LIB_CHANNEL_ENDPOINT_INTAKE_H_
#define WEFT_LIB_CHANNEL_ENDPOINT_INTAKE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "net/address.h"
#include "weft/balancing_options.h"
#include "weft/endpoint.h"

namespace weft::inline v0::channel {

// INVALID_ARGUMENT names the field that is out of range.
absl::Status Validate(const SubsetOptions& options);

struct Intake {
  struct Taken {
    std::shared_ptr<const Endpoint> endpoint;
    net::Address address;
  };
  std::vector<Taken> taken;
  size_t skipped = 0;        // could not be used
  std::string warning = {};  // which was the first of them, and why; empty: none was skipped
};

// Those with a good address and weight; of several with one address the first. Then the subset, if
// `subset` wants one (its client_name is set where it is needed); endpoints that drain are not in
// it.
Intake TakeEndpoints(EndpointSet endpoints, const SubsetOptions& subset);

}  // namespace weft::inline v0::channel

#endif  // WEFT_LIB_CHANNEL_ENDPOINT_INTAKE_H_
