// What a pick and an update of each balancer cost, over 10, 1,000 and 10,000 hosts; and a subset.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mix.h"
#include "cluster/host.h"
#include "cluster/subset.h"
#include "weft/balancers.h"
#include "weft/reported_load.h"

namespace weft {
namespace {

// A host as the library has it, without a connection.
class ReadyHost final : public cluster::Host {
 public:
  explicit ReadyHost(std::string address) : Host(std::move(address)) {
    SetState(HostState::kReady);
    latency_average().Add(std::chrono::milliseconds(10), Start());
    SetReport({.utilization = 0.5, .qps = 100}, Start());
  }
  static MonoTime Start() { return MonoTime(std::chrono::seconds(1000)); }
  void Connect() override {}
};

struct Service {
  // `weights`: of the hosts by turns.
  explicit Service(size_t count, const std::vector<double>& weights) {
    for (size_t i = 0; i < count; ++i) {
      const std::string address =
          "10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256) + ":8080";
      const double weight = weights[i % weights.size()];
      hosts.push_back({std::make_shared<Endpoint>(Endpoint{.address = address, .weight = weight}),
                       std::make_shared<ReadyHost>(address), weight});
    }
  }
  std::vector<PickerHost> hosts;
};

// Its own time goes on by 10 µs with each pick: what is done once in a while is part of the cost.
void Pick(benchmark::State& state, const BalancerFactory& factory,
          const std::vector<double>& weights) {
  const Service service(static_cast<size_t>(state.range(0)), weights);
  const std::shared_ptr<const Picker> picker = factory(1)->Update(service.hosts);
  PickFacts facts = {.now = ReadyHost::Start()};
  for (auto _ : state) {
    facts.now += std::chrono::microseconds(10);
    facts.random = base::NextRandom(facts.random);
    facts.hash_key = facts.random;
    benchmark::DoNotOptimize(picker->Pick(facts));
  }
}

// One host comes and goes.
void Update(benchmark::State& state, const BalancerFactory& factory,
            const std::vector<double>& weights) {
  const Service service(static_cast<size_t>(state.range(0)), weights);
  const std::vector<PickerHost> without(service.hosts.begin(), service.hosts.end() - 1);
  const std::unique_ptr<Balancer> balancer = factory(1);
  bool all = false;
  for (auto _ : state)
    benchmark::DoNotOptimize(balancer->Update((all = !all) ? service.hosts : without));
}

// The same hosts again, as when one of them starts slowly.
void UpdateSame(benchmark::State& state, const BalancerFactory& factory,
                const std::vector<double>& weights) {
  const Service service(static_cast<size_t>(state.range(0)), weights);
  const std::unique_ptr<Balancer> balancer = factory(1);
  for (auto _ : state) benchmark::DoNotOptimize(balancer->Update(service.hosts));
}

void Subset(benchmark::State& state, bool ring) {
  const Service service(static_cast<size_t>(state.range(0)), {1});
  std::vector<std::string_view> addresses;
  for (const PickerHost& host : service.hosts) addresses.push_back(host.endpoint->address);
  for (auto _ : state) {
    benchmark::DoNotOptimize(ring ? cluster::RingSubset(addresses, 7, 20)
                                  : cluster::RendezvousSubset(addresses, "frontend-7", 20));
  }
}

void RegisterAll() {
  struct Named {
    const char* name;
    BalancerFactory factory;
    std::vector<double> weights = {1};
  };
  const Named balancers[] = {
      {"RoundRobin", RoundRobin()},
      {"Random", Random()},
      {"Random/weights", Random(), {1, 2, 3}},
      {"LeastRequest", LeastRequest()},
      {"LeastRequest/weights", LeastRequest(), {1, 2, 3}},
      {"PeakEwma", PeakEwma()},
      {"WeightedRoundRobin", WeightedRoundRobin()},
      {"FreshLoad", FreshLoad()},
      {"Prequal", Prequal()},
      {"PickFirst", PickFirst()},
      {"RingHash", RingHash()},
      {"RingHash/weights", RingHash(), {1, 2, 3}},
      {"Maglev", Maglev()},
      {"Maglev/weights", Maglev(), {1, 2, 3}},
  };
  using Measured = void (*)(benchmark::State&, const BalancerFactory&, const std::vector<double>&);
  const std::pair<const char*, Measured> measured[] = {
      {"Pick/", Pick}, {"Update/", Update}, {"UpdateSame/", UpdateSame}};
  for (const auto& [what, run] : measured) {
    for (const Named& balancer : balancers) {
      benchmark::RegisterBenchmark((std::string(what) + balancer.name).c_str(),
                                   [run = run, balancer](benchmark::State& state) {
                                     run(state, balancer.factory, balancer.weights);
                                   })
          ->Arg(10)
          ->Arg(1000)
          ->Arg(10'000);
    }
  }
  benchmark::RegisterBenchmark("Subset/rendezvous", Subset, false)->Arg(10'000);
  benchmark::RegisterBenchmark("Subset/ring", Subset, true)->Arg(10'000);
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  weft::RegisterAll();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
