#include "channel/endpoint_intake.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "cluster/subset.h"

namespace weft::inline v0::channel {
namespace {

// So many neighbours may have gone, and the sets are still walked in step.
constexpr size_t kAhead = 8;

std::vector<size_t> Choose(const std::vector<std::string_view>& addresses,
                           const SubsetOptions& subset) {
  return subset.client_number.has_value()
             ? cluster::RingSubset(addresses, *subset.client_number, subset.size)
             : cluster::RendezvousSubset(addresses, subset.client_name, subset.size);
}

}  // namespace

absl::Status Validate(const SubsetOptions& options) {
  if (options.size != 0 && options.size < cluster::kMinSubset) {
    return absl::InvalidArgumentError(
        absl::StrCat("SubsetOptions::size must be 0 (all), or at least ", cluster::kMinSubset));
  }
  return absl::OkStatus();
}

absl::StatusOr<EndpointIntake::Entry*> EndpointIntake::EntryOf(const std::string& address,
                                                               size_t& next) {
  const size_t end = std::min(next + kAhead, last_.size());
  for (size_t at = next; at < end; ++at) {
    if (last_[at]->second.endpoint->address != address) continue;
    next = at + 1;
    return last_[at];
  }
  if (const auto found = known_.find(address); found != known_.end()) return &*found;
  const absl::StatusOr<net::Address> parsed = net::Address::Parse(address);
  if (!parsed.ok()) return parsed.status();
  return &*known_.try_emplace(parsed->text()).first;
}

EndpointIntake::Taken EndpointIntake::Take(const EndpointSet& endpoints, const Acquire& acquire) {
  Taken taken;
  const auto skip = [&taken](std::string_view address, absl::string_view why) {
    if (taken.skipped++ == 0) taken.warning = absl::StrCat("\"", base::V(address), "\" ", why);
  };
  ++set_;
  std::vector<Entry*> entries;
  entries.reserve(endpoints.size());
  size_t next = 0;
  for (const std::shared_ptr<const Endpoint>& endpoint : endpoints) {
    if (endpoint == nullptr) {
      skip("", "is a null pointer");
      continue;
    }
    if (!(endpoint->weight > 0)) {  // not a number is not a weight either
      skip(endpoint->address, "has a weight that is not above 0");
      continue;
    }
    const absl::StatusOr<Entry*> entry = EntryOf(endpoint->address, next);
    if (!entry.ok()) {
      skip(endpoint->address, entry.status().message());
      continue;
    }
    Known& known = (*entry)->second;
    if (known.set == set_) {
      skip(endpoint->address, "is there twice: the first one is used");
      continue;
    }
    known.set = set_;
    if (known.endpoint != endpoint &&
        (known.endpoint == nullptr || !(*known.endpoint == *endpoint)))
      known.endpoint = endpoint;
    entries.push_back(*entry);
  }
  if (entries.empty()) return taken;

  for (const Entry* const entry : last_) {
    if (entry->second.set != set_) known_.erase(known_.find(entry->first));
  }
  last_ = entries;
  if (subset_.size > 0) KeepSubset(entries);
  taken.hosts.reserve(entries.size());
  for (Entry* const entry : entries) {
    Known& known = entry->second;
    if (known.host == nullptr) known.host = acquire(*net::Address::Parse(entry->first));
    taken.hosts.push_back({.endpoint = known.endpoint, .host = known.host});
  }
  return taken;
}

void EndpointIntake::KeepSubset(std::vector<Entry*>& taken) const {
  std::map<int, std::vector<size_t>> by_priority;
  for (size_t i = 0; i < taken.size(); ++i) {
    const Endpoint& endpoint = *taken[i]->second.endpoint;
    if (!endpoint.draining) by_priority[endpoint.priority].push_back(i);
  }
  std::vector<bool> kept(taken.size(), false);
  for (const auto& [priority, indices] : by_priority) {
    std::vector<std::string_view> addresses;
    addresses.reserve(indices.size());
    for (const size_t i : indices) addresses.push_back(taken[i]->first);
    for (const size_t chosen : Choose(addresses, subset_)) kept[indices[chosen]] = true;
  }
  std::vector<Entry*> subset_of;
  for (size_t i = 0; i < taken.size(); ++i) {
    if (kept[i]) {
      subset_of.push_back(taken[i]);
    } else {
      taken[i]->second.host = nullptr;
    }
  }
  taken = std::move(subset_of);
}

}  // namespace weft::inline v0::channel
