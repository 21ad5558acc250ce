#include "balance_sim/contenders.h"

#include <chrono>
#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "balance_sim/client_host.h"
#include "base/mix.h"
#include "weft/balancers.h"
#include "weft/reported_load.h"

namespace weft::balance_sim {
namespace {

class OraclePicker final : public Picker {
 public:
  explicit OraclePicker(const std::vector<PickerHost>& hosts) : hosts_(hosts) {}

  PickResult Pick(const PickFacts& facts) const override {
    size_t best = 0;
    double least = 0;
    // From anywhere on, as many are alike.
    const size_t first = base::Below(facts.random, hosts_.size());
    for (size_t i = 0; i < hosts_.size(); ++i) {
      const size_t index = (first + i) % hosts_.size();
      const double takes = TakesAt(index);
      if (i > 0 && takes >= least) continue;
      least = takes;
      best = index;
    }
    return PickResult::Host(best);
  }

 private:
  // A worker's time that is before the call and its own, over the speed.
  double TakesAt(size_t index) const {
    const Server& server = static_cast<const ClientHost*>(hosts_[index].host)->server();
    const double more = server.in_flight() + 1.0 - server.workers;
    return (1 + (more > 0 ? more / server.workers : 0)) / server.speed_now;
  }

  const std::vector<PickerHost> hosts_;
};

class OracleBalancer final : public Balancer {
 public:
  std::shared_ptr<const Picker> Update(const std::vector<PickerHost>& hosts) override {
    return std::make_shared<OraclePicker>(hosts);
  }
};

// As in the paper.
constexpr int kProbes = 3;
Contender ProbingPrequal(const std::string& name, std::chrono::nanoseconds max_age) {
  return {name, Prequal({.max_age = max_age, .reports_per_call = kProbes}), kProbes,
          /*answers_report=*/false};
}

}  // namespace

BalancerFactory Oracle() {
  return [](uint64_t) { return std::make_unique<OracleBalancer>(); };
}

std::vector<Contender> AllContenders() {
  return {
      {"random", Random()},
      {"round robin", RoundRobin()},
      // Runs are too short for a blackout of 10 s.
      {"weighted round robin", WeightedRoundRobin({.blackout_period = absl::Seconds(1)})},
      {"least request", LeastRequest()},
      {"peak EWMA", PeakEwma()},
      {"Prequal", Prequal()},
      ProbingPrequal("Prequal, probes 1 s", std::chrono::seconds(1)),
      ProbingPrequal("Prequal, probes 0.1 s", std::chrono::milliseconds(100)),
      {"Prequal, both", Prequal({.reports_per_call = kProbes + 1}), kProbes},
      {"fresh load", FreshLoad()},
      {"fresh load, bounce 2", FreshLoad({.bounce_at = 2})},
      {"oracle", Oracle()},
  };
}

}  // namespace weft::balance_sim
