#include "registry/static_resolver.h"

#include <memory>

#include "registry/fake_sink.h"
#include "support/catch.h"

namespace weft::inline v0::registry {
namespace {

TEST_CASE("a static resolver delivers its set once", "[static_resolver]") {
  Endpoint first;
  first.address = "10.0.0.7:80";
  Endpoint second;
  second.address = "10.0.0.8:80";
  second.weight = 2;
  auto sink = std::make_shared<FakeSink>();
  StaticResolver resolver({first, second});
  CHECK(sink->sets().empty());
  resolver.Start(sink);
  REQUIRE(sink->sets().size() == 1);
  CHECK(sink->sets()[0] == std::vector<Endpoint>{first, second});
  CHECK(sink->errors().empty());
}

}  // namespace
}  // namespace weft::inline v0::registry
