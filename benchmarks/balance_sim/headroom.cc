#include "balance_sim/headroom.h"

#include <cmath>
#include <cstddef>
#include <iterator>

namespace weft::balance_sim {
namespace {

constexpr double kLoads[] = {0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98};

}  // namespace

double Headroom(const P99ByLoad& known, double most) {
  for (auto it = known.begin(); it != known.end(); ++it) {
    if (it->second <= most) continue;
    if (it == known.begin()) return 0;
    const auto& [low_load, low_p99] = *std::prev(it);
    const double low = std::log(low_p99);
    const double share = (std::log(most) - low) / (std::log(it->second) - low);
    return low_load + share * (it->first - low_load);
  }
  return known.rbegin()->first;
}

std::optional<double> NextLoad(const P99ByLoad& known, double most) {
  size_t low = 0;  // kLoads from here on may be the first that is too much
  size_t high = std::size(kLoads);
  for (size_t i = 0; i < high; ++i) {
    const auto found = known.find(kLoads[i]);
    if (found == known.end()) continue;
    if (found->second > most) {
      high = i;
    } else {
      low = i + 1;
    }
  }
  if (low == high) return std::nullopt;
  return kLoads[low + (high - low - 1) / 2];
}

}  // namespace weft::balance_sim
