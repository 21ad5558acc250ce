#include "balance_sim/table.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "balance_sim/headroom.h"
#include "weft/balancers.h"

namespace weft::balance_sim {
namespace {

constexpr double kIdle = 0.05;

// One contender with one seed.
struct Trial {
  Setup setup = {};  // but for the load
  std::vector<double> loads = {};
  double idle_p99 = 0;  // 0: headroom is not looked for
};
struct TrialResult {
  std::vector<Result> at = {};  // each load
  double headroom5 = 0;
  double headroom2 = 0;
};

Result SimulateAt(Setup setup, double load) {
  setup.load = load;
  return Simulate(setup);
}

TrialResult Simulate(const Trial& trial) {
  TrialResult result;
  P99ByLoad known;
  for (const double load : trial.loads) {
    result.at.push_back(SimulateAt(trial.setup, load));
    known[load] = result.at.back().Millis(0.99);
  }
  if (trial.idle_p99 == 0) return result;
  for (const auto& [times, headroom] :
       {std::pair(5, &result.headroom5), std::pair(2, &result.headroom2)}) {
    const double most = times * trial.idle_p99;
    while (const std::optional<double> load = NextLoad(known, most))
      known[*load] = SimulateAt(trial.setup, *load).Millis(0.99);
    *headroom = Headroom(known, most);
  }
  return result;
}

void AddEjections(const Result& result, uint32_t clients, Cell* cell) {
  std::vector<Nanos> after = result.ejected_after;
  std::sort(after.begin(), after.end());
  const auto seconds = [&](size_t i) {
    return i < after.size() ? static_cast<double>(after[i]) / static_cast<double>(kSecond)
                            : std::numeric_limits<double>::infinity();
  };
  const auto share = [](uint64_t part, uint64_t of) {
    return static_cast<double>(part) / static_cast<double>(std::max<uint64_t>(of, 1));
  };
  cell->ejecting.Add(share(after.size(), clients));
  cell->half_after.Add(seconds((clients - 1) / 2));
  cell->last_after.Add(seconds(std::max<size_t>(after.size(), 1) - 1));
  cell->errors_after.Add(share(result.errors_after, result.calls_after));
  cell->errors_later.Add(share(result.errors_later, result.calls_later));
}

void Add(const Result& result, const Scenario& scenario, Cell* cell) {
  cell->p50.Add(result.Millis(0.5));
  cell->p99.Add(result.Millis(0.99));
  cell->p999.Add(result.Millis(0.999));
  cell->errors.Add(result.PerCall(result.errors));
  cell->at_first.Add(result.PerCall(result.at_first));
  cell->busiest.Add(result.BusiestByMean());
  cell->probes.Add(result.PerCall(result.probes));
  cell->bounces.Add(result.PerCall(result.bounces));
  if (scenario.view == View::kEjection) AddEjections(result, scenario.setup.clients, cell);
}

Setup SetupOf(const Scenario& scenario, const Contender& contender, int seed) {
  Setup setup = scenario.setup;
  setup.balancer = contender.balancer;
  setup.probes = contender.probes;
  setup.answers_report = contender.answers_report;
  setup.seed = static_cast<uint64_t>(seed);
  return setup;
}

// With all contenders the same: what round robin sees where nothing waits.
double IdleP99(const Scenario& scenario) {
  return SimulateAt(SetupOf(scenario, {"", RoundRobin()}, 1), kIdle).Millis(0.99);
}

}  // namespace

const Row& Table::Find(const std::string& name) const {
  return *std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
}

Table Measure(const Scenario& scenario, const std::vector<Contender>& contenders,
              const TableOptions& options) {
  Table table = {.scenario = scenario};
  const double idle = options.headroom && scenario.headroom ? IdleP99(scenario) : 0;
  std::vector<Trial> trials;
  for (const Contender& contender : contenders) {
    table.rows.push_back(
        {.name = contender.name, .cells = std::vector<Cell>(scenario.loads.size())});
    for (int seed = 1; seed <= options.seeds; ++seed)
      trials.push_back({SetupOf(scenario, contender, seed), scenario.loads, seed == 1 ? idle : 0});
  }
  sim::RunAll(trials, options.jobs, [&](size_t index, const TrialResult& result) {
    Row& row = table.rows[index / static_cast<size_t>(options.seeds)];
    for (size_t i = 0; i < row.cells.size(); ++i) Add(result.at[i], scenario, &row.cells[i]);
    if (index % static_cast<size_t>(options.seeds) > 0) return;
    row.headroom5 = result.headroom5;
    row.headroom2 = result.headroom2;
  });
  return table;
}

}  // namespace weft::balance_sim
