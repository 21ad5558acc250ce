#include <memory>
#include <string>
#include <vector>

#include "registry/fake_sink.h"
#include "support/catch.h"
#include "weft/registries.h"

namespace weft::registry {
namespace {

using Sets = std::vector<std::vector<Endpoint>>;

TEST_CASE("who opens a service hears what was said of it, and what is said from then on") {
  LocalRegistry local;
  local.SetEndpoints("pay", MakeEndpointSet({{.address = "10.0.0.1:80"}}));
  local.SetServiceConfig("pay", "{}");
  const auto sink = std::make_shared<FakeSink>();
  std::unique_ptr<Resolver> resolver = local.registry()("pay").value();
  CHECK(sink->sets().empty());
  resolver->Start(sink);
  CHECK(sink->sets() == Sets{{{.address = "10.0.0.1:80"}}});
  CHECK(sink->service_configs().back().value() == "{}");
  CHECK(sink->sets_at_service_config() == 0);
  CHECK(sink->errors().empty());

  local.SetEndpoints("pay", MakeEndpointSet({{.address = "10.0.0.2:80"}}));
  local.SetServiceConfig("pay", "");
  local.SetError("pay", absl::UnavailableError("no news"));
  local.SetEndpoints("other", MakeEndpointSet({{.address = "10.0.0.3:80"}}));
  CHECK(sink->sets().back() == std::vector<Endpoint>{{.address = "10.0.0.2:80"}});
  CHECK(sink->sets().size() == 2);
  CHECK(sink->service_configs().back().value().empty());
  CHECK(sink->errors().size() == 1);

  resolver.reset();
  local.SetEndpoints("pay", {});
  CHECK(sink->sets().size() == 2);
}

TEST_CASE("a service of which nothing was said is not found yet") {
  const auto sink = std::make_shared<FakeSink>();
  std::unique_ptr<Resolver> resolver;
  {
    LocalRegistry local;
    resolver = local.registry()("pay").value();
    resolver->Start(sink);
    CHECK(absl::IsNotFound(sink->errors().back()));
    local.SetEndpoints("pay", {});
    CHECK(sink->sets() == Sets{{}});
  }
  resolver.reset();  // the registry is gone already
}

}  // namespace
}  // namespace weft::registry
