#include "channel/endpoint_intake.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "support/catch.h"

namespace weft::channel {
namespace {

Endpoint At(std::string address, double weight = 1) {
  Endpoint endpoint;
  endpoint.address = std::move(address);
  endpoint.weight = weight;
  return endpoint;
}

std::vector<std::string> Addresses(const Intake& intake) {
  std::vector<std::string> addresses;
  for (const Intake::Taken& taken : intake.taken) addresses.push_back(taken.address.text());
  return addresses;
}

EndpointSet Many(int count, int priority = 0) {
  EndpointSet set;
  for (int i = 0; i < count; ++i) {
    set.push_back(At(absl::StrCat("10.", priority, ".", i / 250, ".", i % 250, ":80")));
    set.back().priority = priority;
  }
  return set;
}

TEST_CASE("what cannot be used is skipped, and the first of it named") {
  const Intake good = TakeEndpoints({At("10.0.0.1:80"), At("10.0.0.2:80", 0.5)}, {});
  CHECK(Addresses(good) == std::vector<std::string>{"10.0.0.1:80", "10.0.0.2:80"});
  CHECK(good.skipped == 0);
  CHECK(good.warning.empty());

  const Intake twice = TakeEndpoints({At("10.0.0.1:80", 2), At("10.0.0.1:80", 3)}, {});
  REQUIRE(twice.taken.size() == 1);
  CHECK(twice.taken[0].endpoint->weight == 2);
  CHECK(twice.skipped == 1);
  CHECK(twice.warning == "\"10.0.0.1:80\" is there twice: the first one is used");

  for (const double weight : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    const Intake bad = TakeEndpoints({At("10.0.0.1:80", weight)}, {});
    CHECK(bad.taken.empty());
    CHECK(bad.warning == "\"10.0.0.1:80\" has a weight that is not above 0");
  }
  const Intake bad = TakeEndpoints({At("nonsense"), At("10.0.0.1:80", 0), At("10.0.0.2:80")}, {});
  CHECK(Addresses(bad) == std::vector<std::string>{"10.0.0.2:80"});
  CHECK(bad.skipped == 2);
  CHECK(bad.warning.find("\"nonsense\"") == 0);
}

TEST_CASE("a subset is of each priority, without what drains, and in the registry's order") {
  EndpointSet set = Many(100, 0);
  for (Endpoint& endpoint : Many(50, 1)) set.push_back(endpoint);
  set[3].draining = true;
  const bool numbered = GENERATE(false, true);
  SubsetOptions subset = {.size = 20, .client_name = "client"};
  if (numbered) subset.client_number = 7;
  const Intake intake = TakeEndpoints(set, subset);
  CHECK(intake.skipped == 0);
  std::map<int, int> counts;
  for (const Intake::Taken& taken : intake.taken) {
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

TEST_CASE("a subset of fewer endpoints is all of them") {
  CHECK(TakeEndpoints(Many(12), {.size = 20, .client_name = "c"}).taken.size() == 12);
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
