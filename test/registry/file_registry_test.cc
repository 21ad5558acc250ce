#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "registry/fake_sink.h"
#include "registry/open.h"
#include "support/catch.h"
#include "support/sim_env.h"
#include "support/temp_dir.h"
#include "weft/registries.h"
#include "weft/resolver.h"

namespace weft::inline v0::registry {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::TempDir;

struct Fixture {
  absl::StatusOr<std::unique_ptr<Resolver>> Open(const Registry& registry, std::string_view name) {
    return OpenOnLoop(registry, name, *loop);
  }

  TempDir dir;
  testing::SimEnv env;
  std::unique_ptr<event::Loop> loop = *env.NewLoop(0, nullptr);
};

TEST_CASE("a name is a file of the directory", "[file_registry]") {
  Fixture f;
  f.dir.Write("payments.eu.json", R"({"endpoints": [{"address": "10.0.0.1:80"}]})");
  auto sink = std::make_shared<FakeSink>();
  auto resolver = f.Open(FileRegistry(f.dir.path()), "payments.eu");
  REQUIRE(resolver.ok());
  (*resolver)->Start(sink);
  f.env.RunUntilIdle();
  REQUIRE(sink->sets().size() == 1);
  CHECK(sink->sets()[0][0].address == "10.0.0.1:80");
}

TEST_CASE("a file that is not there yet is no error of GetChannel", "[file_registry]") {
  Fixture f;
  CHECK(f.Open(FileRegistry(f.dir.path()), "payments").ok());
  CHECK(f.Open(FileRegistry(""), "payments").ok());
}

TEST_CASE("no name leads out of the directory", "[file_registry]") {
  Fixture f;
  const Registry registry = FileRegistry(f.dir.path());
  const std::string too_long(236, 'x');  // with ".service_config.json"
  for (const std::string_view name :
       {std::string_view(""), std::string_view(".."), std::string_view("../x"),
        std::string_view("/etc/x"), std::string_view("a/b"), std::string_view("a..b"),
        std::string_view("a\0b", 3), std::string_view("a\nb"), std::string_view(too_long)}) {
    const absl::Status status = f.Open(registry, name).status();
    INFO(status.ToString());
    CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    CHECK_THAT(std::string(status.message()), ContainsSubstring("FileRegistry must") ||
                                                  ContainsSubstring("FileRegistry is too long"));
  }
  CHECK(f.Open(registry, std::string_view(too_long).substr(1)).ok());
}

TEST_CASE("without a factory there is no loop", "[file_registry]") {
  CHECK(OpeningLoop() == nullptr);
  CHECK(FileRegistry("/etc")("payments").status().code() == absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("a registry of the user's own may pass on to a FileRegistry", "[file_registry]") {
  Fixture f;
  const Registry own = [files = FileRegistry(f.dir.path())](std::string_view name) {
    return files("eu-" + std::string(name));
  };
  CHECK(f.Open(own, "payments").ok());
}

TEST_CASE("the loop of the innermost opening", "[file_registry]") {
  Fixture f;
  const std::unique_ptr<event::Loop> other = *f.env.NewLoop(1, nullptr);
  const Registry inner = [&](std::string_view) -> absl::StatusOr<std::unique_ptr<Resolver>> {
    CHECK(OpeningLoop() == other.get());
    return absl::NotFoundError("no");
  };
  const Registry outer = [&](std::string_view name) -> absl::StatusOr<std::unique_ptr<Resolver>> {
    CHECK(OpeningLoop() == f.loop.get());
    auto resolver = OpenOnLoop(inner, name, *other);
    CHECK(OpeningLoop() == f.loop.get());
    return resolver;
  };
  CHECK(f.Open(outer, "payments").status() == absl::NotFoundError("no"));
  CHECK(OpeningLoop() == nullptr);
}

TEST_CASE("a registry that gives nothing", "[file_registry]") {
  Fixture f;
  const Registry broken = [](std::string_view) -> absl::StatusOr<std::unique_ptr<Resolver>> {
    return std::unique_ptr<Resolver>();
  };
  CHECK(f.Open(broken, "payments").status().code() == absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace weft::inline v0::registry
