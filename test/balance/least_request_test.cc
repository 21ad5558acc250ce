#include "balance/least_request.h"

#include <vector>

#include "balance/rig.h"
#include "support/catch.h"

namespace weft::inline v0::balance {
namespace {

TEST_CASE("of two hosts the one with fewer requests has the call", "[least_request]") {
  Rig rig(LeastRequest(), 2);
  rig.fakes[0]->running = 3;
  rig.fakes[1]->running = 2;
  const std::vector<double> counts = rig.Deal(10'000);
  // All but those where eight draws find the same host.
  CHECK(counts[1] > 9'900);
}

TEST_CASE("hosts that are alike have equal shares", "[least_request]") {
  Rig rig(LeastRequest(), 20);
  CHECK(ChiSquareExcess(rig.Deal(100'000), std::vector<double>(20, 1.0)) < 4);
}

TEST_CASE("an idle service is shared by weight", "[least_request]") {
  const std::vector<double> weights = {1, 1, 2, 4, 0.5, 10};
  Rig rig(LeastRequest(), weights);
  CHECK(ChiSquareExcess(rig.Deal(100'000), weights) < 4);
}

TEST_CASE("requests in flight count for their host's weight", "[least_request]") {
  Rig rig(LeastRequest(), std::vector<double>{1, 3});
  rig.fakes[0]->running = 2;
  rig.fakes[1]->running = 5;  // 5/3 < 2/1
  CHECK(rig.Deal(10'000)[1] > 9'900);
  rig.fakes[1]->running = 7;  // 7/3 > 2/1
  // Eight draws of the heavy host: .75^8 is a tenth.
  CHECK(rig.Deal(10'000)[0] > 8'700);
}

TEST_CASE("the busiest host of many has only the draws in which it meets itself",
          "[least_request]") {
  Rig rig(LeastRequest(), 100);
  rig.fakes[7]->running = 1;
  CHECK(rig.Deal(100'000)[7] == 0);
}

TEST_CASE("requests that stay in flight spread evenly", "[least_request]") {
  Rig rig(LeastRequest(), 100);
  for (int call = 0; call < 10'000; ++call) ++rig.fakes[rig.PickHost()]->running;
  // Drawn one at a time they would be 100 ± 10, and some below 75.
  for (const auto& fake : rig.fakes) {
    CHECK(fake->running >= 94);
    CHECK(fake->running <= 103);
  }
}

}  // namespace
}  // namespace weft::inline v0::balance
