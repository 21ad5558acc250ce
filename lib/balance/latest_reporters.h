// LatestReporters: with what a picker that goes by reports begins, or each change of the host set
// (weights change every second while a host starts slowly) would have it begin with nothing.
#ifndef WEFT_LIB_BALANCE_LATEST_REPORTERS_H_
#define WEFT_LIB_BALANCE_LATEST_REPORTERS_H_

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "weft/balancer.h"

namespace weft::inline v0::balance {

// The indices of the `most` hosts that told last how many they have in flight, the latest last;
// of hosts that never did, none.
inline std::vector<size_t> LatestReporters(const std::vector<PickerHost>& hosts, size_t most) {
  std::vector<std::pair<MonoTime, size_t>> reporters;
  for (size_t i = 0; i < hosts.size(); ++i) {
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
