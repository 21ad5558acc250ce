#include "balance/named.h"

#include <string>

#include "policy/service_config.h"
#include "support/catch.h"

namespace weft::balance {
namespace {

TEST_CASE("the balancers that a service config may name are there") {
  // It names them all where it refuses one.
  const auto refused =
      policy::ServiceConfig::Parse(R"({"loadBalancingConfig": [{"nonsense": {}}]})");
  REQUIRE_FALSE(refused.ok());
  const std::string text(refused.status().message());
  size_t at = text.find("known are ");
  REQUIRE(at != std::string::npos);
  int count = 0;
  for (at += 10; at < text.size(); ++count) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string name = text.substr(at, end - at);
    CAPTURE(name);
    const BalancerFactory make = Named(name);
    REQUIRE(make != nullptr);
    CHECK(make(1) != nullptr);
    at = end + 1;
  }
  CHECK(count >= 8);
  CHECK(Named("nonsense") == nullptr);
}

}  // namespace
}  // namespace weft::balance
