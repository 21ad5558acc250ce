#include "balance/host_set.h"

#include <string>

#include "absl/status/status.h"

namespace weft::inline v0::balance {

HostSet::HostSet(const std::vector<PickerHost>& hosts) {
  hosts_.reserve(hosts.size());
  for (const PickerHost& host : hosts) hosts_.push_back(host.host);
}

PickResult HostSet::PickByCount(const PickFacts& facts, uint64_t random,
                                std::span<const double> weights) const {
  if (empty()) return PickResult::Fail(absl::UnavailableError("the service has no endpoints"));
  const auto weight = [&](size_t index) { return weights.empty() ? 1.0 : weights[index]; };
  size_t count[kUses] = {};
  double sum[kUses] = {};
  for (size_t i = 0; i < size(); ++i) {
    const int use = static_cast<int>(UseOf(i, facts));
    ++count[use];
    sum[use] += weight(i);
  }
  for (const Use wanted : {Use::kFresh, Use::kTried}) {
    if (count[static_cast<int>(wanted)] == 0) continue;
    // Hosts may have changed since they were counted: the last one found stands in for one that has
    // gone.
    double left = base::Chance(random) * sum[static_cast<int>(wanted)];
    size_t found = size();
    for (size_t i = 0; i < size(); ++i) {
      if (UseOf(i, facts) != wanted) continue;
      found = i;
      left -= weight(i);
      if (left < 0) break;
    }
    return found < size() ? PickResult::Host(found) : PickResult::Queue();
  }
  if (count[static_cast<int>(Use::kHopeful)] > 0) return PickResult::Queue();

  const size_t closed = count[static_cast<int>(Use::kClosed)];
  std::string why =
      "no host can be reached: " + std::to_string(count[static_cast<int>(Use::kBackoff)]) + " of " +
      std::to_string(size()) + " in back-off";
  if (closed > 0) why += ", " + std::to_string(closed) + " closed";
  return PickResult::Fail(absl::UnavailableError(why));
}

}  // namespace weft::inline v0::balance
