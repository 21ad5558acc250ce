// balance_sim: what the library's balancers do with a simulated fleet (balance_sim/model.h), in
// virtual time: same seeds, same figures.
//
//   balance_sim [--scenario=a200] [--seeds=1] [--jobs=1] [--headroom] [--all] [--svg=FILE]
//
// Prints a table for each scenario: latency in ms at 70, 80 and 90 % load, and what follows at the
// last of them. Without arguments the two shortest scenarios (half a minute on one core).
//   --scenario   those whose names begin like this (balance_sim/scenarios.cc has them); g: how
//                evenly subsets spread connections (balance_sim/subsets.h)
//   --headroom   also, with the first seed, the highest load with a p99 of 5 and 2 times that of
//                idle servers, where a scenario has a goal for it; and a verdict on each goal
//   --all        all scenarios, headroom, and a verdict on each goal (with three seeds some 20
//                minutes of one core)
//   --svg        p99 at 90 % load by the number of clients, as a plot; of the scenarios a
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "balance_sim/goals.h"
#include "balance_sim/subsets.h"
#include "balance_sim/svg.h"
#include "balance_sim/table.h"
#include "sim/flags.h"

namespace weft::balance_sim {
namespace {

// The scenario that is about no balancer.
constexpr std::string_view kSubsets = "g";

struct Flags {
  TableOptions table;
  bool all = false;
  std::string scenario;
  std::string svg;
};

bool TakeArgument(std::string_view arg, Flags* flags) {
  if (arg == "--headroom") return flags->table.headroom = true;
  if (arg == "--all") return flags->all = flags->table.headroom = true;
  if (sim::TakeFlag(&arg, "--seeds=")) return sim::ParseFlag(arg, 1, 1000, &flags->table.seeds);
  if (sim::TakeFlag(&arg, "--jobs=")) return sim::ParseFlag(arg, 1, 64, &flags->table.jobs);
  if (sim::TakeFlag(&arg, "--scenario=")) {
    flags->scenario = std::string(arg);
    if (arg == kSubsets) return true;
    for (const Scenario& scenario : AllScenarios()) {
      if (scenario.key.starts_with(arg)) return true;
    }
    return false;
  }
  if (sim::TakeFlag(&arg, "--svg=")) {
    flags->svg = std::string(arg);
    return !arg.empty();
  }
  return false;
}

int Run(const Flags& flags) {
  std::vector<Table> tables;
  for (const Scenario& scenario : AllScenarios()) {
    const bool wanted = flags.scenario.empty() ? flags.all || scenario.is_short
                                               : scenario.key.starts_with(flags.scenario);
    if (!wanted) continue;
    tables.push_back(Measure(scenario, AllContenders(), flags.table));
    Print(tables.back());
    std::fflush(stdout);
  }
  if (flags.all || flags.scenario == kSubsets) PrintSubsets();
  if (flags.table.headroom) PrintGoals(tables);
  if (flags.svg.empty()) return EXIT_SUCCESS;
  std::ofstream out(flags.svg);
  out << PlotByClients(tables);
  if (out.flush()) return EXIT_SUCCESS;
  std::fprintf(stderr, "balance_sim: cannot write %s\n", flags.svg.c_str());
  return EXIT_FAILURE;
}

}  // namespace
}  // namespace weft::balance_sim

int main(int argc, char** argv) {
  weft::balance_sim::Flags flags;
  for (int i = 1; i < argc; ++i) {
    if (weft::balance_sim::TakeArgument(argv[i], &flags)) continue;
    std::fprintf(stderr, "balance_sim: %s? See the top of benchmarks/balance_sim/balance_sim.cc\n",
                 argv[i]);
    return 2;
  }
  return weft::balance_sim::Run(flags);
}
