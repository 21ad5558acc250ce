#include "registry/service_watch.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "registry/fake_sink.h"
#include "support/catch.h"
#include "support/sim_env.h"
#include "support/temp_dir.h"

namespace weft::registry {
namespace {

using namespace std::chrono_literals;
using testing::SimEnv;
using testing::TempDir;

// What a test has a resolver say.
struct Said {
  std::shared_ptr<ResolverSink> sink;  // once it was started
  int starts = 0;
  int ends = 0;
  std::function<void(ResolverSink&)> at_start = [](ResolverSink&) {};
};

class Told final : public Resolver {
 public:
  explicit Told(Said& said) : said_(said) {}
  ~Told() override { ++said_.ends; }
  void Start(std::shared_ptr<ResolverSink> sink) override {
    ++said_.starts;
    said_.sink = std::move(sink);
    said_.at_start(*said_.sink);
  }

 private:
  Said& said_;
};

using Sets = std::vector<std::vector<Endpoint>>;

std::vector<Endpoint> Hosts(const std::vector<std::string>& addresses) {
  std::vector<Endpoint> hosts;
  for (const std::string& address : addresses) hosts.push_back({.address = address});
  return hosts;
}

class Rig {
 public:
  explicit Rig(RegistryOptions options = {}) {
    watch = std::make_shared<ServiceWatch>(*loop, std::make_unique<Told>(said),
                                           ServiceWatch::Setup{.name = "pay/eu",
                                                               .options = std::move(options),
                                                               .counters = &counters,
                                                               .on_idle = [this] { ++idle; }});
    watch->Join();
  }
  ~Rig() {
    loop->PostFunction([watch = watch] { watch->Close(); });
    CHECK(env.RunUntilIdle());
    CHECK(said.ends == 1);
    watch.reset();
  }
  std::shared_ptr<FakeSink> Subscribe() {
    auto sink = std::make_shared<FakeSink>();
    watch->Subscribe(sink);
    return sink;
  }
  void Say(const std::vector<std::string>& addresses) {
    said.sink->OnEndpoints(MakeEndpointSet(Hosts(addresses)));
  }

