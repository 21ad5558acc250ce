#include <limits>
#include <string_view>

#include "support/catch.h"
#include "support/says.h"
#include "weft/channel_factory.h"

namespace weft {
namespace {

using testing::Says;

absl::Status Make(const ConnectionOptions& connection) {
  return ChannelFactory::Create({.loops = 1, .connection = connection}).status();
}

TEST_CASE("a factory takes any reset budget from nothing to no limit") {
  CHECK(Make({.reset_burst = 0, .resets_per_second = 0}).ok());
  CHECK(Make({.reset_burst = 1'000'000, .resets_per_second = 1e6}).ok());
  CHECK(Make({.reset_burst = std::numeric_limits<int>::max(),
              .resets_per_second = std::numeric_limits<double>::infinity()})
            .ok());
}

TEST_CASE("a factory refuses a reset budget that is none, and names the option") {
  const absl::Status burst = Make({.reset_burst = -1});
  CHECK(absl::IsInvalidArgument(burst));
  CHECK(Says(burst, "connection.reset_burst must be 0 or more"));
  for (const double rate : {-1.0, -1e-9, std::numeric_limits<double>::quiet_NaN(),
                            -std::numeric_limits<double>::infinity()}) {
    const absl::Status status = Make({.resets_per_second = rate});
    CHECK(absl::IsInvalidArgument(status));
    CHECK(Says(status, "connection.resets_per_second must be 0 or more"));
  }
}

}  // namespace
}  // namespace weft
