// What it costs that the endpoints of a service change: 10,000 of them, of which 100 are replaced
// at random places, the rest as before.
//
//   host_set_micro [--benchmark_filter=…]
//
// Time is processor time, all threads: `caller` is the thread that delivers the set, `loop` what
// follows from it on the one loop. There is no network: dials either never end (Silent), or the
// host greets at once and then says nothing (Greets). Of100 is a service of 100 endpoints, all
// replaced: what 100 new hosts cost by themselves. Second is one update, and what else happens in
// the second until the next one (hosts that start slowly, above all).
#include <benchmark/benchmark.h>

#include <ctime>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "event/loop.h"
#include "net/byte_stream.h"
#include "net/env.h"
#include "weft/balancers.h"
#include "weft/weft.h"

namespace weft {
namespace {

// The peer's first SETTINGS, and nothing after.
class Greeting final : public net::ByteStream {
 public:
  net::IoResult Read(char* to, size_t size) override {
    const size_t moved = left_.copy(to, size);
    left_.remove_prefix(moved);
    return moved == 0 ? net::IoResult::Blocked() : net::IoResult::Ok(moved, left_.empty());
  }
  net::IoResult Write(std::string_view bytes) override { return net::IoResult::Ok(bytes.size()); }
  void SetWatcher(net::ReadyWatcher* watcher) override {
    if (watcher != nullptr) watcher->OnReady(true, true);
  }

 private:
  std::string_view left_{"\0\0\0\4\0\0\0\0\0", 9};
};

class NoNetwork final : public net::Network {
 public:
  explicit NoNetwork(bool greets) : greets_(greets) {}
  std::unique_ptr<net::Dial> Connect(event::Loop& loop, const net::Address&,
                                     const net::ConnectOptions&, net::DialDone done) override {
    if (greets_) {
      loop.PostFunction([done = std::move(done)]() mutable {
        std::move(done)(std::unique_ptr<net::ByteStream>(std::make_unique<Greeting>()));
      });
    }
    return std::make_unique<net::Dial>();
  }

 private:
  const bool greets_;
};

class NoNetworkEnv final : public net::Env {
 public:
  explicit NoNetworkEnv(bool greets) : network_(greets) {}
  const event::Clock& clock() const override { return system_->clock(); }
  absl::StatusOr<std::unique_ptr<event::Loop>> NewLoop(int index,
                                                       std::atomic<uint64_t>* slow_turns) override {
    auto made = system_->NewLoop(index, slow_turns);
    if (made.ok()) loop = made->get();
    return made;
  }
  net::Network& network() override { return network_; }
  uint64_t NewSeed() override { return system_->NewSeed(); }

  event::Loop* loop = nullptr;  // the only one

 private:
  const std::shared_ptr<net::Env> system_ = net::SystemEnv();
  NoNetwork network_;
};

// Keeps the sink, for the benchmark to deliver to.
class Pushing final : public Resolver {
 public:
  explicit Pushing(std::shared_ptr<ResolverSink>& sink) : sink_(sink) {}
  void Start(std::shared_ptr<ResolverSink> to) override { sink_ = std::move(to); }

