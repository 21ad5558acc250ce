#include "balance_sim/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "weft/balancers.h"

namespace weft::balance_sim {
namespace {

// Where headroom is looked for, p99 is measured at these too.
constexpr double kMoreLoads[] = {0.2, 0.35, 0.5, 0.6, 0.7, 0.85, 0.95, 0.98};
constexpr double kIdle = 0.05;

void Add(const Result& result, Cell* cell) {
  cell->p50.Add(result.Millis(0.5));
  cell->p99.Add(result.Millis(0.99));
  cell->p999.Add(result.Millis(0.999));
  cell->errors.Add(result.PerCall(result.errors));
  cell->at_first.Add(result.PerCall(result.at_first));
  cell->busiest.Add(result.BusiestByMean());
  cell->probes.Add(result.PerCall(result.probes));
  cell->bounces.Add(result.PerCall(result.bounces));
}

Setup SetupOf(const Scenario& scenario, const Contender& contender, double load, int seed) {
  Setup setup = scenario.setup;
  setup.balancer = contender.balancer;
  setup.probes = contender.probes;
  setup.load = load;
  setup.seed = static_cast<uint64_t>(seed);
  return setup;
}

// With all contenders the same: what round robin sees where nothing waits.
double IdleP99(const Scenario& scenario) {
  return Simulate(SetupOf(scenario, {"", RoundRobin()}, kIdle, 1)).Millis(0.99);
}

// The load at which p99, known at some loads, comes to `most`; between two of them its logarithm is
// taken for a straight line. `known`: load and p99, loads ascending.
double Headroom(const std::vector<std::pair<double, double>>& known, double most) {
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i].second <= most) continue;
    if (i == 0) return 0;
    const double low = std::log(known[i - 1].second);
    const double share = (std::log(most) - low) / (std::log(known[i].second) - low);
    return known[i - 1].first + share * (known[i].first - known[i - 1].first);
  }
  return known.back().first;
}

}  // namespace

const Row* Table::Find(const std::string& name) const {
  for (const Row& row : rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

Table Measure(const Scenario& scenario, const std::vector<Contender>& contenders,
              const TableOptions& options) {
  Table table = {.scenario = scenario};
  std::vector<double> loads = scenario.loads;
  // The ramp and the sinkhole are about other things.
  const bool headroom = options.headroom && loads.size() == 3;
  if (headroom) {
    for (const double load : kMoreLoads) {
      if (std::find(loads.begin(), loads.end(), load) == loads.end()) loads.push_back(load);
    }
  }
  std::vector<Setup> setups;
  for (const Contender& contender : contenders) {
    table.rows.push_back({.name = contender.name, .cells = std::vector<Cell>(loads.size())});
    for (int seed = 1; seed <= options.seeds; ++seed) {
      for (const double load : loads) setups.push_back(SetupOf(scenario, contender, load, seed));
    }
  }
  const double idle = headroom ? IdleP99(scenario) : 0;
  std::vector<std::pair<double, double>> known;  // of one contender and seed
  sim::RunAll(setups, options.jobs, [&](size_t index, const Result& result) {
    const size_t load = index % loads.size();
    Row& row = table.rows[index / loads.size() / static_cast<size_t>(options.seeds)];
    Add(result, &row.cells[load]);
    known.emplace_back(loads[load], result.Millis(0.99));
    if (known.size() < loads.size()) return;
    std::sort(known.begin(), known.end());
    if (headroom) {
      row.headroom5.Add(Headroom(known, 5 * idle));
      row.headroom2.Add(Headroom(known, 2 * idle));
    }
    known.clear();
  });
  for (Row& row : table.rows) row.cells.resize(scenario.loads.size());
  return table;
}

void Print(const Table& table) {
  const std::vector<double>& loads = table.scenario.loads;
  std::printf("\n%s: %s\n%-22s", table.scenario.key.c_str(), table.scenario.title.c_str(), "");
  if (loads.size() > 3) {
    for (const double load : loads) std::printf("   %4.2f        ", load / kLoadByAllocation);
    std::printf("\n");
    for (const Row& row : table.rows) {
      std::printf("%-22s", row.name.c_str());
      for (const Cell& cell : row.cells)
        std::printf("%7.0f (%4.1f)", cell.p99.mean(), cell.errors.mean() * 100);
      std::printf("\n");
    }
    return;
  }
  for (const double load : loads) std::printf(" %2.0f %%: p50   p99        p99.9", load * 100);
  std::printf("  headroom 5x   2x    errors   first   busiest  probes  bounces\n");
  for (const Row& row : table.rows) {
    std::printf("%-22s", row.name.c_str());
    for (const Cell& cell : row.cells)
      std::printf("  %6.1f %6.0f ±%-5.0f%6.0f", cell.p50.mean(), cell.p99.mean(),
                  cell.p99.deviation(), cell.p999.mean());
    const Cell& last = row.cells.back();
    std::printf("   %4.2f ±%4.2f %4.2f  %6.3f%%  %6.3f%%  %5.2f  %6.2f  %6.3f\n",
                row.headroom5.mean(), row.headroom5.deviation(), row.headroom2.mean(),
                last.errors.mean() * 100, last.at_first.mean() * 100, last.busiest.mean(),
                last.probes.mean(), last.bounces.mean());
  }
}

}  // namespace weft::balance_sim
