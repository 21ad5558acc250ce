// What hosts say of their load with an answer, and where it is to be found then.
#include <string>

#include "call/picked_world.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a host's report is kept, from headers and from trailers, whoever asks for it") {
  PickedWorld world;
  WEFT_SEED_INFO(*world.env);
  // in_flight 3, cpu_utilization 0.25, rps_fractional 100
  const std::string binary = "CQAAAAAAANA/MQAAAAAAAFlAQhkKDndlZnQuaW5fZmxpZ2h0EQAAAAAAAAhA";
  world.answer = [&](int n) {
    if (n == 0) {
      return RogueAnswer{.headers = {{"endpoint-load-metrics",
                                      "TEXT named_metrics.weft.in_flight=7,"
                                      "named_metrics.weft.latency_ms=2.5,eps=1"}}};
    }
    RogueAnswer answer = RogueAnswer::Grpc("good");
    answer.trailers.push_back({"endpoint-load-metrics-bin", binary});
    return n == 1 ? answer : RogueAnswer{.headers = {{"endpoint-load-metrics", "TEXT eps=-1"}}};
  };
  CHECK(world.Host(0).reported().at == MonoTime::min());
  REQUIRE(world.client->RunUntilDone(world.client->Get()));
  CHECK(world.Host(0).reported().report == LoadReport{.in_flight = 7, .latency = 2500us, .eps = 1});
  CHECK(world.Host(0).reported().at > MonoTime::min());
  CHECK(world.Host(1).reported().at == MonoTime::min());

  REQUIRE(
      world.client->RunUntilDone(world.client->Post("/s/m", "x", {.protocol = Protocol::kGrpc})));
  CHECK(world.Host(1).reported().report ==
        LoadReport{.in_flight = 3, .utilization = 0.25, .qps = 100});

  REQUIRE(world.client->RunUntilDone(world.client->Get()));
  CHECK(world.Host(2).reported().at == MonoTime::min());
  CHECK(world.client->Close());
}

}  // namespace
}  // namespace weft::testing
