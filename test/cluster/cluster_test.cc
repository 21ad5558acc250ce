// The cluster as a whole: when it looks at its hosts again, and what is left of it once it is
// closed.
#include "cluster/cluster.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "support/sim_env.h"

namespace weft::inline v0::cluster {
namespace {

using namespace std::chrono_literals;

class TestHost final : public Host {
 public:
  using Host::Host;
  void Connect() override {}
  void Become(HostState state) { SetState(state); }
};

// Of priority 0 all, but for the last, which takes over where too few of the others are connected:
// so whether the cluster has looked is seen by who is picked.
struct World {
  explicit World(size_t count) {
    NewSet set;
    for (size_t i = 0; i < count; ++i) {
      hosts.push_back(base::MakeRef<TestHost>("h" + std::to_string(i)));
      hosts.back()->Become(HostState::kReady);
      Endpoint endpoint = {.address = hosts.back()->address(), .priority = i + 1 == count};
      set.push_back({.endpoint = std::make_shared<const Endpoint>(std::move(endpoint)),
                     .host = std::shared_ptr<Host>(hosts[i].get(), [keep = hosts[i]](Host*) {})});
    }
    cluster->Update(std::move(set));
    env.RunUntilIdle();
  }
  ~World() { cluster->Close(absl::CancelledError("over")); }

  std::string Picked() {
    return cluster->Pick({.random = ++random}, false).member->host->address();
  }
  bool TakenOver() {
    for (int i = 0; i < 100; ++i) {
      if (Picked() == hosts.back()->address()) return true;
    }
    return false;
  }

  class First final : public Balancer {
    std::shared_ptr<const Picker> Update(const std::vector<PickerHost>&) override {
      class Zero final : public Picker {
        PickResult Pick(const PickFacts&) const override { return PickResult::Host(0); }
      };
      return std::make_shared<Zero>();
    }
  };
  testing::SimEnv env;
  std::unique_ptr<event::Loop> loop = *env.NewLoop(0, nullptr);
  std::vector<base::Ref<TestHost>> hosts;
  base::Ref<Cluster> cluster = base::MakeRef<Cluster>(
      "service", *loop,
      Membership::Options{.balancer = [](uint64_t) { return std::make_unique<First>(); }});
  uint64_t random = 0;
};

TEST_CASE("after hosts' states were looked at, they are left alone for 5 µs a host") {
  constexpr size_t kHosts = 1000;
  World world(kHosts);
  world.env.RunFor(10ms);
  CHECK_FALSE(world.TakenOver());
  // At once, as the last look is longer ago than the pause.
  world.hosts[0]->Become(HostState::kBackoff);
  world.env.RunFor(1us);
  for (size_t i = 1; i + 1 < kHosts; ++i) world.hosts[i]->Become(HostState::kBackoff);
  world.env.RunFor(4900us);
  CHECK_FALSE(world.TakenOver());
  world.env.RunFor(200us);
  CHECK(world.TakenOver());
}

TEST_CASE("a set that comes after the end changes nothing") {
  World world(3);
  world.cluster->Close(absl::CancelledError("over"));
  auto host = base::MakeRef<TestHost>("late");
  std::weak_ptr<Host> use;
  {
    NewSet set;
    set.push_back({.endpoint = std::make_shared<const Endpoint>(Endpoint{.address = "late"}),
                   .host = std::shared_ptr<Host>(host.get(), [keep = host](Host*) {})});
    use = set[0].host;
    world.cluster->Update(std::move(set));
  }
  CHECK(use.expired());
  CHECK(world.cluster->closed());
  CHECK(world.cluster->hosts()->empty());
  host->Become(HostState::kReady);  // nobody listens
  world.env.RunUntilIdle();
  CHECK(world.cluster->Pick({}, false).kind != PickResult::Kind::kHost);
}

}  // namespace
}  // namespace weft::inline v0::cluster
