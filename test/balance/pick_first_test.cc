#include "balance/pick_first.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "balance/rig.h"
#include "support/catch.h"

namespace weft::inline v0::balance {
namespace {

TEST_CASE("all calls go to the first host that is connected", "[pick_first]") {
  Rig rig(PickFirst(), 5);
  CHECK(rig.Deal(100)[0] == 100);
  rig.fakes[0]->now = HostState::kConnecting;
  rig.fakes[1]->now = HostState::kBackoff;
  CHECK(rig.Deal(100)[2] == 100);
}

TEST_CASE("calls stay with a host while it is connected", "[pick_first]") {
  Rig rig(PickFirst(), 5);
  rig.fakes[0]->now = HostState::kConnecting;
  CHECK(rig.PickHost() == 1);
  rig.fakes[0]->now = HostState::kReady;
  CHECK(rig.PickHost() == 1);
  // Through an update that puts it elsewhere, too.
  rig.Add("10.1.1.1:80");
  std::rotate(rig.hosts.begin(), rig.hosts.begin() + 2, rig.hosts.end());
  std::rotate(rig.fakes.begin(), rig.fakes.begin() + 2, rig.fakes.end());
  rig.Update();
  CHECK(rig.PickHost() == 5);
  // When it is lost, from the start again.
  rig.fakes[5]->now = HostState::kBackoff;
  CHECK(rig.PickHost() == 0);
  rig.fakes[5]->now = HostState::kReady;
  CHECK(rig.PickHost() == 0);
}

TEST_CASE("where its host has left the set the first one is next", "[pick_first]") {
  Rig rig(PickFirst(), 3);
  rig.fakes[0]->now = HostState::kConnecting;
  CHECK(rig.PickHost() == 1);
  rig.fakes[0]->now = HostState::kReady;
  rig.Remove(1);
  rig.Update();
  CHECK(rig.PickHost() == 0);
}

TEST_CASE("calls do not follow a retry to another host", "[pick_first]") {
  Rig rig(PickFirst(), 3);
  const HostView* tried[] = {rig.fakes[0].get()};
  CHECK(rig.PickHost({.tried = tried}) == 1);
  CHECK(rig.PickHost() == 0);
}

TEST_CASE("a client's own order stays when hosts come and go", "[pick_first]") {
  std::set<size_t> firsts;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Rig rig(PickFirst(), 10);
    rig.balancer = PickFirst({.shuffle = true})(seed);
    rig.Update();
    const size_t first = rig.PickHost();
    firsts.insert(first);
    // The order of the set does not matter, nor who else is there.
    std::reverse(rig.hosts.begin(), rig.hosts.end());
    rig.hosts.pop_back();
    rig.balancer = PickFirst({.shuffle = true})(seed);
    rig.Update();
    if (first != 0) CHECK(rig.PickHost() == 9 - first);
  }
  CHECK(firsts.size() >= 6);
}

}  // namespace
}  // namespace weft::inline v0::balance
