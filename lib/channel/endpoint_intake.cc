#include "channel/endpoint_intake.h"

#include <map>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cluster/subset.h"

namespace weft::inline v0::channel {
namespace {

std::vector<size_t> Choose(const std::vector<std::string_view>& addresses,
                           const SubsetOptions& subset) {
  return subset.client_number.has_value()
             ? cluster::RingSubset(addresses, *subset.client_number, subset.size)
             : cluster::RendezvousSubset(addresses, subset.client_name, subset.size);
}

void KeepSubset(std::vector<Intake::Taken>& taken, const SubsetOptions& subset) {
  std::map<int, std::vector<size_t>> by_priority;
  for (size_t i = 0; i < taken.size(); ++i) {
    const Endpoint& endpoint = *taken[i].endpoint;
    if (!endpoint.draining) by_priority[endpoint.priority].push_back(i);
  }
  std::vector<bool> kept(taken.size(), false);
  for (const auto& [priority, indices] : by_priority) {
    std::vector<std::string_view> addresses;
    addresses.reserve(indices.size());
    for (const size_t i : indices) addresses.push_back(taken[i].address.text());
    for (const size_t chosen : Choose(addresses, subset)) kept[indices[chosen]] = true;
  }
  std::vector<Intake::Taken> subset_of;
  for (size_t i = 0; i < taken.size(); ++i) {
    if (kept[i]) subset_of.push_back(std::move(taken[i]));
  }
  taken = std::move(subset_of);
}

}  // namespace

absl::Status Validate(const SubsetOptions& options) {
  if (options.size != 0 && options.size < cluster::kMinSubset) {
    return absl::InvalidArgumentError(
        absl::StrCat("SubsetOptions::size must be 0 (all), or at least ", cluster::kMinSubset));
  }
  return absl::OkStatus();
}

Intake TakeEndpoints(EndpointSet endpoints, const SubsetOptions& subset) {
  Intake intake;
  intake.taken.reserve(endpoints.size());
  absl::flat_hash_set<std::string> seen;
  seen.reserve(endpoints.size());
  const auto skip = [&intake](const Endpoint& endpoint, absl::string_view why) {
    if (intake.skipped++ == 0)
      intake.warning = absl::StrCat("\"", endpoint.address, "\" ", why);
  };
  for (Endpoint& endpoint : endpoints) {
    const absl::StatusOr<net::Address> address = net::Address::Parse(endpoint.address);
    if (!address.ok()) {
      skip(endpoint, address.status().message());
    } else if (!(endpoint.weight > 0)) {  // not a number is not a weight either
      skip(endpoint, "has a weight that is not above 0");
    } else if (!seen.insert(address->text()).second) {
      skip(endpoint, "is there twice: the first one is used");
    } else {
      intake.taken.push_back({std::make_shared<const Endpoint>(std::move(endpoint)), *address});
    }
  }
  if (subset.size > 0) KeepSubset(intake.taken, subset);
  return intake;
}

}  // namespace weft::inline v0::channel
