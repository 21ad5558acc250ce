#include "channel/endpoint_intake.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "support/catch.h"
#include "support/fake_host.h"

namespace weft::channel {
namespace {

Endpoint At(std::string address, double weight = 1) {
  Endpoint endpoint;
  endpoint.address = std::move(address);
  endpoint.weight = weight;
  return endpoint;
}

// An intake, and the addresses whose hosts it asked for.
struct Rig {
  explicit Rig(SubsetOptions subset = {}) : intake(std::move(subset)) {}
  EndpointIntake::Taken Take(std::vector<Endpoint> set) {
    return Take(MakeEndpointSet(std::move(set)));
  }
  EndpointIntake::Taken Take(const EndpointSet& set) {
    return intake.Take(set, [this](const net::Address& address) {
      acquired.push_back(address.text());
      return std::make_shared<testing::FakeHost>(address.text());
    });
  }
  EndpointIntake intake;
  std::vector<std::string> acquired;
};

EndpointIntake::Taken TakeEndpoints(std::vector<Endpoint> set, SubsetOptions subset) {
  return Rig(std::move(subset)).Take(std::move(set));
}

std::vector<std::string> Addresses(const EndpointIntake::Taken& taken) {
  std::vector<std::string> addresses;
  for (const PickerHost& entry : taken.hosts) addresses.push_back(entry.host->address());
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
  const EndpointIntake::Taken good = TakeEndpoints({At("10.0.0.1:80"), At("10.0.0.2:80", 0.5)}, {});
  CHECK(Addresses(good) == std::vector<std::string>{"10.0.0.1:80", "10.0.0.2:80"});
  CHECK(good.skipped == 0);
  CHECK(good.warning.empty());

  const EndpointIntake::Taken twice =
      TakeEndpoints({At("10.0.0.1:80", 2), At("10.0.0.1:80", 3)}, {});
  REQUIRE(twice.hosts.size() == 1);
  CHECK(twice.hosts[0].endpoint->weight == 2);
  CHECK(twice.skipped == 1);
  CHECK(twice.warning == "\"10.0.0.1:80\" is there twice: the first one is used");

  for (const double weight : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    const EndpointIntake::Taken bad = TakeEndpoints({At("10.0.0.1:80", weight)}, {});
    CHECK(bad.hosts.empty());
    CHECK(bad.warning == "\"10.0.0.1:80\" has a weight that is not above 0");
  }
  const EndpointIntake::Taken bad =
      TakeEndpoints({At("nonsense"), At("10.0.0.1:80", 0), At("10.0.0.2:80")}, {});
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
  const EndpointIntake::Taken intake = TakeEndpoints(set, subset);
  CHECK(intake.skipped == 0);
  std::map<int, int> counts;
  for (const PickerHost& taken : intake.hosts) {
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
  const EndpointIntake::Taken before =
      rig.Take({At("10.0.0.1:80"), At("10.0.0.2:80"), At("localhost:80")});
  rig.acquired.clear();
  Endpoint drains = At("10.0.0.2:80", 3);
  drains.draining = true;
  drains.metadata["version"] = "2";
  const EndpointIntake::Taken now =
      rig.Take({At("127.0.0.1:80"), drains, At("10.0.0.3:80"), At("10.0.0.1:80")});
  CHECK(rig.acquired == std::vector<std::string>{"10.0.0.3:80"});
  REQUIRE(now.hosts.size() == 4);
  CHECK(now.hosts[0].host == before.hosts[2].host);
  CHECK(now.hosts[0].endpoint->address == "127.0.0.1:80");
  CHECK(now.hosts[1].host == before.hosts[1].host);
  CHECK(*now.hosts[1].endpoint == drains);
  CHECK(now.hosts[3].host == before.hosts[0].host);
  CHECK(now.hosts[3].endpoint == before.hosts[0].endpoint);
}

TEST_CASE("what is no endpoint at all is skipped too") {
  Rig rig;
  const EndpointSet set = {nullptr, std::make_shared<const Endpoint>(At("10.0.0.1:80"))};
  const EndpointIntake::Taken taken = rig.Take(set);
  CHECK(Addresses(taken) == std::vector<std::string>{"10.0.0.1:80"});
  CHECK(taken.skipped == 1);
  CHECK(taken.warning == "\"\" is a null pointer");
}

TEST_CASE("what left is let go, and a set of which nothing can be used lets nothing go") {
  Rig rig;
  std::weak_ptr<HostView> first = rig.Take({At("10.0.0.1:80"), At("10.0.0.2:80")}).hosts[0].host;
  CHECK(rig.Take(EndpointSet()).hosts.empty());
  CHECK(rig.Take({At("nonsense")}).skipped == 1);
  CHECK_FALSE(first.expired());
  rig.Take({At("10.0.0.2:80")});
  CHECK(first.expired());
  rig.Take({At("10.0.0.1:80"), At("10.0.0.2:80")});
  CHECK(rig.acquired == std::vector<std::string>{"10.0.0.1:80", "10.0.0.2:80", "10.0.0.1:80"});
}

TEST_CASE("any sets: the same is taken as by an intake that saw nothing before") {
  for (const uint64_t seed : {1, 2, 3, 4}) {
    INFO("seed " << seed);
    base::Random random(seed);
    Rig rig;
    std::map<std::string, std::shared_ptr<HostView>> last;
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
      const EndpointIntake::Taken taken = rig.Take(set);
      const EndpointIntake::Taken model = TakeEndpoints(set, {});
      REQUIRE(Addresses(taken) == Addresses(model));
      REQUIRE(taken.skipped == model.skipped);
      REQUIRE(taken.warning == model.warning);
      if (taken.hosts.empty()) continue;
      std::map<std::string, std::shared_ptr<HostView>> now;
      for (size_t i = 0; i < taken.hosts.size(); ++i) {
        const auto& [endpoint, host, weight] = taken.hosts[i];
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
