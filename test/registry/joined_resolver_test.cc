#include "registry/joined_resolver.h"

#include <memory>
#include <string>
#include <vector>

#include "registry/fake_sink.h"
#include "support/catch.h"
#include "weft/registries.h"

namespace weft::registry {
namespace {

using Set = std::vector<Endpoint>;

struct Rig {
  explicit Rig(Registry (*join)(std::vector<Registry>)) {
    resolver = join({etcd.registry(), files.registry()})("pay").value();
    resolver->Start(sink);
  }
  const Set& last() {
    last_ = sink->sets().back();
    return last_;
  }

  LocalRegistry etcd;
  LocalRegistry files;
  std::shared_ptr<FakeSink> sink = std::make_shared<FakeSink>();
  std::unique_ptr<Resolver> resolver;

 private:
  Set last_;
};

TEST_CASE("the second registry stands in until the first one knows endpoints") {
  Rig rig(&FallbackRegistry);
  CHECK(rig.sink->errors().size() == 2);
  rig.files.SetEndpoints("pay", MakeEndpointSet({{.address = "10.0.0.1:80"}}));
  CHECK(rig.last() == Set{{.address = "10.0.0.1:80"}});
  rig.etcd.SetError("pay", absl::UnavailableError("down"));
  CHECK(rig.sink->errors().back().message() == "down");
  rig.etcd.SetEndpoints("pay", MakeEndpointSet({{.address = "10.0.0.2:80"}}));
  CHECK(rig.last() == Set{{.address = "10.0.0.2:80"}});
  rig.files.SetEndpoints("pay", MakeEndpointSet({{.address = "10.0.0.3:80"}}));
  CHECK(rig.last() == Set{{.address = "10.0.0.2:80"}});
  rig.etcd.SetEndpoints("pay", {});
  CHECK(rig.last() == Set{{.address = "10.0.0.3:80"}});
  rig.files.SetEndpoints("pay", {});
  CHECK(rig.last().empty());
}

TEST_CASE("merged registries give the endpoints of both, each address once") {
  Rig rig(&MergedRegistry);
  rig.etcd.SetEndpoints("pay", MakeEndpointSet({{.address = "10.0.0.1:80", .weight = 2},
                                                {.address = "10.0.0.2:80"}}));
  rig.files.SetEndpoints("pay",
                         MakeEndpointSet({{.address = "10.0.0.3:80"}, {.address = "10.0.0.1:80"}}));
  CHECK(rig.last() == Set{{.address = "10.0.0.1:80", .weight = 2},
                          {.address = "10.0.0.2:80"},
                          {.address = "10.0.0.3:80"}});
  rig.etcd.SetEndpoints("pay", {});
  CHECK(rig.last() == Set{{.address = "10.0.0.3:80"}, {.address = "10.0.0.1:80"}});
}

TEST_CASE("the config is the first registry's that has one") {
  Rig rig(&FallbackRegistry);
  rig.files.SetServiceConfig("pay", "files");
  CHECK(rig.sink->service_configs().back().value() == "files");
  rig.etcd.SetServiceConfig("pay", "etcd");
  CHECK(rig.sink->service_configs().back().value() == "etcd");
  rig.etcd.SetServiceConfig("pay", "");
  CHECK(rig.sink->service_configs().back().value() == "files");
  rig.files.SetServiceConfig("pay", "");
  CHECK(rig.sink->service_configs().back().value().empty());
}

TEST_CASE("a registry that refuses a name is passed over, unless all of them do") {
  const Registry refuses = [](std::string_view) -> absl::StatusOr<std::unique_ptr<Resolver>> {
    return absl::InvalidArgumentError("no such name");
  };
  LocalRegistry local;
  local.SetEndpoints("pay", MakeEndpointSet({{.address = "10.0.0.1:80"}}));
  const auto sink = std::make_shared<FakeSink>();
  const auto resolver = MergedRegistry({refuses, local.registry()})("pay").value();
  resolver->Start(sink);
  CHECK(sink->sets().size() == 1);
  CHECK(FallbackRegistry({refuses, refuses})("pay").status().message() == "no such name");
  CHECK(absl::IsInvalidArgument(FallbackRegistry({})("pay").status()));
}

}  // namespace
}  // namespace weft::registry