  SimEnv env;
  std::unique_ptr<event::Loop> loop = std::move(env.NewLoop(0, nullptr)).value();
  telemetry::Counters counters;
  Said said;
  int idle = 0;
  std::shared_ptr<ServiceWatch> watch;
};

TEST_CASE("a registry is asked once for all, when the first one wants to know") {
  Rig rig;
  CHECK(rig.said.starts == 0);
  const auto first = rig.Subscribe();
  CHECK(rig.said.starts == 1);
  rig.said.sink->OnServiceConfig("{}");
  rig.Say({"10.0.0.1:80"});
  CHECK(first->sets() == Sets{Hosts({"10.0.0.1:80"})});
  // Who comes later hears at once what is known, the config first.
  const auto second = rig.Subscribe();
  CHECK(rig.said.starts == 1);
  CHECK(second->sets() == first->sets());
  CHECK(second->service_configs().size() == 1);
  CHECK(second->sets_at_service_config() == 0);
  CHECK(first->sets().size() == 1);
}

TEST_CASE("what a resolver says within Start is delivered within Subscribe") {
  Rig rig;
  rig.said.at_start = [](ResolverSink& sink) {
    sink.OnEndpoints(MakeEndpointSet(Hosts({"10.0.0.1:80"})));
  };
  CHECK(rig.Subscribe()->sets().size() == 1);
}

TEST_CASE("of sets that come fast the last one counts, and the first comes at once") {
  Rig rig;
  const auto sink = rig.Subscribe();
  rig.Say({"10.0.0.1:80"});
  CHECK(sink->sets().size() == 1);
  rig.env.RunFor(10ms);
  rig.Say({"10.0.0.2:80"});
  rig.env.RunFor(10ms);
  rig.Say({"10.0.0.3:80"});
  CHECK(sink->sets().size() == 1);
  rig.env.RunFor(79ms);
  CHECK(sink->sets().size() == 1);
  rig.env.RunFor(2ms);
  CHECK(sink->sets().size() == 2);
  CHECK(sink->sets().back() == Hosts({"10.0.0.3:80"}));
  // After a pause at once again.
  rig.env.RunFor(100ms);
  rig.Say({"10.0.0.4:80"});
  CHECK(sink->sets().back() == Hosts({"10.0.0.4:80"}));
}

TEST_CASE("what was said before, of the same objects, is not said again") {
  Rig rig;
  const auto sink = rig.Subscribe();
  const EndpointSet set = MakeEndpointSet(Hosts({"10.0.0.1:80", "10.0.0.2:80"}));
  for (int i = 0; i < 5; ++i) {
    rig.said.sink->OnEndpoints(set);
    rig.env.RunFor(1s);
  }
  CHECK(sink->sets().size() == 1);
}

TEST_CASE("an empty set is believed when it has lasted") {
  RegistryOptions options;
  Rig rig(options);
  const auto sink = rig.Subscribe();
  rig.Say({"10.0.0.1:80"});
  rig.env.RunFor(1s);
  rig.Say({});
  rig.Say({});
  rig.env.RunFor(29s);
  CHECK(sink->sets().size() == 1);
  CHECK(rig.counters.empty_sets_held.value() == 1);
  SECTION("it was a mistake") {
    rig.Say({"10.0.0.1:80", "10.0.0.2:80"});
    rig.env.RunFor(60s);
    CHECK(sink->sets().back() == Hosts({"10.0.0.1:80", "10.0.0.2:80"}));
    CHECK(sink->sets().size() == 2);
    // The next one is held back anew.
    rig.Say({});
    rig.env.RunFor(29s);
    CHECK(sink->sets().size() == 2);
    CHECK(rig.counters.empty_sets_held.value() == 2);
  }
  SECTION("it was none") {
    rig.env.RunFor(1s);
    CHECK(sink->sets().back().empty());
    CHECK(sink->sets().size() == 2);
  }
}

TEST_CASE("an empty set in all flavours: at the start, at once, never") {
  RegistryOptions options;
  SECTION("the first one is told: there is nothing to lose") {
    Rig rig(options);
    const auto sink = rig.Subscribe();
    rig.Say({});
    CHECK(sink->sets().size() == 1);
  }
  SECTION("believed at once") {
    options.empty_hold = absl::ZeroDuration();
    options.coalesce = absl::ZeroDuration();
    Rig rig(options);
    const auto sink = rig.Subscribe();
    rig.Say({"10.0.0.1:80"});
    rig.Say({});
    CHECK(sink->sets().size() == 2);
  }
  SECTION("never believed") {
    options.empty_hold = absl::InfiniteDuration();
    Rig rig(options);
    const auto sink = rig.Subscribe();
    rig.Say({"10.0.0.1:80"});
    rig.Say({});
    rig.env.RunFor(100h);
    CHECK(sink->sets().size() == 1);
  }
}

TEST_CASE("errors are told at once, and change nothing of what is known") {
  Rig rig;
  const auto early = rig.Subscribe();
  rig.said.sink->OnError(absl::UnavailableError("down"));
  CHECK(early->errors().size() == 1);
  CHECK(rig.Subscribe()->errors().size() == 1);
  rig.Say({"10.0.0.1:80"});
  rig.said.sink->OnError(absl::UnavailableError("down"));
  const auto late = rig.Subscribe();
  CHECK(late->sets().size() == 1);
  CHECK(late->errors().empty());
  CHECK(rig.counters.resolver_errors.value() == 2);
}

TEST_CASE("a watch that nobody uses lingers") {
  Rig rig;
  const auto sink = rig.Subscribe();
  rig.Say({"10.0.0.1:80"});
  rig.watch->Leave(sink.get());
  CHECK(rig.watch->idle());
  rig.env.RunFor(29s);
  CHECK(rig.idle == 0);
  SECTION("and is told to be idle once") {
    rig.env.RunFor(60s);
    CHECK(rig.idle == 1);
  }
  SECTION("unless somebody comes") {
    rig.watch->Join();
    CHECK(rig.Subscribe()->sets().size() == 1);
    rig.env.RunFor(60s);
    CHECK(rig.idle == 0);
  }
  rig.env.RunFor(1s);
  rig.Say({"10.0.0.2:80"});
  CHECK(sink->sets().size() == 1);  // it has left
}

TEST_CASE("after Close nothing is told") {
  Rig rig;
  const auto sink = rig.Subscribe();
  rig.loop->PostFunction([&] { rig.watch->Close(); });
  rig.env.RunFor(1ms);
  rig.Say({"10.0.0.1:80"});
  rig.said.sink->OnError(absl::UnavailableError("down"));
  rig.said.sink->OnServiceConfig("{}");
  CHECK(rig.Subscribe()->sets().empty());
  rig.env.RunFor(60s);
  CHECK(sink->sets().empty());
  CHECK(sink->errors().empty());
  CHECK(sink->service_configs().empty());
}

TEST_CASE("a start while the registry is out of reach goes by the snapshot") {
  TempDir dir;
  RegistryOptions options;
  options.snapshot_directory = dir.path();
  std::vector<Endpoint> hosts = Hosts({"10.0.0.1:80", "10.0.0.2:80"});
  hosts[1].weight = 0.5;
  hosts[1].locality = {.region = "eu", .zone = "a", .sub_zone = "1"};
  hosts[1].metadata = {{"version", "2 \"beta\""}};
  {
    Rig before(options);
    (void)before.Subscribe();
    before.said.sink->OnServiceConfig(R"({"methodConfig": []})");
    before.said.sink->OnEndpoints(MakeEndpointSet(hosts));
    before.env.RunFor(1s);
    CHECK(before.watch->snapshot_status() == absl::OkStatus());
  }
  Rig rig(options);
  SECTION("it says so") {
    rig.said.at_start = [](ResolverSink& sink) { sink.OnError(absl::UnavailableError("down")); };
  }
  SECTION("it says nothing") {}
  const auto sink = rig.Subscribe();
  CHECK(sink->sets().empty());
  rig.env.RunFor(1100ms);
  REQUIRE(sink->sets() == Sets{hosts});
  CHECK(sink->service_configs().back().value() == R"({"methodConfig": []})");
  CHECK(sink->sets_at_service_config() == 0);
  CHECK(sink->errors().empty());
  CHECK(rig.counters.snapshots_used.value() == 1);
  // It is back, with nothing to say at first.
  rig.Say({});
  rig.env.RunFor(10s);
  CHECK(sink->sets().size() == 1);
  rig.Say({"10.0.0.3:80"});
  CHECK(sink->sets().back() == Hosts({"10.0.0.3:80"}));
}

TEST_CASE("a snapshot is not used where the registry answers, and not written without need") {
  TempDir dir;
  RegistryOptions options;
  options.snapshot_directory = dir.path();
  dir.Write("pay%2Feu.json", R"({"endpoints": [{"address": "10.0.0.9:80"}]})");
  Rig rig(options);
  const auto sink = rig.Subscribe();
  rig.env.RunFor(900ms);
  rig.Say({"10.0.0.1:80"});
  rig.env.RunFor(60s);
  CHECK(sink->sets().size() == 1);
  CHECK(rig.counters.snapshots_used.value() == 0);
  // The next one, once in ten seconds, the last of what came.
  const SnapshotFile file(dir.path(), "pay/eu");
  CHECK(file.Load()->endpoints == Hosts({"10.0.0.1:80"}));
  rig.Say({"10.0.0.2:80"});
  rig.env.RunFor(1s);
  CHECK(file.Load()->endpoints == Hosts({"10.0.0.2:80"}));
  rig.Say({"10.0.0.3:80"});
  rig.env.RunFor(5s);
  rig.Say({"10.0.0.4:80"});
  CHECK(file.Load()->endpoints == Hosts({"10.0.0.2:80"}));
  rig.env.RunFor(10s);
  CHECK(file.Load()->endpoints == Hosts({"10.0.0.4:80"}));
}

TEST_CASE("a snapshot that cannot be written or read is counted and said, and nothing else fails") {
  RegistryOptions options;
  options.snapshot_directory = "/nonexistent";
  Rig rig(options);
  const auto sink = rig.Subscribe();
  rig.said.sink->OnError(absl::UnavailableError("down"));
  rig.env.RunFor(2s);
  CHECK(absl::IsNotFound(rig.watch->snapshot_status()));
  CHECK(sink->errors().size() == 1);
  rig.Say({"10.0.0.1:80"});
  rig.env.RunFor(1s);
  CHECK(sink->sets().size() == 1);
  CHECK(rig.counters.snapshot_failures.value() == 1);
  CHECK(std::string(rig.watch->snapshot_status().message()).find("/nonexistent/pay%2Feu.json") !=
        std::string::npos);
}

TEST_CASE("options out of range are refused by name") {
  RegistryOptions options;
  CHECK(Validate(options).ok());
  std::string field;
  SECTION("a pause of hours") {
    options.coalesce = absl::Minutes(2);
    field = "coalesce";
  }
  SECTION("less than nothing") {
    options.empty_hold = -absl::Seconds(1);
    field = "empty_hold";
  }
  SECTION("for ever") {
    options.linger = absl::InfiniteDuration();
    field = "linger";
  }
  if (field.empty()) return;
  const absl::Status status = Validate(options);
  CHECK(absl::IsInvalidArgument(status));
  CHECK(std::string(status.message()).find("RegistryOptions::" + field) == 0);
}

}  // namespace
}  // namespace weft::registry
