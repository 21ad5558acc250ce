#include "balance/ring_hash.h"

#include <algorithm>
#include <string>
#include <vector>

#include "balance/keyed_rig.h"
#include "support/catch.h"

namespace weft::inline v0::balance {
namespace {

TEST_CASE("a host that leaves moves its own keys and no others", "[ring_hash]") {
  for (const size_t count : {10, 30, 100}) {
    Rig rig(RingHash(), count);
    const Moves moves = MovesWithout(rig, 3);
    CHECK(moves.of_it == Approx(1.0 / static_cast<double>(count)).epsilon(0.5));
    CHECK(moves.others == 0);
  }
}

TEST_CASE("a host that comes takes keys only for itself", "[ring_hash]") {
  Rig rig(RingHash(), 20);
  const std::vector<std::string> before = Owners(rig);
  rig.Add("10.9.9.9:80");
  rig.Update();
  const std::vector<std::string> after = Owners(rig);
  size_t moved = 0;
  for (size_t key = 0; key < kKeys; ++key) {
    if (before[key] == after[key]) continue;
    ++moved;
    CHECK(after[key] == "10.9.9.9:80");
  }
  CHECK(static_cast<double>(moved) == Approx(kKeys / 21.0).epsilon(0.5));
}

TEST_CASE("the order of the set does not matter", "[ring_hash]") {
  Rig rig(RingHash(), 20);
  const std::vector<std::string> before = Owners(rig);
  std::reverse(rig.hosts.begin(), rig.hosts.end());
  rig.Update();
  CHECK(before == Owners(rig));
}

TEST_CASE("the size of the ring is bounded, and everybody is in it", "[ring_hash]") {
  for (const size_t count : {1, 3, 100, 1023, 3000, 4096}) {
    const Rig rig(RingHash(), count);
    const HashRing ring(rig.hosts);
    CHECK(ring.entries() >= 2048);
    CHECK(ring.entries() <= 4096);
  }
  CHECK(HashRing(Rig(RingHash(), 10'000).hosts).entries() == 10'000);
}

TEST_CASE("keys at both ends of the ring have an owner", "[ring_hash]") {
  for (const size_t count : {1, 5000}) {
    const HashRing ring(Rig(RingHash(), count).hosts);
    CHECK(ring.Owner(0, 0) < count);
    // Past the last entry the first one follows.
    CHECK(ring.Owner(UINT64_MAX, 0) == ring.Owner(0, 0));
    CHECK(ring.Owner(UINT64_MAX, 1) == ring.Owner(0, 1));
  }
}

TEST_CASE("hosts have entries by weight", "[ring_hash]") {
  const std::vector<double> weights = {1, 2, 4, 8, 1};
  Rig rig(RingHash(), weights);
  const std::vector<double> shares = Shares(rig);
  for (size_t i = 0; i < weights.size(); ++i)
    CHECK(shares[i] == Approx(weights[i] * 5 / 16).epsilon(0.25));
}

TEST_CASE("keys of a host that is down go to others and come back", "[ring_hash]") {
  Rig rig(RingHash(), 10);
  const std::vector<std::string> before = Owners(rig);
  rig.fakes[4]->now = HostState::kBackoff;
  const std::vector<std::string> down = Owners(rig);
  CHECK(down == Owners(rig));
  for (size_t key = 0; key < kKeys; ++key) {
    if (before[key] == rig.fakes[4]->address()) {
      CHECK(down[key] != before[key]);
    } else {
      CHECK(down[key] == before[key]);
    }
  }
  rig.fakes[4]->now = HostState::kReady;
  CHECK(before == Owners(rig));
}

TEST_CASE("slow start moves no keys", "[ring_hash]") {
  Rig rig(RingHash(), 10);
  const std::vector<std::string> before = Owners(rig);
  rig.hosts[3].weight = 0.1;
  rig.Update();
  CHECK(before == Owners(rig));
}

TEST_CASE("calls without a key go everywhere", "[ring_hash]") {
  Rig rig(RingHash(), 8);
  for (const double count : rig.Deal(10'000)) CHECK(count == Approx(1250).epsilon(0.3));
}

}  // namespace
}  // namespace weft::inline v0::balance
