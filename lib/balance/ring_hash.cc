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
  parts_.reserve(size_t{1} << kPartBits);
  size_t entry = 0;
  for (uint64_t part = 0; part < uint64_t{1} << kPartBits; ++part) {
    while (entry < places_.size() && places_[entry] >> (64 - kPartBits) < part) ++entry;
    parts_.push_back(static_cast<uint32_t>(entry));
  }
}

size_t HashRing::Owner(uint64_t key, int step) const {
  size_t entry = parts_[key >> (64 - kPartBits)];
  while (entry < places_.size() && places_[entry] < key) ++entry;
  return owners_[(entry + static_cast<size_t>(step)) % owners_.size()];
}

}  // namespace weft::inline v0::balance

namespace weft::inline v0 {

BalancerFactory RingHash() {
  return [](uint64_t) { return std::make_unique<balance::RingHashBalancer>(); };
}

}  // namespace weft::inline v0
