// What a server measures of its own load, as its clients read it.
#include "weft/serving.h"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/escaping.h"
#include "cluster/load_report_header.h"
#include "support/catch.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

struct World {
  explicit World(uint32_t workers) : load({.workers = workers, .clock = [this] { return now; }}) {}
  LoadReport Said() {
    const std::string text(load.Report().text());
    CAPTURE(text);
    const std::optional<LoadReport> report =
        cluster::ReportOf(Headers{{"endpoint-load-metrics", text}});
    REQUIRE(report.has_value());
    return *report;
  }
  // One alone, from its beginning to its end.
  void Serve(std::chrono::nanoseconds time, bool ok = true) {
    ServingRequest request = load.Begin();
    now += time;
    request.End(ok);
  }
  ServingLoad::Time now{1h};
  ServingLoad load;
};

TEST_CASE("a request is in flight from its beginning to its end, however it ends") {
  World world(4);
  CHECK(world.load.Report().text() ==
        "TEXT named_metrics.weft.in_flight=0,named_metrics.weft.workers=4");
  {
    ServingRequest a = world.load.Begin();
    ServingRequest b = world.load.Begin();
    CHECK(world.Said() == LoadReport{.in_flight = 2, .workers = 4});
    ServingRequest moved = std::move(a);
    CHECK(world.load.in_flight() == 2);
    moved.End(true);
    moved.End(true);
    CHECK(world.load.in_flight() == 1);
    b = world.load.Begin();  // the one before ends
    CHECK(world.load.in_flight() == 1);
  }
  CHECK(world.load.in_flight() == 0);
  ServingRequest refused = world.load.Begin();
  refused.Refuse();
  CHECK(world.load.in_flight() == 0);
  ServingRequest().End(true);
  CHECK(world.load.in_flight() == 0);
}

TEST_CASE("service time is without waiting, where it is said when work begins") {
  World world(1);
  ServingRequest request = world.load.Begin();
  world.now += 30ms;
  request.Working();
  world.now += 2500us;
  request.End(true);
  CHECK(world.Said().service_time == 2500us);
  CHECK(world.Said().latency == 32500us);
  // The mean follows the last ones.
  for (int i = 0; i < 300; ++i) world.Serve(10ms);
  CHECK(world.Said().service_time > 9900us);
  CHECK(world.Said().service_time <= 10ms);
}

TEST_CASE("service time is estimated by how many were before a request in the queue") {
  World world(2);
  std::vector<ServingRequest> requests;
  for (int i = 0; i < 6; ++i) requests.push_back(world.load.Begin());
  // Two at a time, 10 ms each: all samples are the same.
  for (int i = 0; i < 6; i += 2) {
    world.now += 10ms;
    requests[static_cast<size_t>(i)].End(true);
    requests[static_cast<size_t>(i) + 1].End(true);
  }
  const std::chrono::nanoseconds said = world.Said().service_time;
  CHECK(said >= 9500us);
  CHECK(said <= 10500us);
}

TEST_CASE("latency is what requests took that came when about as many were in flight") {
  World world(1);
  world.Serve(10ms);
  std::vector<ServingRequest> waiting;
  for (int i = 0; i < 9; ++i) waiting.push_back(world.load.Begin());
  ServingRequest late = world.load.Begin();  // the tenth
  world.now += 100ms;
  late.End(true);
  CHECK(world.Said().latency == 100ms);
  for (ServingRequest& request : waiting) request.Refuse();
  CHECK(world.Said().in_flight == 0);
  CHECK(world.Said().latency == 10ms);
  // What is old is not told.
  world.now += 11s;
  CHECK(world.Said().latency == 0ns);
  CHECK(world.Said().service_time > 0ns);
}

TEST_CASE("rates and utilization are those of the last second that is over") {
  World world(2);
  world.now += 1s;
  CHECK(world.Said().qps == 0);
  for (int i = 0; i < 50; ++i) world.Serve(20ms, i % 5 != 0);
  const LoadReport report = world.Said();
  CHECK(report.qps == 50);
  CHECK(report.eps == 10);
  CHECK(std::abs(report.utilization - 0.5) < 0.01);
  world.now += 1s;
  CHECK(world.Said().qps == 0);
  CHECK(world.Said().utilization == 0);
}

