#include "balance/ring_hash.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/hash.h"

namespace weft::inline v0::balance {

HashRing::HashRing(const std::vector<PickerHost>& hosts) {
  double sum = 0;
  for (const PickerHost& host : hosts) sum += host.endpoint->weight;
  const double scale = std::exp2(std::floor(std::log2(kMaxEntries / sum)));
  std::vector<std::pair<uint64_t, uint32_t>> ring;
  ring.reserve(kMaxEntries + hosts.size());
  for (uint32_t i = 0; i < hosts.size(); ++i) {
    const auto entries =
        static_cast<uint64_t>(std::max(1.0, std::round(hosts[i].endpoint->weight * scale)));
    for (uint64_t entry = 0; entry < entries; ++entry)
      ring.emplace_back(base::Hash(hosts[i].host->address(), entry), i);
  }
  std::sort(ring.begin(), ring.end());
  places_.reserve(ring.size());
  owners_.reserve(ring.size());
  for (const auto& [place, owner] : ring) {
    places_.push_back(place);
    owners_.push_back(owner);
  }
}

size_t HashRing::Owner(uint64_t key, int step) const {
  const auto found = std::lower_bound(places_.begin(), places_.end(), key) - places_.begin();
  return owners_[(static_cast<size_t>(found) + static_cast<size_t>(step)) % owners_.size()];
}

}  // namespace weft::inline v0::balance

namespace weft::inline v0 {

BalancerFactory RingHash() {
  return [](uint64_t) { return std::make_unique<balance::RingHashBalancer>(); };
}

}  // namespace weft::inline v0
