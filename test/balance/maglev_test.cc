#include "balance/maglev.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "balance/keyed_rig.h"
#include "support/catch.h"

namespace weft::inline v0::balance {
namespace {

// The share of slots that each host has, over the mean.
std::vector<double> SlotShares(const std::vector<PickerHost>& hosts) {
  const MaglevTable table(hosts);
  std::vector<double> shares(hosts.size());
  for (uint64_t slot = 0; slot < MaglevTable::kSlots; ++slot)
    shares.at(table.Owner(slot, 0)) +=
        static_cast<double>(hosts.size()) / static_cast<double>(MaglevTable::kSlots);
  return shares;
}

TEST_CASE("slots are shared evenly", "[maglev]") {
  for (const size_t count : {1, 3, 100}) {
    const Rig rig(Maglev(), count);
    for (const double share : SlotShares(rig.hosts)) CHECK(share == Approx(1).epsilon(0.002));
  }
}

TEST_CASE("slots are shared by weight", "[maglev]") {
  const std::vector<double> weights = {1, 2, 4, 8, 1, 0.01};
  const Rig rig(Maglev(), weights);
  const std::vector<double> shares = SlotShares(rig.hosts);
  for (size_t i = 0; i < weights.size(); ++i)
    CHECK(shares[i] == Approx(weights[i] * 6 / 16.01).margin(0.002));
}

TEST_CASE("everybody has slots", "[maglev]") {
  const Rig rig(Maglev(), 10'000);
  for (const double share : SlotShares(rig.hosts)) CHECK(share > 0.9);
}

TEST_CASE("a host that leaves moves its own keys and few others", "[maglev]") {
  for (const size_t count : {10, 30, 100}) {
    Rig rig(Maglev(), count);
    const Moves moves = MovesWithout(rig, 3);
    CHECK(moves.of_it == Approx(1.0 / static_cast<double>(count)).epsilon(0.1));
    CHECK(moves.others < 0.03);
  }
}

TEST_CASE("the table does not depend on the order of the set", "[maglev]") {
  Rig rig(Maglev(), 20);
  const std::vector<std::string> before = Owners(rig);
  std::reverse(rig.hosts.begin(), rig.hosts.end());
  rig.Update();
  CHECK(before == Owners(rig));
}

TEST_CASE("keys of a host that is down are spread over the others", "[maglev]") {
  Rig rig(Maglev(), 10);
  const std::vector<double> before = Shares(rig);
  rig.fakes[4]->now = HostState::kBackoff;
  const std::vector<double> down = Shares(rig);
  CHECK(down[4] == 0);
  for (size_t i = 0; i < 10; ++i) {
    if (i != 4) CHECK(down[i] - before[i] == Approx(1.0 / 9).margin(0.03));
  }
  rig.fakes[4]->now = HostState::kReady;
  CHECK(before == Shares(rig));
}

TEST_CASE("a table is kept while hosts and endpoint weights stay", "[maglev]") {
  Rig rig(Maglev(), 10);
  const std::vector<std::string> before = Owners(rig);
  rig.hosts[3].weight = 0.1;
  rig.Update();
  CHECK(before == Owners(rig));
  Endpoint heavy = *rig.hosts[3].endpoint;
  heavy.weight = 5;
  rig.hosts[3].endpoint = &heavy;
  rig.Update();
  CHECK(Shares(rig)[3] == Approx(5 / 1.4).epsilon(0.05));
}

}  // namespace
}  // namespace weft::inline v0::balance