TEST_CASE("a request is bounced where more are in flight than its client wishes") {
  World world(1);
  std::vector<ServingRequest> running;
  for (int i = 0; i < 3; ++i) running.push_back(world.load.Begin());
  CHECK(world.load.Begin("2").bounced());
  CHECK(world.load.Bounces("2"));
  CHECK(world.load.in_flight() == 3);
  for (const char* taken : {"3", "4294967295", "", "0", "-1", "2x", " 2", "2.5", "99999999999"}) {
    CAPTURE(taken);
    CHECK_FALSE(world.load.Bounces(taken));
    ServingRequest request = world.load.Begin(taken);
    CHECK_FALSE(request.bounced());
    CHECK(world.load.in_flight() == 4);
    request.Refuse();
  }
  // One that was bounced leaves nothing behind.
  ServingRequest bounced = world.load.Begin("1");
  bounced.Working();
  bounced.End(true);
  for (ServingRequest& request : running) request.Refuse();
  world.now += 1s;
  CHECK(world.Said() == LoadReport{.in_flight = 0, .workers = 1});
}

TEST_CASE("the binary report says the same as the text") {
  World world(3);
  for (int i = 0; i < 200; ++i) world.Serve(8ms, i % 10 != 0);
  ServingRequest running = world.load.Begin();
  const LoadReport text = world.Said();
  const LoadReport binary =
      cluster::ReportOf(
          Headers{{"endpoint-load-metrics-bin", absl::Base64Escape(world.load.ReportBinary())}})
          .value();
  CHECK(text.in_flight == 1);
  CHECK(binary.in_flight == 1);
  CHECK(binary.workers == text.workers);
  const auto near = [](auto a, auto b, auto by) { return a - b <= by && b - a <= by; };
  CHECK(near(binary.service_time, text.service_time, 1us));
  CHECK(near(binary.latency, text.latency, 1us));
  CHECK(near(binary.utilization, text.utilization, 0.001f));
  CHECK(near(binary.qps, text.qps, 0.001f));
  CHECK(near(binary.eps, text.eps, 0.001f));
  CHECK(binary.eps > 0);
}

TEST_CASE("however large the numbers are, a report is one that clients believe") {
  World world(4'000'000'000u);
  ServingRequest request = world.load.Begin();
  world.now += 24h * 365;
  request.End(true);
  CHECK(world.Said().workers == 1'000'000);
  CHECK(world.Said().latency == 24h);
}

TEST_CASE("a server's threads count at the same time, and nothing is lost") {
  std::atomic<int64_t> ticks{0};
  ServingLoad load({.workers = 2, .clock = [&] {
                      return ServingLoad::Time(
                          std::chrono::microseconds(ticks.fetch_add(1, std::memory_order_relaxed)));
                    }});
  constexpr int kEach = 20'000;
  std::atomic<int> bounced{0};
  const auto serve = [&] {
    for (int i = 0; i < kEach; ++i) {
      ServingRequest request = load.Begin(i % 2 == 0 ? "1" : "");
      if (request.bounced()) {
        bounced.fetch_add(1);
        continue;
      }
      request.Working();
      request.End(i % 4 != 1);
      if (i % 16 == 0 &&
          !cluster::ReportOf(Headers{{"endpoint-load-metrics", load.Report().text()}})
               .has_value()) {
        bounced.fetch_add(1'000'000);
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(serve);
  for (std::thread& thread : threads) thread.join();
  CHECK(load.in_flight() == 0);
  CHECK(bounced.load() <= 4 * kEach / 2);
  const LoadReport report =
      cluster::ReportOf(Headers{{"endpoint-load-metrics", load.Report().text()}}).value();
  CHECK(report.in_flight == 0);
  CHECK(report.service_time > 0ns);
  CHECK(report.latency >= report.service_time / 2);
}

}  // namespace
}  // namespace weft::testing
