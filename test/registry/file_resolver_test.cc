#include "registry/file_resolver.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "event/epoll_loop.h"
#include "registry/fake_sink.h"
#include "support/catch.h"
#include "support/sim_env.h"
#include "support/temp_dir.h"

namespace weft::inline v0::registry {
namespace {

using Catch::Matchers::ContainsSubstring;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::TempDir;

std::string FileWith(const std::string& address) {
  return R"({"endpoints": [{"address": ")" + address + R"("}]})";
}

struct Fixture {
  void Start() {
    resolver = std::make_unique<FileResolver>(*loop, dir.File("svc.json"));
    resolver->Start(sink);
    env.RunUntilIdle();
  }
  std::string LastAddress() const {
    REQUIRE_FALSE(sink->sets().empty());
    const std::vector<Endpoint> set = sink->sets().back();
    return set.empty() ? "" : set.front().address;
  }

  TempDir dir;
  testing::SimEnv env;
  std::unique_ptr<event::Loop> loop = *env.NewLoop(0, nullptr);
  std::shared_ptr<FakeSink> sink = std::make_shared<FakeSink>();
  std::unique_ptr<FileResolver> resolver;
};

TEST_CASE("a file is delivered when it changes", "[file_resolver]") {
  Fixture f;
  f.dir.Write("svc.json", FileWith("10.0.0.1:80"));
  f.Start();
  REQUIRE(f.sink->sets().size() == 1);
  CHECK(f.LastAddress() == "10.0.0.1:80");

  f.env.RunFor(seconds(60));
  CHECK(f.sink->sets().size() == 1);

  f.dir.Replace("svc.json", FileWith("10.0.0.2:80"));
  f.env.RunFor(milliseconds(900));
  CHECK(f.sink->sets().size() == 1);
  f.env.RunFor(milliseconds(200));
  CHECK(f.sink->sets().size() == 2);
  CHECK(f.LastAddress() == "10.0.0.2:80");

  f.dir.Write("svc.json", R"({"endpoints": []})");
  f.env.RunFor(seconds(1));
  CHECK(f.LastAddress().empty());
  CHECK(f.sink->errors().empty());
}

TEST_CASE("nothing is delivered within Start", "[file_resolver]") {
  Fixture f;
  f.dir.Write("svc.json", FileWith("10.0.0.1:80"));
  FileResolver resolver(*f.loop, f.dir.File("svc.json"));
  resolver.Start(f.sink);
  CHECK(f.sink->sets().empty());
  f.env.RunUntilIdle();
  CHECK(f.sink->sets().size() == 1);
}

TEST_CASE("a missing file is told once, and read when it comes", "[file_resolver]") {
  Fixture f;
  f.Start();
  f.env.RunFor(seconds(10));
  REQUIRE(f.sink->errors().size() == 1);
  CHECK(f.sink->errors()[0].code() == absl::StatusCode::kNotFound);
  CHECK_THAT(std::string(f.sink->errors()[0].message()), ContainsSubstring(f.dir.File("svc.json")));
  CHECK(f.sink->sets().empty());

  f.dir.Write("svc.json", FileWith("10.0.0.1:80"));
  f.env.RunFor(seconds(1));
  CHECK(f.LastAddress() == "10.0.0.1:80");

  // Gone again: the old set stays, which is the sink's to keep.
  f.dir.Remove("svc.json");
  f.env.RunFor(seconds(10));
  CHECK(f.sink->errors().size() == 2);
  CHECK(f.sink->sets().size() == 1);
}

TEST_CASE("a bad file is told once for each change", "[file_resolver]") {
  Fixture f;
  f.dir.Write("svc.json", FileWith("10.0.0.1:80"));
  f.Start();
  f.dir.Replace("svc.json", R"({"endpoints": [{"address": "10.0.0.2:80", "weight": 0}]})");
  f.env.RunFor(seconds(10));
  REQUIRE(f.sink->errors().size() == 1);
  CHECK(f.sink->errors()[0] ==
        absl::InvalidArgumentError(f.dir.File("svc.json") +
                                   ": endpoints[0].weight: must be above 0"));
  CHECK(f.sink->sets().size() == 1);

  f.dir.Replace("svc.json", R"({"endpoints": [{"address": "10.0.0.3:80", "weight": 0}]})");
  f.env.RunFor(seconds(10));
  CHECK(f.sink->errors().size() == 2);
  f.dir.Replace("svc.json", FileWith("10.0.0.4:80"));
  f.env.RunFor(seconds(1));
  CHECK(f.sink->errors().size() == 2);
  CHECK(f.LastAddress() == "10.0.0.4:80");
}

TEST_CASE("nothing after the destruction", "[file_resolver]") {
  Fixture f;
  f.dir.Write("svc.json", FileWith("10.0.0.1:80"));
  f.Start();
  f.resolver.reset();
  CHECK(f.sink.use_count() == 1);  // let go of at once
  f.dir.Replace("svc.json", FileWith("10.0.0.2:80"));
  f.env.RunFor(seconds(10));
  CHECK(f.sink->sets().size() == 1);
}

TEST_CASE("destroyed before the first turn, or never started", "[file_resolver]") {
  Fixture f;
  f.dir.Write("svc.json", FileWith("10.0.0.1:80"));
  {
    FileResolver resolver(*f.loop, f.dir.File("svc.json"));
    resolver.Start(f.sink);
    const FileResolver idle(*f.loop, f.dir.File("svc.json"));
  }
  f.env.RunFor(seconds(10));
  CHECK(f.sink->sets().empty());
}

TEST_CASE("the sink destroys the resolver", "[file_resolver]") {
  Fixture f;
  f.sink->on_delivery = [&f] { f.resolver.reset(); };
  SECTION("on a set") { f.dir.Write("svc.json", FileWith("10.0.0.1:80")); }
  SECTION("on an error") {}
  f.Start();
  CHECK(f.resolver == nullptr);
  f.env.RunFor(seconds(10));
  CHECK(f.sink->sets().size() + f.sink->errors().size() == 1);
}

TEST_CASE("the sink destroys the resolver and the loop", "[file_resolver]") {
  Fixture f;
  f.sink->on_delivery = [&f] {
    f.resolver.reset();
    f.loop.reset();
  };
  f.Start();
  CHECK(f.resolver == nullptr);
  CHECK(f.sink->errors().size() == 1);
}

TEST_CASE("the loop ends before it hears of the destruction", "[file_resolver]") {
  Fixture f;
  f.dir.Write("svc.json", FileWith("10.0.0.1:80"));
  SECTION("while the timer runs") { f.Start(); }
  SECTION("before the first look") {
    f.resolver = std::make_unique<FileResolver>(*f.loop, f.dir.File("svc.json"));
    f.resolver->Start(f.sink);
  }
  f.resolver.reset();
  f.loop.reset();
  CHECK(f.sink.use_count() == 1);
}

TEST_CASE("intervals that make no sense are a millisecond", "[file_resolver]") {
  Fixture f;
  for (const absl::Duration interval : {absl::ZeroDuration(), -absl::InfiniteDuration()}) {
    FileResolver resolver(*f.loop, f.dir.File("svc.json"), {.poll_interval = interval});
    resolver.Start(f.sink);
    f.env.RunFor(milliseconds(20));
  }
  FileResolver resolver(*f.loop, f.dir.File("svc.json"),
                        {.poll_interval = absl::InfiniteDuration()});
  resolver.Start(f.sink);
  f.env.RunFor(seconds(3600));
  CHECK(f.sink->errors().size() == 3);
}

// The real clock, because this is about real threads: resolvers come and go while their loop polls.
TEST_CASE("resolvers come and go on other threads", "[file_resolver]") {
  const TempDir dir;
  dir.Write("svc.json", FileWith("10.0.0.1:80"));
  auto sink = std::make_shared<FakeSink>();
  {
    std::unique_ptr<event::EpollLoop> loop = *event::EpollLoop::Start("resolver", nullptr);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        for (int round = 0; round < 50; ++round) {
          FileResolver resolver(*loop, dir.File("svc.json"),
                                {.poll_interval = absl::Milliseconds(1)});
          resolver.Start(sink);
          if (round % 2 == 0) std::this_thread::sleep_for(milliseconds(i));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    // The loop ends with some of them still to be disarmed.
  }
  CHECK_FALSE(sink->sets().empty());
  CHECK(sink.use_count() == 1);
}

TEST_CASE("a file that is replaced all the time is never met half way", "[file_resolver]") {
  const TempDir dir;
  dir.Replace("svc.json", FileWith("10.0.0.1:80"));
  auto sink = std::make_shared<FakeSink>();
  std::unique_ptr<event::EpollLoop> loop = *event::EpollLoop::Start("resolver", nullptr);
  auto resolver = std::make_unique<FileResolver>(
      *loop, dir.File("svc.json"), FileResolverOptions{.poll_interval = absl::Milliseconds(1)});
  resolver->Start(sink);
  const auto end = std::chrono::steady_clock::now() + milliseconds(300);
  for (int i = 0; std::chrono::steady_clock::now() < end; ++i) {
    dir.Replace("svc.json", FileWith("10.0.0." + std::to_string(i % 250) + ":80"));
  }
  resolver.reset();
  loop.reset();
  CHECK(sink->errors().empty());
  CHECK(sink->sets().size() > 1);
}

}  // namespace
}  // namespace weft::inline v0::registry
