#include "cluster/subset.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.h"

namespace weft::inline v0::cluster {
namespace {

using Subset =
    std::function<std::vector<size_t>(std::span<const std::string_view>, uint32_t, size_t)>;

std::vector<size_t> Rendezvous(std::span<const std::string_view> addresses, uint32_t client,
                               size_t size) {
  return RendezvousSubset(addresses, "frontend-" + std::to_string(client), size);
}

struct Service {
  explicit Service(size_t count) {
    for (size_t i = 0; i < count; ++i)
      names.push_back("10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256) + ":80");
  }
  std::vector<std::string> Chosen(const Subset& subset, uint32_t client, size_t size) const {
    const std::vector<std::string_view> addresses(names.begin(), names.end());
    std::vector<std::string> chosen;
    for (const size_t index : subset(addresses, client, size)) chosen.push_back(names.at(index));
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  }
  // Connections of so many clients, fewest and most per endpoint.
  std::pair<int, int> Connections(const Subset& subset, uint32_t clients, size_t size) const {
    const std::vector<std::string_view> addresses(names.begin(), names.end());
    std::vector<int> count(names.size());
    for (uint32_t client = 0; client < clients; ++client) {
      for (const size_t index : subset(addresses, client, size)) ++count[index];
    }
    const auto [fewest, most] = std::minmax_element(count.begin(), count.end());
    return {*fewest, *most};
  }
  std::vector<std::string> names;
};

// Entries of `after` that were not there before.
int New(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  std::vector<std::string> added;
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(),
                      std::back_inserter(added));
  return static_cast<int>(added.size());
}

struct Churn {
  int most = 0;  // new entries of one client
  int sum = 0;   // of all
};
Churn WithoutEach(const Subset& subset, const Service& service, uint32_t clients, size_t size) {
  Churn churn;
  for (size_t gone = 0; gone < service.names.size(); gone += 17) {
    Service without = service;
    without.names.erase(without.names.begin() + static_cast<std::ptrdiff_t>(gone));
    for (uint32_t client = 0; client < clients; ++client) {
      const int added =
          New(service.Chosen(subset, client, size), without.Chosen(subset, client, size));
      churn.most = std::max(churn.most, added);
      churn.sum += added;
    }
  }
  return churn;
}

TEST_CASE("a subset has the size asked for, twelve at least, and all of few", "[subset]") {
  for (const Subset& subset : {Subset(Rendezvous), Subset(RingSubset)}) {
    CHECK(Service(100).Chosen(subset, 3, 20).size() == 20);
    CHECK(Service(100).Chosen(subset, 3, 5).size() == 12);
    CHECK(Service(12).Chosen(subset, 3, 5) == Service(12).Chosen(subset, 4, 100));
    CHECK(Service(7).Chosen(subset, 3, 12).size() == 7);
    CHECK(Service(0).Chosen(subset, 3, 12).empty());
    const std::vector<std::string> chosen = Service(100).Chosen(subset, 3, 20);
    CHECK(std::adjacent_find(chosen.begin(), chosen.end()) == chosen.end());
  }
}

TEST_CASE("a subset does not depend on the order of the addresses", "[subset]") {
  for (const Subset& subset : {Subset(Rendezvous), Subset(RingSubset)}) {
    Service service(100);
    const std::vector<std::string> before = service.Chosen(subset, 3, 20);
    std::reverse(service.names.begin(), service.names.end());
    CHECK(before == service.Chosen(subset, 3, 20));
  }
}

TEST_CASE("an endpoint that leaves changes one entry by rendezvous", "[subset]") {
  // 200 endpoints of which 12 are gone one by one, 50 clients, 20 each: a tenth of the subsets had
  // it.
  const Churn churn = WithoutEach(Rendezvous, Service(200), 50, 20);
  CHECK(churn.most == 1);
  CHECK(churn.sum >= 30);
  CHECK(churn.sum <= 90);
}

TEST_CASE("an endpoint that leaves changes two entries of the ring at most", "[subset]") {
  const Churn churn = WithoutEach(RingSubset, Service(200), 50, 20);
  CHECK(churn.most <= 2);
  // The half of the clients whose place is behind it move on by one, too.
  CHECK(churn.sum <= 400);
}

TEST_CASE("connections per endpoint by rendezvous are random", "[subset]") {
  // 40 ± 6.2 by the binomial distribution.
  const auto [fewest, most] = Service(500).Connections(Rendezvous, 1000, 20);
  CHECK(fewest >= 40 - 4 * 6);
  CHECK(most <= 40 + 4 * 6);
}

TEST_CASE("connections per endpoint by the ring are even", "[subset]") {
  for (const uint32_t clients : {100, 256, 999, 1000}) {
    const auto [fewest, most] = Service(500).Connections(RingSubset, clients, 20);
    const double mean = clients * 20 / 500.0;
    CHECK(fewest >= mean - 3);
    CHECK(most <= mean + 3);
  }
}

TEST_CASE("clients beside each other have different subsets", "[subset]") {
  const Service service(1000);
  for (const Subset& subset : {Subset(Rendezvous), Subset(RingSubset)})
    CHECK(New(service.Chosen(subset, 1, 20), service.Chosen(subset, 2, 20)) >= 15);
}

}  // namespace
}  // namespace weft::inline v0::cluster
