// A service config that stands in a file beside the endpoints.
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "registry/fake_sink.h"
#include "registry/file_resolver.h"
#include "registry/open.h"
#include "support/catch.h"
#include "support/says.h"
#include "support/sim_env.h"
#include "support/temp_dir.h"
#include "weft/registries.h"

namespace weft::inline v0::registry {
namespace {

using std::chrono::seconds;
using testing::Says;
using testing::TempDir;

constexpr std::string_view kEndpoints = R"({"endpoints": [{"address": "10.0.0.1:80"}]})";
constexpr char kConfigFile[] = "svc.service_config.json";

struct Fixture {
  Fixture() { dir.Write("svc.json", kEndpoints); }
  void Start() {
    resolver = *OpenOnLoop(FileRegistry(dir.path()), "svc", *loop);
    resolver->Start(sink);
    env.RunUntilIdle();
  }
  // All that were delivered.
  std::vector<absl::StatusOr<std::string>> Configs() const { return sink->service_configs(); }
  std::string Last() const {
    REQUIRE_FALSE(Configs().empty());
    INFO(Configs().back().status().ToString());
    REQUIRE(Configs().back().ok());
    return *Configs().back();
  }
  absl::Status LastError() const {
    REQUIRE_FALSE(Configs().empty());
    REQUIRE_FALSE(Configs().back().ok());
    CHECK(Says(Configs().back().status(), dir.File(kConfigFile) + ": "));
    return Configs().back().status();
  }

  TempDir dir;
  testing::SimEnv env;
  std::unique_ptr<event::Loop> loop = *env.NewLoop(0, nullptr);
  std::shared_ptr<FakeSink> sink = std::make_shared<FakeSink>();
  std::unique_ptr<Resolver> resolver;
};

TEST_CASE("the config beside the endpoints is delivered before them", "[file_service_config]") {
  Fixture f;
  f.dir.Write(kConfigFile, R"({"weft": {}})");
  f.Start();
  CHECK(f.Configs().size() == 1);
  CHECK(f.Last() == R"({"weft": {}})");
  CHECK(f.sink->sets().size() == 1);
  CHECK(f.sink->sets_at_service_config() == 0);

  f.env.RunFor(seconds(60));
  CHECK(f.Configs().size() == 1);
}

TEST_CASE("a config comes, changes and goes", "[file_service_config]") {
  Fixture f;
  f.Start();
  f.env.RunFor(seconds(10));
  CHECK(f.Configs().empty());  // there was none to take back

  f.dir.Write(kConfigFile, "one");  // whether it is valid is for the sink to say
  f.env.RunFor(seconds(1));
  CHECK(f.Last() == "one");
  f.dir.Replace(kConfigFile, "two");
  f.env.RunFor(seconds(1));
  CHECK(f.Last() == "two");

  f.dir.Remove(kConfigFile);
  f.env.RunFor(seconds(10));
  CHECK(f.Last().empty());
  CHECK(f.Configs().size() == 3);

  f.dir.Write(kConfigFile, "two");
  f.env.RunFor(seconds(1));
  CHECK(f.Last() == "two");
  CHECK(f.sink->sets().size() == 1);
  CHECK(f.sink->errors().empty());
}

TEST_CASE("a config that cannot be had is told once, with its path", "[file_service_config]") {
  Fixture f;
  SECTION("too long") {
    f.dir.Write(kConfigFile, std::string(kMaxServiceConfigFileBytes + 1, ' '));
    f.Start();
    CHECK(absl::IsInvalidArgument(f.LastError()));
    CHECK(Says(f.LastError(), "longer than 1 MiB"));
    f.dir.Replace(kConfigFile, std::string(kMaxServiceConfigFileBytes, ' '));
    f.env.RunFor(seconds(1));
    CHECK(f.Last().size() == kMaxServiceConfigFileBytes);
  }
  SECTION("empty") {
    f.dir.Write(kConfigFile, "");
    f.Start();
    CHECK(absl::IsInvalidArgument(f.LastError()));
    CHECK(Says(f.LastError(), "is empty"));
  }
  SECTION("no file, and then nothing") {
    REQUIRE(std::filesystem::create_directory(f.dir.File(kConfigFile)));
    f.Start();
    CHECK(Says(f.LastError(), "is not a file"));
    f.env.RunFor(seconds(10));
    CHECK(f.Configs().size() == 1);
    f.dir.Remove(kConfigFile);
    f.env.RunFor(seconds(1));
    CHECK(f.Last().empty());  // the error is over
  }
  CHECK(f.sink->errors().empty());
  CHECK(f.sink->sets().size() == 1);
}

TEST_CASE("a directory that is away takes no config back", "[file_service_config]") {
  Fixture f;
  f.dir.Write(kConfigFile, "one");
  f.Start();
  const std::string away = f.dir.path() + ".away";
  std::filesystem::rename(f.dir.path(), away);
  f.env.RunFor(seconds(10));
  CHECK(f.Configs().size() == 1);
  CHECK(f.sink->errors().size() == 1);

  std::filesystem::rename(away, f.dir.path());
  f.dir.Remove(kConfigFile);
  f.env.RunFor(seconds(1));
  CHECK(f.Last().empty());  // now it is certain
  CHECK(f.Configs().size() == 2);
}

TEST_CASE("a sink that destroys the resolver on a config", "[file_service_config]") {
  Fixture f;
  f.dir.Write(kConfigFile, "one");
  f.sink->on_delivery = [&f] { f.resolver.reset(); };
  f.Start();
  CHECK(f.resolver == nullptr);
  f.dir.Replace(kConfigFile, "two");
  f.env.RunFor(seconds(10));
  CHECK(f.Configs().size() == 1);
  CHECK(f.sink.use_count() == 1);
}

TEST_CASE("a target that is a file has no config", "[file_service_config]") {
  Fixture f;
  f.dir.Write(kConfigFile, "one");
  f.resolver = std::make_unique<FileResolver>(*f.loop, f.dir.File("svc.json"));
  f.resolver->Start(f.sink);
  f.env.RunFor(seconds(1));
  CHECK(f.sink->sets().size() == 1);
  CHECK(f.Configs().empty());
}

TEST_CASE("no service's endpoints are the config of another", "[file_service_config]") {
  Fixture f;
  const Registry registry = FileRegistry(f.dir.path());
  for (const char* name : {"svc.service_config", ".service_config"}) {
    const absl::Status status = OpenOnLoop(registry, name, *f.loop).status();
    CHECK(absl::IsInvalidArgument(status));
    CHECK(Says(status, "must not end with \".service_config\""));
  }
  CHECK(OpenOnLoop(registry, "service_config", *f.loop).ok());
  CHECK(OpenOnLoop(registry, "svc.service_config.eu", *f.loop).ok());
}

}  // namespace
}  // namespace weft::inline v0::registry
