// What a pick, a report and an update of each balancer cost, over 10, 1,000 and 10,000 hosts; and a
// subset.
#include <benchmark/benchmark.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
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
    SetReport(Report(/*in_flight=*/2), Start());
  }
  static LoadReport Report(uint32_t in_flight) {
    return {.in_flight = in_flight,
            .workers = 4,
            .service_time = std::chrono::milliseconds(10),
            .latency = std::chrono::milliseconds(12),
            .utilization = 0.5,
            .qps = 100};
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
      ready.push_back(std::make_unique<ReadyHost>(address));
      endpoints.push_back({.address = address, .weight = weight});
      hosts.push_back({&endpoints.back(), ready.back().get(), weight});
    }
  }
  std::vector<std::unique_ptr<ReadyHost>> ready;
  std::deque<Endpoint> endpoints;
  std::vector<PickerHost> hosts;
};

// As in life: a pick, and some picks later the answer, with what its host says of its load. Those
// of a batch are timed together, picks and reports apart. Its own time goes on by 10 µs with each
// pick: what is done once in a while is part of the cost.
enum class Timed { kPicks, kReports };

template <Timed kTimed>
void PickAndReport(benchmark::State& state, const BalancerFactory& factory,
                   const std::vector<double>& weights) {
  constexpr size_t kBatch = 64;
  using Clock = std::chrono::steady_clock;
  const Service service(static_cast<size_t>(state.range(0)), weights);
  const std::unique_ptr<Balancer> balancer = factory(1);
  const std::shared_ptr<const Picker> picker = balancer->Update(service.hosts);
  PickFacts facts = {.now = ReadyHost::Start()};
  std::array<size_t, kBatch> picked;
  while (state.KeepRunningBatch(kBatch)) {
    const Clock::time_point picks_begin = Clock::now();
    for (size_t& index : picked) {
      facts.now += std::chrono::microseconds(10);
      facts.random = base::NextRandom(facts.random);
      facts.hash_key = facts.random;
      index = picker->Pick(facts).index;
    }
    const Clock::time_point picks_end = Clock::now();
    for (const size_t index : picked) {
      facts.random = base::NextRandom(facts.random);
      const auto in_flight = static_cast<uint32_t>(facts.random % 8);
      service.ready[index]->SetReport(ReadyHost::Report(in_flight), facts.now);
    }
    const Clock::time_point reports_begin = Clock::now();
    for (const size_t index : picked) picker->OnReport(index, facts.now);
    const Clock::time_point reports_end = Clock::now();
    state.SetIterationTime(std::chrono::duration<double>(kTimed == Timed::kPicks
                                                             ? picks_end - picks_begin
                                                             : reports_end - reports_begin)
                               .count());
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
  const auto add = [](const std::string& what, Measured run, const Named& balancer) {
    return benchmark::RegisterBenchmark((what + balancer.name).c_str(),
                                        [run, balancer](benchmark::State& state) {
                                          run(state, balancer.factory, balancer.weights);
                                        })
        ->Arg(10)
        ->Arg(1000)
        ->Arg(10'000);
  };
  for (const Named& balancer : balancers)
    add("Pick/", PickAndReport<Timed::kPicks>, balancer)->UseManualTime();
  // The others do nothing with a report.
  for (const Named& balancer : {Named{"FreshLoad", FreshLoad()}, Named{"Prequal", Prequal()}})
    add("Report/", PickAndReport<Timed::kReports>, balancer)->UseManualTime();
  for (const Named& balancer : balancers) add("Update/", Update, balancer);
  for (const Named& balancer : balancers) add("UpdateSame/", UpdateSame, balancer);
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