 private:
  std::shared_ptr<ResolverSink>& sink_;
};

double Spent(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

class Service {
 public:
  Service(size_t size, bool greets, BalancerFactory balancer)
      : env_(std::make_shared<NoNetworkEnv>(greets)) {
    ChannelFactory::Options options;
    options.loops = 1;
    options.env = env_;
    options.registry = [this](std::string_view) -> absl::StatusOr<std::unique_ptr<Resolver>> {
      return std::make_unique<Pushing>(sink_);
    };
    options.channel.balancer = std::move(balancer);
    options.registry_options.coalesce = absl::ZeroDuration();  // each update is measured
    options.connection.connect_timeout = absl::Hours(1);
    factory_ = std::move(ChannelFactory::Create(std::move(options))).value();
    channel_ = std::move(factory_->GetChannel("service")).value();
    (void)channel_->WaitForReady(absl::ZeroDuration());  // has the resolver started
    for (size_t i = 0; i < size; ++i) set_.push_back(NewEndpoint());
    sink_->OnEndpoints(set_);
    AwaitLoop();
  }

  void Replace(size_t count) {
    std::vector<size_t> places(set_.size());
    for (size_t i = 0; i < places.size(); ++i) places[i] = i;
    std::shuffle(places.begin(), places.end(), random_);
    for (size_t i = 0; i < count; ++i) set_[places[i]] = NewEndpoint();
  }
  void Shuffle() { std::shuffle(set_.begin(), set_.end(), random_); }

  void Deliver() {
    const double began = Spent(CLOCK_THREAD_CPUTIME_ID);
    sink_->OnEndpoints(set_);
    caller_ += Spent(CLOCK_THREAD_CPUTIME_ID) - began;
  }
  // Until it has done all that was to be done by now, and what follows from that.
  void AwaitLoop() {
    for (int turn = 0; turn < 8; ++turn) {
      std::promise<void> done;
      env_->loop->PostFunction([&done] { done.set_value(); });
      done.get_future().wait();
    }
  }
  double caller() const { return caller_; }

 private:
  std::shared_ptr<const Endpoint> NewEndpoint() {
    const uint32_t n = next_++;
    Endpoint endpoint;
    endpoint.address = "10." + std::to_string(n >> 16 & 255) + "." + std::to_string(n >> 8 & 255) +
                       "." + std::to_string(n & 255) + ":8080";
    endpoint.locality = {.region = "eu-central-1", .zone = "eu-central-1a"};
    endpoint.metadata = {{"version", "v1.2.3"}};
    return std::make_shared<const Endpoint>(std::move(endpoint));
  }

  std::shared_ptr<NoNetworkEnv> env_;
  std::shared_ptr<ResolverSink> sink_;
  std::shared_ptr<ChannelFactory> factory_;
  std::shared_ptr<Channel> channel_;
  EndpointSet set_;
  uint32_t next_ = 1;
  std::mt19937_64 random_{1};
  double caller_ = 0;
};

using MakeBalancer = BalancerFactory (*)();
constexpr bool kSilent = false;
constexpr bool kGreets = true;

void Update(benchmark::State& state, MakeBalancer balancer, size_t size, size_t replaced,
            bool greets, bool shuffled) {
  Service service(size, greets, balancer());
  double all = 0;
  for (auto _ : state) {
    service.Replace(replaced);
    if (shuffled) service.Shuffle();
    const double began = Spent(CLOCK_PROCESS_CPUTIME_ID);
    service.Deliver();
    service.AwaitLoop();
    const double spent = Spent(CLOCK_PROCESS_CPUTIME_ID) - began;
    all += spent;
    state.SetIterationTime(spent);
  }
  const auto updates = static_cast<double>(state.iterations());
  state.counters["caller_ms"] = service.caller() * 1e3 / updates;
  state.counters["loop_ms"] = (all - service.caller()) * 1e3 / updates;
}

void Second(benchmark::State& state, MakeBalancer balancer) {
  using std::chrono::steady_clock;
  Service service(10'000, kGreets, balancer());
  steady_clock::time_point next = steady_clock::now();
  for (auto _ : state) {
    service.Replace(100);
    const double began = Spent(CLOCK_PROCESS_CPUTIME_ID);
    service.Deliver();
    next += std::chrono::seconds(1);
    std::this_thread::sleep_until(next);
    state.SetIterationTime(Spent(CLOCK_PROCESS_CPUTIME_ID) - began);
  }
}

#define UPDATE(name, ...)                      \
  BENCHMARK_CAPTURE(Update, name, __VA_ARGS__) \
      ->UseManualTime()                        \
      ->Unit(benchmark::kMillisecond)          \
      ->Iterations(200)

UPDATE(Same, DefaultBalancer, 10'000, 0, kSilent, false);
UPDATE(RoundRobinSilent, RoundRobin, 10'000, 100, kSilent, false);
UPDATE(LeastRequestSilent, LeastRequest, 10'000, 100, kSilent, false);
UPDATE(DefaultSilent, DefaultBalancer, 10'000, 100, kSilent, false);
UPDATE(DefaultGreets, DefaultBalancer, 10'000, 100, kGreets, false);
UPDATE(Of100Silent, DefaultBalancer, 100, 100, kSilent, false);
UPDATE(Of100Greets, DefaultBalancer, 100, 100, kGreets, false);
UPDATE(ShuffledSilent, DefaultBalancer, 10'000, 100, kSilent, true);
BENCHMARK_CAPTURE(Second, Default, DefaultBalancer)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(15);

}  // namespace
}  // namespace weft

BENCHMARK_MAIN();
