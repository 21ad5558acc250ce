#include "channel/endpoint_intake.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "cluster/subset.h"

namespace weft::inline v0::channel {
namespace {

// So many neighbours may have gone, and the sets are still walked in step.
constexpr size_t kAhead = 8;

constexpr const char* kTwice = "is there twice: the first one is used";

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

std::optional<EndpointIntake::Id> EndpointIntake::InStep(const Endpoint* endpoint,
                                                         size_t& next) const {
  const size_t end = std::min(next + kAhead, last_.size());
  for (size_t at = next; at < end; ++at) {
    if (known_[last_[at]].endpoint.get() != endpoint) continue;
    next = at + 1;
    return last_[at];
  }
  return std::nullopt;
}

absl::StatusOr<EndpointIntake::Id> EndpointIntake::IdOf(const std::string& address, size_t& next) {
  const size_t end = std::min(next + kAhead, last_.size());
  for (size_t at = next; at < end; ++at) {
    if (known_[last_[at]].endpoint->address != address) continue;
    next = at + 1;
    return last_[at];
  }
  if (const auto found = ids_.find(address); found != ids_.end()) return found->second;
  const absl::StatusOr<net::Address> parsed = net::Address::Parse(address);
  if (!parsed.ok()) return parsed.status();
  const auto [entry, is_new] = ids_.try_emplace(parsed->text(), 0);
  if (!is_new) return entry->second;
  if (free_.empty()) {
    free_.push_back(static_cast<Id>(known_.size()));
    known_.emplace_back();
  }
  entry->second = free_.back();
  free_.pop_back();
  known_[entry->second].address = &entry->first;
  return entry->second;
}

void EndpointIntake::Forget(Id id) {
  Known& known = known_[id];
  ids_.erase(ids_.find(*known.address));
  known = {};
  free_.push_back(id);
}

absl::StatusOr<EndpointIntake::Id> EndpointIntake::Note(
    const std::shared_ptr<const Endpoint>& endpoint, size_t& next) {
  if (endpoint == nullptr) return absl::InvalidArgumentError("is a null pointer");
  if (!(endpoint->weight > 0))  // not a number is not a weight either
    return absl::InvalidArgumentError("has a weight that is not above 0");
  const absl::StatusOr<Id> id = IdOf(endpoint->address, next);
  if (!id.ok()) return id;
  Known& known = known_[*id];
  if (known.set == set_) return absl::AlreadyExistsError(kTwice);
  known.news = known.news || known.endpoint == nullptr || !(*known.endpoint == *endpoint);
  known.endpoint = endpoint;
  return id;
}

EndpointIntake::Taken EndpointIntake::Take(const EndpointSet& endpoints, const Acquire& acquire) {
  Taken taken;
  ++set_;
  std::vector<Id> ids;
  ids.reserve(endpoints.size());
  size_t next = 0;
  const auto skip = [&taken](const Endpoint* endpoint, absl::string_view why) {
    const std::string address = endpoint == nullptr ? "" : endpoint->address;
    if (taken.skipped++ == 0) taken.warning = absl::StrCat("\"", address, "\" ", why);
  };
  for (const std::shared_ptr<const Endpoint>& endpoint : endpoints) {
    std::optional<Id> id = InStep(endpoint.get(), next);
    if (!id.has_value()) {
      const absl::StatusOr<Id> noted = Note(endpoint, next);
      if (!noted.ok()) {
        skip(endpoint.get(), noted.status().message());
        continue;
      }
      id = *noted;
    } else if (known_[*id].set == set_) {
      skip(endpoint.get(), kTwice);
      continue;
    }
    known_[*id].set = set_;
    ids.push_back(*id);
  }
  const std::vector<Id> chosen = subset_.size > 0 ? SubsetOf(ids) : ids;
  if (chosen.empty() && !endpoints.empty()) {
    for (const Id id : ids) {
      if (!known_[id].listed) Forget(id);
    }
    return taken;
  }
  List(std::move(ids), chosen);
  taken.set = Tell(chosen, acquire);
  return taken;
}

void EndpointIntake::List(std::vector<Id> ids, const std::vector<Id>& chosen) {
  for (const Id id : last_) {
    if (known_[id].set != set_) Forget(id);
  }
  size_t in = 0;
  for (const Id id : ids) {
    known_[id].listed = true;
    if (in < chosen.size() && chosen[in] == id) {
      ++in;
    } else {
      known_[id].place = base::kNowhere;
    }
  }
  last_ = std::move(ids);
}

cluster::NewSet EndpointIntake::Tell(const std::vector<Id>& chosen, const Acquire& acquire) {
  cluster::NewSet set(chosen.size());
  for (size_t place = 0; place < chosen.size(); ++place) {
    Known& known = known_[chosen[place]];
    cluster::NewSetEntry& entry = set[place];
    entry.before = std::exchange(known.place, place);
    if (entry.before == base::kNowhere) {
      entry.host = acquire(*net::Address::Parse(*known.address));
      known.news = true;
    }
    if (std::exchange(known.news, false)) entry.endpoint = known.endpoint;
  }
  return set;
}

std::vector<EndpointIntake::Id> EndpointIntake::SubsetOf(const std::vector<Id>& ids) const {
  std::map<int, std::vector<size_t>> by_priority;
  for (size_t i = 0; i < ids.size(); ++i) {
    const Endpoint& endpoint = *known_[ids[i]].endpoint;
    if (!endpoint.draining) by_priority[endpoint.priority].push_back(i);
  }
  std::vector<bool> kept(ids.size(), false);
  for (const auto& [priority, indices] : by_priority) {
    std::vector<std::string_view> addresses;
    addresses.reserve(indices.size());
    for (const size_t i : indices) addresses.push_back(*known_[ids[i]].address);
    for (const size_t chosen : Choose(addresses, subset_)) kept[indices[chosen]] = true;
  }
  std::vector<Id> subset;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (kept[i]) subset.push_back(ids[i]);
  }
  return subset;
}

}  // namespace weft::inline v0::channel
