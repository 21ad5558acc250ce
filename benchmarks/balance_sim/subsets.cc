#include "balance_sim/subsets.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/subset.h"

namespace weft::balance_sim {
namespace {

std::vector<size_t> Choose(const SubsetSetup& setup, const std::vector<std::string_view>& addresses,
                           uint32_t client) {
  if (setup.kind == SubsetKind::kRing) return cluster::RingSubset(addresses, client, setup.size);
  return cluster::RendezvousSubset(addresses, "frontend-" + std::to_string(client), setup.size);
}

// The same where one host is not there.
std::vector<size_t> ChooseWithout(size_t gone, const SubsetSetup& setup,
                                  std::vector<std::string_view> addresses, uint32_t client) {
  addresses.erase(addresses.begin() + static_cast<std::ptrdiff_t>(gone));
  std::vector<size_t> chosen = Choose(setup, addresses, client);
  for (size_t& index : chosen) {
    if (index >= gone) ++index;
  }
  return chosen;
}

uint32_t CountNew(const std::vector<size_t>& before, const std::vector<size_t>& after) {
  return static_cast<uint32_t>(std::count_if(after.begin(), after.end(), [&](size_t index) {
    return !std::binary_search(before.begin(), before.end(), index);
  }));
}

void Add(uint32_t entries, uint32_t watched, SubsetResult::Change* change) {
  change->mean += static_cast<double>(entries) / watched;
  change->most = std::max(change->most, entries);
}

void Print(const char* name, const SubsetResult& result) {
  std::printf("%-12s%8u%8.0f%8u%10.1f%15.4f%6u%15.4f%6u\n", name, result.fewest, result.mean,
              result.most, result.deviation, result.leaves.mean, result.leaves.most,
              result.joins.mean, result.joins.most);
}

}  // namespace

SubsetResult Measure(const SubsetSetup& setup) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < setup.hosts; ++i)
    names.push_back("10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256) + ":80");
  const std::vector<std::string_view> addresses(names.begin(), names.end());
  const uint32_t watched = std::min(setup.watched, setup.clients);
  std::vector<uint32_t> connections(setup.hosts);
  SubsetResult result;
  for (uint32_t client = 0; client < setup.clients; ++client) {
    const std::vector<size_t> with = Choose(setup, addresses, client);
    for (const size_t index : with) ++connections[index];
    if (client >= watched) continue;
    // Each host by turns.
    const std::vector<size_t> without =
        ChooseWithout(client % setup.hosts, setup, addresses, client);
    Add(CountNew(with, without), watched, &result.leaves);
    Add(CountNew(without, with), watched, &result.joins);
  }
  const auto [fewest, most] = std::minmax_element(connections.begin(), connections.end());
  result.fewest = *fewest;
  result.most = *most;
  double squares = 0;
  for (const uint32_t count : connections) result.mean += count;
  result.mean /= setup.hosts;
  for (const uint32_t count : connections) squares += std::pow(count - result.mean, 2);
  result.deviation = std::sqrt(squares / setup.hosts);
  return result;
}

void PrintSubsets() {
  const SubsetSetup setup;
  std::printf("\ng: %u clients, subsets of %u of %u hosts\n%-12s%8s%8s%8s%10s%21s%21s\n",
              setup.clients, setup.size, setup.hosts, "", "fewest", "mean", "most", "deviation",
              "new as one leaves", "new as one joins");
  Print("rendezvous", Measure({.kind = SubsetKind::kRendezvous}));
  Print("ring", Measure({.kind = SubsetKind::kRing}));
}

}  // namespace weft::balance_sim
