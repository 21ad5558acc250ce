// What goes wrong in a service's life, with figures: how many attempts that costs, which calls are
// answered nevertheless, and when the others end.
#include <memory>
#include <string>
#include <vector>

#include "call/hedge_world.h"
#include "support/catch.h"
#include "support/says.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

// Picks the first host, whatever state it is in.
class Stubborn final : public Balancer {
 public:
  std::shared_ptr<const Picker> Update(const std::vector<PickerHost>&) override {
    class First final : public Picker {
      PickResult Pick(const PickFacts&) const override { return PickResult::Host(0); }
    };
    return std::make_shared<First>();
  }
};

TEST_CASE("a balancer that picks a host that is down is not asked again without a pause") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  SimClient client(env, "static:10.0.0.1:80",
                   {.channel = {.balancer = [] { return std::make_unique<Stubborn>(); }}});
  for (const absl::Duration timeout : {absl::Milliseconds(50), absl::Seconds(5)}) {
    SimCall& call = client.Get("/", {.timeout = timeout});
    REQUIRE(client.RunUntilDone(call));
    CHECK(call.took() <= absl::ToChronoNanoseconds(timeout));
    CHECK_FALSE(call.ok());
    CHECK(call.error().attempts < 100);
  }
  CHECK(client.Close());
}

}  // namespace
}  // namespace weft::testing
