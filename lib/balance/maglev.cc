#include "balance/maglev.h"

#include <algorithm>
#include <memory>

#include "base/hash.h"

namespace weft::inline v0::balance {
namespace {

struct Row {
  uint64_t hash;
  uint32_t host;
  uint32_t next;  // the slot of its permutation to look at
  uint32_t skip;
  double weight;  // relative to the mean
  double turns;   // that it has had
};

std::vector<Row> MakeRows(const std::vector<PickerHost>& hosts) {
  constexpr uint64_t kSlots = MaglevTable::kSlots;
  double sum = 0;
  for (const PickerHost& host : hosts) sum += host.endpoint->weight;
  std::vector<Row> rows;
  rows.reserve(hosts.size());
  for (uint32_t i = 0; i < hosts.size(); ++i) {
    const uint64_t hash = base::Hash(hosts[i].host->address());
    const uint64_t other = base::Hash(hosts[i].host->address(), /*seed=*/1);
    rows.push_back({hash, i, static_cast<uint32_t>(hash % kSlots),
                    static_cast<uint32_t>(other % (kSlots - 1) + 1),
                    hosts[i].endpoint->weight / sum * static_cast<double>(hosts.size()), 0});
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.hash < b.hash; });
  return rows;
}

}  // namespace

MaglevTable::MaglevTable(const std::vector<PickerHost>& hosts) {
  if (hosts.empty()) return;
  std::vector<Row> rows = MakeRows(hosts);
  owners_.resize(kSlots);
  std::vector<bool> taken(kSlots);  // fits into the first cache, which the owners do not
  size_t left = kSlots;
  for (double round = 1; left > 0; ++round) {
    for (Row& row : rows) {
      for (; row.turns + 1 <= round * row.weight && left > 0; ++row.turns, --left) {
        uint32_t slot = row.next;
        const auto step = [&] {
          slot += row.skip;
          if (slot >= kSlots) slot -= kSlots;
        };
        while (taken[slot]) step();
        taken[slot] = true;
        owners_[slot] = row.host;
        step();
        row.next = slot;
      }
    }
  }
}

}  // namespace weft::inline v0::balance

namespace weft::inline v0 {

BalancerFactory Maglev() {
  return [](uint64_t) { return std::make_unique<balance::MaglevBalancer>(); };
}

}  // namespace weft::inline v0
