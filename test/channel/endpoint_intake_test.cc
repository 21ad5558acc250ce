#include "channel/endpoint_intake.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/places.h"
#include "base/random.h"
#include "cluster/host.h"
#include "support/catch.h"

namespace weft::channel {
namespace {

Endpoint At(std::string address, double weight = 1) {
  Endpoint endpoint;
  endpoint.address = std::move(address);
  endpoint.weight = weight;
  return endpoint;
}

class TestHost final : public cluster::Host {
 public:
  using Host::Host;
  void Connect() override {}
};

// The whole of what was taken, as the cluster has it then.
struct Whole {
  struct Entry {
    std::shared_ptr<const Endpoint> endpoint;
    std::shared_ptr<cluster::Host> host;
  };
  std::vector<Entry> hosts = {};
  size_t skipped = 0;
  std::string warning = {};
  size_t told = 0;  // how many endpoints say something new
};

// An intake, and the addresses whose hosts it asked for.
struct Rig {
  explicit Rig(SubsetOptions subset = {}) : intake(std::move(subset)) {}
  Whole Take(std::vector<Endpoint> set) { return Take(MakeEndpointSet(std::move(set))); }
  Whole Take(const EndpointSet& set) {
    EndpointIntake::Taken taken = intake.Take(set, [this](const net::Address& address) {
      acquired.push_back(address.text());
      return std::make_shared<TestHost>(address.text());
    });
    Whole whole = {.skipped = taken.skipped, .warning = std::move(taken.warning)};
    std::vector<Whole::Entry> before = hosts;
    for (cluster::NewSetEntry& entry : taken.set) {
      Whole::Entry& now = whole.hosts.emplace_back();
      if (entry.before != base::kNowhere) {
        now = std::exchange(before.at(entry.before), {});
        REQUIRE(now.host != nullptr);
        REQUIRE(entry.host == nullptr);
      } else {
        now.host = std::move(entry.host);
      }
      if (entry.endpoint != nullptr) {
        now.endpoint = std::move(entry.endpoint);
        ++whole.told;
      }
      REQUIRE(now.host != nullptr);
      REQUIRE(now.endpoint != nullptr);
    }
    if (!whole.hosts.empty()) hosts = whole.hosts;
    return whole;
  }
  EndpointIntake intake;
  std::vector<Whole::Entry> hosts;  // of the cluster
  std::vector<std::string> acquired;
};

Whole TakeEndpoints(std::vector<Endpoint> set, SubsetOptions subset) {
  return Rig(std::move(subset)).Take(std::move(set));
}

std::vector<std::string> Addresses(const Whole& taken) {
  std::vector<std::string> addresses;
  for (const Whole::Entry& entry : taken.hosts) addresses.push_back(entry.host->address());
  return addresses;
}

std::vector<Endpoint> Many(int count, int priority = 0) {
  std::vector<Endpoint> set;
  for (int i = 0; i < count; ++i) {
    set.push_back(At(absl::StrCat("10.", priority, ".", i / 250, ".", i % 250, ":80")));
    set.back().priority = priority;
  }
  return set;
}

TEST_CASE("what cannot be used is skipped, and the first of it named") {
  const Whole good = TakeEndpoints({At("10.0.0.1:80"), At("10.0.0.2:80", 0.5)}, {});
  CHECK(Addresses(good) == std::vector<std::string>{"10.0.0.1:80", "10.0.0.2:80"});
  CHECK(good.skipped == 0);
  CHECK(good.warning.empty());

  const Whole twice = TakeEndpoints({At("10.0.0.1:80", 2), At("10.0.0.1:80", 3)}, {});
  REQUIRE(twice.hosts.size() == 1);
  CHECK(twice.hosts[0].endpoint->weight == 2);
  CHECK(twice.skipped == 1);
  CHECK(twice.warning == "\"10.0.0.1:80\" is there twice: the first one is used");

  for (const double weight : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    const Whole bad = TakeEndpoints({At("10.0.0.1:80", weight)}, {});
    CHECK(bad.hosts.empty());
    CHECK(bad.warning == "\"10.0.0.1:80\" has a weight that is not above 0");
  }
  const Whole bad = TakeEndpoints({At("nonsense"), At("10.0.0.1:80", 0), At("10.0.0.2:80")}, {});
  CHECK(Addresses(bad) == std::vector<std::string>{"10.0.0.2:80"});
  CHECK(bad.skipped == 2);
  CHECK(bad.warning.find("\"nonsense\"") == 0);
}

TEST_CASE("a subset is of each priority, without what drains, and in the registry's order") {
  std::vector<Endpoint> set = Many(100, 0);
  for (Endpoint& endpoint : Many(50, 1)) set.push_back(endpoint);
  set[3].draining = true;
  const bool numbered = GENERATE(false, true);
  SubsetOptions subset = {.size = 20, .client_name = "client"};
  if (numbered) subset.client_number = 7;
  const Whole intake = TakeEndpoints(set, subset);
  CHECK(intake.skipped == 0);
  std::map<int, int> counts;
  for (const Whole::Entry& taken : intake.hosts) {
    ++counts[taken.endpoint->priority];
    CHECK_FALSE(taken.endpoint->draining);
  }
  CHECK(counts == std::map<int, int>{{0, 20}, {1, 20}});
  const std::vector<std::string> addresses = Addresses(intake);
  std::vector<size_t> places;
  for (const std::string& address : addresses) {
    places.push_back(static_cast<size_t>(
        std::find_if(set.begin(), set.end(),
                     [&](const Endpoint& endpoint) { return endpoint.address == address; }) -
        set.begin()));
  }
  CHECK(std::is_sorted(places.begin(), places.end()));
  CHECK(Addresses(TakeEndpoints(set, subset)) == addresses);
  subset.client_name = "another";
  subset.client_number = numbered ? std::optional<uint32_t>(8) : std::nullopt;
  CHECK(Addresses(TakeEndpoints(set, subset)) != addresses);
}

TEST_CASE("what stays keeps its host, and its endpoint unless that says something new") {
  Rig rig;
  const Whole before = rig.Take({At("10.0.0.1:80"), At("10.0.0.2:80"), At("localhost:80")});
  rig.acquired.clear();
  Endpoint drains = At("10.0.0.2:80", 3);
  drains.draining = true;
  drains.metadata["version"] = "2";
  const Whole now = rig.Take({At("127.0.0.1:80"), drains, At("10.0.0.3:80"), At("10.0.0.1:80")});
  CHECK(rig.acquired == std::vector<std::string>{"10.0.0.3:80"});
  REQUIRE(now.hosts.size() == 4);
  CHECK(now.hosts[0].host == before.hosts[2].host);
  CHECK(now.hosts[0].endpoint->address == "127.0.0.1:80");
  CHECK(now.hosts[1].host == before.hosts[1].host);
  CHECK(*now.hosts[1].endpoint == drains);
  CHECK(now.hosts[3].host == before.hosts[0].host);
  CHECK(now.hosts[3].endpoint == before.hosts[0].endpoint);
}

TEST_CASE("the same objects again say nothing new, nor do others that are equal") {
  Rig rig;
  EndpointSet set = MakeEndpointSet(Many(100));
  CHECK(rig.Take(set).told == 100);
  rig.acquired.clear();
  CHECK(rig.Take(set).told == 0);
  std::reverse(set.begin() + 10, set.begin() + 60);
  set.erase(set.begin() + 30);
  const Whole moved = rig.Take(set);
  CHECK(moved.told == 0);
  for (size_t i = 0; i < set.size(); ++i) REQUIRE(moved.hosts[i].endpoint == set[i]);
  // An equal one takes the place of the object before: from then on it is the same.
  set[5] = std::make_shared<const Endpoint>(*set[5]);
  CHECK(rig.Take(set).told == 0);
  set[5] = std::make_shared<const Endpoint>(At(set[5]->address, 2));
  CHECK(rig.Take(set).told == 1);
  CHECK(rig.hosts[5].endpoint == set[5]);
  CHECK(rig.acquired.empty());
  // Twice the same object is once too often.
  set.push_back(set[7]);
  const Whole twice = rig.Take(set);
  CHECK(twice.skipped == 1);
  CHECK(twice.hosts.size() == set.size() - 1);
}

// The cluster keeps what it has then, and goes on from there.
TEST_CASE("a set whose subset is empty is none") {
  Rig rig({.size = 12, .client_name = "client"});
  std::vector<Endpoint> set = Many(3);
  REQUIRE(rig.Take(set).hosts.size() == 3);
  std::vector<Endpoint> drains = Many(4);
  for (Endpoint& endpoint : drains) endpoint.draining = true;
  CHECK(rig.Take(drains).hosts.empty());
  rig.acquired.clear();
  const Whole again = rig.Take(set);
  CHECK(again.hosts.size() == 3);
  CHECK(rig.acquired.empty());
  CHECK_FALSE(again.hosts[0].endpoint->draining);
}

TEST_CASE("what is no endpoint at all is skipped too") {
  Rig rig;
  const EndpointSet set = {nullptr, std::make_shared<const Endpoint>(At("10.0.0.1:80"))};
  const Whole taken = rig.Take(set);
  CHECK(Addresses(taken) == std::vector<std::string>{"10.0.0.1:80"});
  CHECK(taken.skipped == 1);
  CHECK(taken.warning == "\"\" is a null pointer");
}

TEST_CASE("what left is let go, and a set of which nothing can be used lets nothing go") {
  Rig rig;
  const std::weak_ptr<const Endpoint> first =
      rig.Take({At("10.0.0.1:80"), At("10.0.0.2:80")}).hosts[0].endpoint;
  CHECK(rig.Take({At("nonsense")}).skipped == 1);
  CHECK_FALSE(first.expired());
  CHECK(rig.Take({At("10.0.0.2:80")}).told == 0);
  CHECK(first.expired());
  rig.Take({At("10.0.0.1:80"), At("10.0.0.2:80")});
  CHECK(rig.acquired == std::vector<std::string>{"10.0.0.1:80", "10.0.0.2:80", "10.0.0.1:80"});
  // An empty set is one as well.
  CHECK(rig.Take(EndpointSet()).hosts.empty());
  rig.Take({At("10.0.0.1:80")});
  CHECK(rig.acquired.size() == 4);
}

TEST_CASE("any sets: the same is taken as by an intake that saw nothing before") {
  for (const uint64_t seed : {1, 2, 3, 4}) {
    INFO("seed " << seed);
    base::Random random(seed);
    Rig rig;
    std::map<std::string, std::shared_ptr<cluster::Host>> last;
    std::vector<Endpoint> set;
    for (int round = 0; round < 100; ++round) {
      for (uint64_t changes = random.Below(20); changes > 0; --changes) {
        const auto place = static_cast<std::ptrdiff_t>(random.Below(set.size() + 1));
        const uint64_t last_byte = random.Below(30);
        switch (random.Below(5)) {
          case 0:  // of which some are there twice, some in another spelling, some are not good
            set.insert(set.begin() + place, At(absl::StrCat("127.0.0.", last_byte, ":80")));
            break;
          case 1:
            set.insert(set.begin() + place, At("localhost:80", last_byte % 3 - 1.0));
            break;
          case 2:
            if (place < std::ssize(set)) set.erase(set.begin() + place);
            break;
          case 3:
            std::rotate(set.begin(), set.begin() + place, set.end());
            break;
          default:
            if (place < std::ssize(set)) set[static_cast<size_t>(place)].weight = 1.0 + last_byte;
        }
      }
      const Whole taken = rig.Take(set);
      const Whole model = TakeEndpoints(set, {});
      REQUIRE(Addresses(taken) == Addresses(model));
      REQUIRE(taken.skipped == model.skipped);
      REQUIRE(taken.warning == model.warning);
      if (taken.hosts.empty()) continue;
      std::map<std::string, std::shared_ptr<cluster::Host>> now;
      for (size_t i = 0; i < taken.hosts.size(); ++i) {
        const auto& [endpoint, host] = taken.hosts[i];
        REQUIRE(*endpoint == *model.hosts[i].endpoint);
        const auto before = last.find(host->address());
        REQUIRE((before == last.end() || before->second == host));
        now[host->address()] = host;
      }
      last = std::move(now);
    }
  }
}

TEST_CASE("a subset of fewer endpoints is all of them") {
  CHECK(TakeEndpoints(Many(12), {.size = 20, .client_name = "c"}).hosts.size() == 12);
}

TEST_CASE("the size of a subset is checked") {
  CHECK(Validate(SubsetOptions()).ok());
  CHECK(Validate(SubsetOptions{.size = 12}).ok());
  const absl::Status status = Validate(SubsetOptions{.size = 11});
  CHECK(absl::IsInvalidArgument(status));
  CHECK(status.message() == "SubsetOptions::size must be 0 (all), or at least 12");
}

}  // namespace
}  // namespace weft::channel
