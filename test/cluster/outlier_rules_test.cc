#include "cluster/outlier_rules.h"

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/says.h"

namespace weft::cluster {
namespace {

using namespace std::chrono_literals;
using testing::Says;

HostInterval Counted(uint32_t successes, uint32_t failures, uint32_t overloaded = 0) {
  HostInterval interval;
  interval.successes = successes;
  interval.failures = failures;
  interval.overloaded = overloaded;
  return interval;
}

// `fast` answers of one length, then as many of another.
HostInterval Took(base::MonoDuration fast, base::MonoDuration slow, uint32_t each = 100) {
  HostInterval interval;
  interval.successes = 2 * each;
  interval.latency.exact[LatencyCounts::BucketOf(fast)] += each;
  interval.latency.exact[LatencyCounts::BucketOf(slow)] += each;
  return interval;
}

struct Found {
  size_t host;
  OutlierRule rule;
  bool operator==(const Found&) const = default;
};

std::vector<Found> Find(const OutlierOptions& options, const std::vector<HostInterval>& hosts) {
  std::vector<Found> all;
  for (const OutlierFinding& finding : FindOutliers(options, hosts)) {
    CHECK_FALSE(finding.why.empty());
    all.push_back({finding.host, finding.rule});
  }
  return all;
}

std::vector<HostInterval> Alike(size_t hosts, const HostInterval& each) {
  return std::vector<HostInterval>(hosts, each);
}

TEST_CASE("failure percentage, at its edges") {
  const OutlierOptions options;
  const auto found = [&](const HostInterval& host) {
    return Find(options, {host, Counted(1, 0)}) ==
           std::vector<Found>{{0, OutlierRule::kFailurePercentage}};
  };
  CHECK(found(Counted(15, 85)));
  CHECK_FALSE(found(Counted(16, 84)));
  CHECK(found(Counted(0, 50)));
  CHECK_FALSE(found(Counted(0, 49)));
  // What it has too much of is no failure here, though it is a request.
  CHECK_FALSE(found(Counted(0, 0, 100)));
  CHECK_FALSE(found(Counted(0, 84, 16)));
  CHECK(found(Counted(0, 85, 15)));
  CHECK(Find({.failure_percentage_threshold = 0}, {Counted(0, 100)}).empty());
}

TEST_CASE("success rate, by hand") {
  const OutlierOptions options{.failure_percentage_threshold = 0};
  const std::vector<Found> last{{4, OutlierRule::kSuccessRate}};
  // The others never fail: expected 0, deviation 0; chance may do 4.
  std::vector<HostInterval> hosts = Alike(4, Counted(100, 0));
  hosts.push_back(Counted(95, 5));
  CHECK(Find(options, hosts) == last);
  hosts.back() = Counted(96, 4);
  CHECK(Find(options, hosts).empty());
  // 429 counts.
  hosts.back() = Counted(95, 0, 5);
  CHECK(Find(options, hosts) == last);

  // The others: 90, 90, 80, 80 %: mean 85, deviation 5. Of 1000 requests 150 are expected to fail,
  // 1.9 d n = 95 more are allowed, chance is 4 sqrt(150) + 4 = 53.
  hosts = {Counted(900, 100), Counted(900, 100), Counted(800, 200), Counted(800, 200)};
  hosts.push_back(Counted(754, 246));
  CHECK(Find(options, hosts) == last);
  hosts.back() = Counted(756, 244);
  CHECK(Find(options, hosts).empty());

  // Of 100 requests 15 are expected; 1.9 d n = 9.5, chance is 4 sqrt(15) + 4 = 19.5.
  hosts.back() = Counted(65, 35);
  CHECK(Find(options, hosts) == last);
  hosts.back() = Counted(66, 34);
  CHECK(Find(options, hosts).empty());
}

TEST_CASE("success rate wants so many hosts with so many requests") {
  const OutlierOptions options{.failure_percentage_threshold = 0};
  std::vector<HostInterval> hosts = Alike(3, Counted(1000, 0));
  hosts.push_back(Counted(99, 0));
  hosts.push_back(Counted(0, 1000));
  CHECK(Find(options, hosts).empty());
  hosts[3] = Counted(100, 0);
  CHECK(Find(options, hosts).size() == 1);
  hosts.push_back(Counted(0, 99));
  CHECK(Find(options, hosts).size() == 1);
  CHECK(Find({.success_rate_stdev_factor = 0, .failure_percentage_threshold = 0}, hosts).empty());
}

TEST_CASE("hosts that all fail alike are no outliers by their success rate") {
  const OutlierOptions options{.failure_percentage_threshold = 0};
  for (const uint32_t failures : {0u, 1u, 100u, 500u, 1000u}) {
    CAPTURE(failures);
    CHECK(Find(options, Alike(10, Counted(1000 - failures, failures))).empty());
  }
}

TEST_CASE("chance alone ejects nobody by the success rate") {
  const OutlierOptions options{.failure_percentage_threshold = 0};
  std::mt19937_64 random(7);
  for (const double fails : {0.0001, 0.001, 0.01, 0.1, 0.5}) {
    CAPTURE(fails);
    int found = 0;
    for (int interval = 0; interval < 500; ++interval) {
      std::vector<HostInterval> hosts;
      for (int host = 0; host < 10; ++host) {
        const auto failures =
            static_cast<uint32_t>(std::binomial_distribution<int>(200, fails)(random));
        hosts.push_back(Counted(200 - failures, failures));
      }
      found += static_cast<int>(Find(options, hosts).size());
    }
    CHECK(found == 0);  // of 5000
  }
}

TEST_CASE("latency, by hand") {
  const OutlierOptions options;
  const std::vector<Found> last{{2, OutlierRule::kLatency}};
  std::vector<HostInterval> hosts = Alike(2, Took(10ms, 12ms));
  hosts.push_back(Took(40ms, 48ms));
  CHECK(Find(options, hosts) == last);
  hosts.back() = Took(20ms, 24ms);
  CHECK(Find(options, hosts).empty());
  // Only half of its requests are slow: others may have had fewer of those.
  hosts.back() = Took(10ms, 100ms);
  CHECK(Find(options, hosts).empty());
  // Too few requests.
  hosts.back() = Took(40ms, 48ms, 49);
  CHECK(Find(options, hosts).empty());
  hosts.back() = Took(40ms, 48ms, 50);
  CHECK(Find(options, hosts) == last);
  // Of two hosts nobody can say which one is the odd one.
  CHECK(Find(options, {Took(10ms, 12ms), Took(100ms, 100ms)}).empty());
  // Half of them are.
  CHECK(Find(options, {Took(10ms, 10ms), Took(10ms, 10ms), Took(90ms, 90ms), Took(90ms, 90ms)})
            .empty());
  CHECK(Find({.latency_factor = 0}, {Took(1ms, 1ms), Took(1ms, 1ms), Took(1s, 1s)}).empty());
}

TEST_CASE("a slow host that is always overtaken by hedges is found") {
  std::vector<HostInterval> hosts = Alike(3, Took(10ms, 10ms));
  HostInterval slow;  // five answers, the rest given up
  slow.latency.exact[LatencyCounts::BucketOf(20ms)] = 5;
  slow.latency.at_least[LatencyCounts::BucketOf(50ms)] = 195;
  hosts.push_back(slow);
  CHECK(Find({}, hosts) == std::vector<Found>{{3, OutlierRule::kLatency}});
}

TEST_CASE("the worst come first, by rule and within it") {
  std::vector<HostInterval> hosts;
  for (int i = 0; i < 12; ++i) {
    hosts.push_back(Took(10ms, 10ms, 500));
    hosts.back().failures = 0;
  }
  hosts[1] = Took(100ms, 100ms, 500);
  hosts[3] = Took(400ms, 400ms, 500);
  hosts[2].successes = 750, hosts[2].failures = 250;
  hosts[5].successes = 650, hosts[5].failures = 350;
  hosts[6] = Counted(2, 60);
  const std::vector<Found> found = Find({}, hosts);
  REQUIRE(found.size() == 5);
  CHECK(found[0] == Found{6, OutlierRule::kFailurePercentage});
  CHECK(found[1] == Found{5, OutlierRule::kSuccessRate});
  CHECK(found[2] == Found{2, OutlierRule::kSuccessRate});
  CHECK(found[3] == Found{3, OutlierRule::kLatency});
  CHECK(found[4] == Found{1, OutlierRule::kLatency});
}

TEST_CASE("no hosts, and hosts without requests") {
  CHECK(Find({}, {}).empty());
  CHECK(Find({}, Alike(10, HostInterval())).empty());
}

TEST_CASE("options that are out of range are refused by name") {
  CHECK(Validate(OutlierOptions()).ok());
  CHECK(Validate({.consecutive_failures = 0,
                  .max_ejection_time_jitter = absl::ZeroDuration(),
                  .success_rate_stdev_factor = 0,
                  .failure_percentage_threshold = 0,
                  .latency_factor = 0,
                  .panic_threshold_percent = 0})
            .ok());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const absl::Duration forever = absl::InfiniteDuration();
  struct Row {
    std::string field;
    std::function<void(OutlierOptions&)> spoil;
  };
  const std::vector<Row> table = {
      {"consecutive_failures", [](auto& o) { o.consecutive_failures = -1; }},
      {"consecutive_failures", [](auto& o) { o.consecutive_failures = 1001; }},
      {"interval", [](auto& o) { o.interval = absl::Milliseconds(999); }},
      {"interval", [=](auto& o) { o.interval = forever; }},
      {"base_ejection_time", [](auto& o) { o.base_ejection_time = absl::ZeroDuration(); }},
      {"max_ejection_time", [](auto& o) { o.max_ejection_time = absl::Seconds(29); }},
      {"max_ejection_time", [=](auto& o) { o.max_ejection_time = forever; }},
      {"max_ejection_time_jitter", [](auto& o) { o.max_ejection_time_jitter = -absl::Seconds(1); }},
      {"max_ejection_time_jitter", [=](auto& o) { o.max_ejection_time_jitter = forever; }},
      {"max_ejection_percent", [](auto& o) { o.max_ejection_percent = 0; }},
      {"max_ejection_percent", [](auto& o) { o.max_ejection_percent = 101; }},
      {"success_rate_minimum_hosts", [](auto& o) { o.success_rate_minimum_hosts = 1; }},
      {"success_rate_request_volume", [](auto& o) { o.success_rate_request_volume = 0; }},
      {"success_rate_stdev_factor", [](auto& o) { o.success_rate_stdev_factor = -0.1; }},
      {"success_rate_stdev_factor", [=](auto& o) { o.success_rate_stdev_factor = nan; }},
      {"failure_percentage_threshold", [](auto& o) { o.failure_percentage_threshold = 101; }},
      {"failure_percentage_request_volume",
       [](auto& o) { o.failure_percentage_request_volume = 0; }},
      {"latency_factor", [](auto& o) { o.latency_factor = 1; }},
      {"latency_factor", [=](auto& o) { o.latency_factor = nan; }},
      {"latency_intervals", [](auto& o) { o.latency_intervals = 0; }},
      {"latency_request_volume", [](auto& o) { o.latency_request_volume = 0; }},
      {"panic_threshold_percent", [](auto& o) { o.panic_threshold_percent = 101; }},
  };
  for (const Row& row : table) {
    OutlierOptions options;
    row.spoil(options);
    const absl::Status status = Validate(options);
    CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    CHECK(Says(status, "OutlierOptions::" + row.field + " must be"));
  }
}

}  // namespace
}  // namespace weft::cluster
