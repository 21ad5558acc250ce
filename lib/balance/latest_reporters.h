// What a picker that goes by reports begins with. It takes over what the one before has learnt, or
// each change of the host set (weights change every second while a host starts slowly) would have
// it begin with nothing, or look at all that 10,000 hosts have said.
#ifndef WEFT_LIB_BALANCE_LATEST_REPORTERS_H_
#define WEFT_LIB_BALANCE_LATEST_REPORTERS_H_

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/places.h"
#include "weft/balancer.h"

namespace weft::inline v0::balance {

// For each host its index in the set before, or base::kNowhere.
inline std::vector<size_t> PlacesBefore(const std::vector<PickerHost>& before,
                                        const std::vector<PickerHost>& now) {
  const auto identities = [](const std::vector<PickerHost>& hosts) {
    std::vector<const void*> all;
    all.reserve(hosts.size());
    for (const PickerHost& host : hosts) all.push_back(host.host);
    return all;
  };
  return base::PlacesBefore(identities(before), identities(now));
}

// The inverse: for each of `count` indices before, the present one, or base::kNowhere.
inline std::vector<size_t> PlacesAfter(const std::vector<size_t>& places, size_t count) {
  std::vector<size_t> after(count, base::kNowhere);
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] != base::kNowhere) after[places[i]] = i;
  }
  return after;
}

// Of the hosts that were not there before, by `places`, the indices of the `most` that told last
// how many they have in flight, the latest last; of hosts that never did, none.
inline std::vector<size_t> LatestReporters(const std::vector<PickerHost>& hosts,
                                           const std::vector<size_t>& places, size_t most) {
  std::vector<std::pair<MonoTime, size_t>> reporters;
  for (size_t i = 0; i < hosts.size(); ++i) {
    if (places[i] != base::kNowhere) continue;
    const HostView::Reported reported = hosts[i].host->reported();
    if (reported.report.TellsInFlight()) reporters.emplace_back(reported.at, i);
  }
  std::sort(reporters.begin(), reporters.end());
  std::vector<size_t> indices;
  for (size_t i = reporters.size() - std::min(most, reporters.size()); i < reporters.size(); ++i)
    indices.push_back(reporters[i].second);
  return indices;
}

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_LATEST_REPORTERS_H_
