// hedge_sim: what hedging is good for, and what it costs, with the library's own policies on a
// simulated fleet (hedge_sim/model.h) in virtual time.
//
//   hedge_sim [--seeds=5] [--cause=T1] [--load=0.85] [--drain] [--true-load] [--percentile=0.95]
//             [--jobs=1] [--svg=FILE] [--quick]
//
// Prints the table of causes and loads and, where neither --cause nor --load is given, what happens
// in bursts and outages.
//   --drain       cancelled attempts are worked on to the end
//   --true-load   clients balance by the hosts' true load
//   --percentile  hedges at that percentile in place of the adaptive policy
//   --quick       one seed, a few seconds, no verdicts, as some things take a minute to be learnt;
//                 the exit status says whether hedging does what it must
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "hedge_sim/causes.h"
#include "hedge_sim/scenarios.h"
#include "hedge_sim/svg.h"
#include "policy/hedge_policy.h"
#include "sim/flags.h"

namespace weft::hedge_sim {
namespace {

struct Flags {
  RunOptions run;
  std::optional<Cause> cause;
  std::optional<double> load;
  std::string svg;
};

bool TakeArgument(std::string_view arg, Flags* flags) {
  if (arg == "--quick") return flags->run.quick = true;
  if (arg == "--drain") return flags->run.drain = true;
  if (arg == "--true-load") {
    flags->run.balancer = Balancer::kTrueLoad;
    return true;
  }
  if (sim::TakeFlag(&arg, "--seeds=")) return sim::ParseFlag(arg, 1, 1000, &flags->run.seeds);
  if (sim::TakeFlag(&arg, "--jobs=")) return sim::ParseFlag(arg, 1, 64, &flags->run.jobs);
  if (sim::TakeFlag(&arg, "--load="))
    return sim::ParseFlag(arg, 0.01, 0.99, &flags->load.emplace());
  if (sim::TakeFlag(&arg, "--percentile=")) {
    flags->run.hedge.when = HedgeOptions::When::kAtPercentile;
    return sim::ParseFlag(arg, 0.5, 0.999, &flags->run.hedge.percentile);
  }
  if (sim::TakeFlag(&arg, "--svg=")) {
    flags->svg = std::string(arg);
    return !arg.empty();
  }
  if (sim::TakeFlag(&arg, "--cause=")) {
    for (size_t i = 0; i < kCauses; ++i) {
      if (arg == kCauseNames[i]) flags->cause = static_cast<Cause>(i);
    }
    return flags->cause.has_value();
  }
  return false;
}

// What holds even of a short run.
bool IsSane(const Cell& cell) {
  const bool heals = cell.cause == Cause::kSlowAttempts || cell.cause == Cause::kPauses;
  if (cell.attempts.mean() > 1 + HedgeOptions().ratio) return false;
  if (heals && cell.load <= 0.5 && cell.p999_ratio.mean() > 0.7) return false;
  return cell.p999_ratio.mean() < 1.15 && cell.p50_ratio.mean() < 1.25;
}

int Run(Flags flags) {
  if (flags.run.quick) flags.run.seeds = 1;
  const std::vector<Cell> cells = MeasureCauses(flags.run, flags.cause, flags.load);
  PrintHeading();
  bool sane = true;
  for (const Cell& cell : cells) {
    Print(cell, !flags.run.quick);
    sane = sane && IsSane(cell);
  }
  if (!flags.svg.empty()) {
    std::ofstream out(flags.svg);
    out << PlotRatios(cells);
    if (!out.flush()) {
      std::fprintf(stderr, "hedge_sim: cannot write %s\n", flags.svg.c_str());
      return EXIT_FAILURE;
    }
  }
  if (flags.run.quick) {
    std::printf("\n%s\n", sane ? "sane" : "NOT sane: a row is not what it must be");
    return sane ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  if (!flags.cause.has_value() && !flags.load.has_value()) {
    RunBurst(flags.run);
    RunFreeze(flags.run);
    RunFailingHosts(flags.run);
    RunOutage(flags.run);
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace weft::hedge_sim

int main(int argc, char** argv) {
  weft::hedge_sim::Flags flags;
  for (int i = 1; i < argc; ++i) {
    if (weft::hedge_sim::TakeArgument(argv[i], &flags)) continue;
    std::fprintf(stderr, "hedge_sim: %s? See the top of benchmarks/hedge_sim/hedge_sim.cc\n",
                 argv[i]);
    return 2;
  }
  return weft::hedge_sim::Run(std::move(flags));
}
