#include "cluster/subset.h"

#include <algorithm>
#include <numeric>

#include "base/hash.h"

namespace weft::inline v0::cluster {
namespace {

struct Ranked {
  uint64_t hash;
  size_t index;
  bool operator<(const Ranked& other) const { return hash < other.hash; }
};

std::vector<Ranked> Rank(std::span<const std::string_view> addresses, uint64_t seed) {
  std::vector<Ranked> ranked;
  ranked.reserve(addresses.size());
  for (size_t i = 0; i < addresses.size(); ++i)
    ranked.push_back({base::Hash(addresses[i], seed), i});
  return ranked;
}

std::vector<size_t> All(size_t size) {
  std::vector<size_t> indices(size);
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

// The bits of `x` after the point, the lowest first, of 2^32.
uint64_t VanDerCorput(uint32_t x) {
  uint64_t place = 0;
  for (int bit = 0; bit < 32; ++bit) place |= uint64_t{x >> bit & 1} << (31 - bit);
  return place;
}

}  // namespace

std::vector<size_t> RendezvousSubset(std::span<const std::string_view> addresses,
                                     std::string_view client, size_t size) {
  size = std::max(size, kMinSubset);
  if (addresses.size() <= size) return All(addresses.size());
  std::vector<Ranked> ranked = Rank(addresses, base::Hash(client));
  const auto end = ranked.begin() + static_cast<std::ptrdiff_t>(size);
  std::nth_element(ranked.begin(), end, ranked.end(),
                   [](const Ranked& a, const Ranked& b) { return b < a; });
  std::vector<size_t> chosen;
  chosen.reserve(size);
  for (auto it = ranked.begin(); it != end; ++it) chosen.push_back(it->index);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<size_t> RingSubset(std::span<const std::string_view> addresses, uint32_t client,
                               size_t size) {
  size = std::max(size, kMinSubset);
  if (addresses.size() <= size) return All(addresses.size());
  std::vector<Ranked> ring = Rank(addresses, /*seed=*/0);
  const auto first = static_cast<size_t>(VanDerCorput(client) * ring.size() >> 32);
  std::vector<size_t> chosen;
  chosen.reserve(size);
  // Those at [from, to) of the ring; nobody asks for the order of the others.
  const auto take = [&](size_t from, size_t to) {
    const auto at = [&](size_t index) { return ring.begin() + static_cast<std::ptrdiff_t>(index); };
    std::nth_element(ring.begin(), at(from), ring.end());
    if (to < ring.size()) std::nth_element(at(from), at(to), ring.end());
    for (size_t i = from; i < to; ++i) chosen.push_back(ring[i].index);
  };
  const size_t end = first + size;
  take(first, std::min(end, ring.size()));
  if (end > ring.size()) take(0, end - ring.size());
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace weft::inline v0::cluster
