#include "balance_sim/goals.h"

#include <algorithm>
#include <cstdio>
#include <string>

namespace weft::balance_sim {
namespace {

constexpr size_t k80 = 1;
constexpr size_t k90 = 2;

constexpr const char* kOwn = "fresh load";
constexpr const char* kBouncing = "fresh load, bounce 2";
constexpr const char* kRoundRobin = "round robin";
constexpr const char* kLeast = "least request";

enum class Goal : uint8_t { kAtMost, kAtLeast };

void Judge(const char* what, const sim::Spread& measured, Goal sense, double goal) {
  const double mean = measured.mean();
  const bool met = sense == Goal::kAtMost ? mean <= goal : mean >= goal;
  std::printf("  %-62s%8.3f ±%-6.3f %s %-7.3f%s\n", what, mean, measured.deviation(),
              sense == Goal::kAtMost ? "<=" : ">=", goal, met ? "ok" : "MISSED");
}

void Tell(const char* what, const sim::Spread& measured) {
  std::printf("  %-62s%8.3f ±%-6.3f (no goal)\n", what, measured.mean(), measured.deviation());
}

// Seed by seed: with each, both met the same calls.
template <typename Function>
sim::Spread Each(const sim::Spread& left, const sim::Spread& right, const Function& function) {
  sim::Spread each;
  for (size_t i = 0; i < left.count(); ++i) each.Add(function(left[i], right[i]));
  return each;
}

const sim::Spread& P99(const Table& table, const std::string& name, size_t load) {
  return table.Find(name).cells[load].p99;
}

sim::Spread Ratio(const sim::Spread& own, const sim::Spread& other) {
  return Each(own, other, [](double mine, double theirs) { return mine / theirs; });
}

// Of fresh load's p99.
sim::Spread Over(const Table& table, const char* other, size_t load) {
  return Ratio(P99(table, kOwn, load), P99(table, other, load));
}

// The paper's, with the better of its probe ages.
const sim::Spread& BestPrequal(const Table& table, size_t load) {
  const sim::Spread& old = P99(table, "Prequal, probes 1 s", load);
  const sim::Spread& young = P99(table, "Prequal, probes 0.1 s", load);
  return old.mean() < young.mean() ? old : young;
}

void JudgePrequal(const Table& table, const char* own, size_t load, double goal) {
  Judge("p99 by Prequal's, with probes as in the paper",
        Ratio(P99(table, own, load), BestPrequal(table, load)), Goal::kAtMost, goal);
  Tell("p99 by Prequal's, with probes and reports in answers",
       Ratio(P99(table, own, load), P99(table, "Prequal, both", load)));
}

sim::Spread Times(const sim::Spread& spread, double times) {
  return Each(spread, spread, [times](double value, double) { return value * times; });
}

sim::Spread One(double value) {
  sim::Spread spread;
  spread.Add(value);
  return spread;
}

void JudgeHeadroom(const Table& table, double goal) {
  Judge("headroom", One(table.Find(kOwn).headroom5), Goal::kAtLeast, goal);
}

void JudgeGain(const Table& table, double goal) {
  Judge("headroom, over round robin's",
        One(table.Find(kOwn).headroom5 - table.Find(kRoundRobin).headroom5), Goal::kAtLeast, goal);
}

void JudgeSingle(const Table& table, double by_round_robin, double by_least, double by_prequal) {
  Judge("p99 at 90 %, by round robin's", Over(table, kRoundRobin, k90), Goal::kAtMost,
        by_round_robin);
  Judge("p99 at 90 %, by least request's", Over(table, kLeast, k90), Goal::kAtMost, by_least);
  JudgePrequal(table, table.scenario.key == "a2000" ? kBouncing : kOwn, k90, by_prequal);
}

// Ejection takes five calls of a client's to the failing server. Where the balancer keeps from it
// by itself those come late, or never (inf): what its failures cost is judged as well. Least
// request, which does not, shows what ejection takes at least.
void JudgeSinkhole(const Table& table, double most_percent) {
  const Cell& cell = table.Find(kOwn).cells.front();
  Judge("% of calls that the failing server got, its first seconds too", Times(cell.at_first, 100),
        Goal::kAtMost, most_percent);
  Judge("% of calls in error from 5 s on after it began", Times(cell.errors_later, 100),
        Goal::kAtMost, most_percent);
  const double within = static_cast<double>(kEjectedWithin) / static_cast<double>(kSecond);
  Judge("s until half of the clients had ejected it", cell.half_after, Goal::kAtMost, within);
  Judge("s until the last of those that did", cell.last_after, Goal::kAtMost, within);
  const Cell& least = table.Find(kLeast).cells.front();
  Tell("s until half of least request's clients had", least.half_after);
  Tell("s until the last of those that did", least.last_after);
}

void JudgeDeploy(const Table& table, const Table* no_slow_start) {
  JudgeHeadroom(table, 0.90);
  // What the goal was set by, and what Envoy does unless told otherwise.
  if (no_slow_start != nullptr) {
    Judge("p99 at 80 %, by least request's without slow start",
          Ratio(P99(table, kOwn, k80), P99(*no_slow_start, kLeast, 0)), Goal::kAtMost, 0.10);
  }
  Tell("p99 at 80 %, by least request's with the same slow start", Over(table, kLeast, k80));
  JudgePrequal(table, kOwn, k80, 1.0);
}

// Round robin by weights collapses as soon as servers on full machines are over their allocation.
void JudgeRamp(const Table& table) {
  const auto step = [&](const char* name, size_t load) {
    return Ratio(P99(table, name, load), P99(table, name, load - 1));
  };
  constexpr size_t kFirstAbove = 3;  // 1.03 of the allocation
  Tell("p99 at 1.03, by its own at 0.93", step(kOwn, kFirstAbove));
  Tell("the same of weighted round robin", step("weighted round robin", kFirstAbove));
  Tell("p99 at 1.03, by weighted round robin's", Over(table, "weighted round robin", kFirstAbove));
  const size_t last = table.scenario.loads.size() - 1;
  sim::Spread steepest = step(kOwn, 1);
  for (size_t load = 2; load <= last; ++load) {
    sim::Spread next = step(kOwn, load);
    if (next.mean() > steepest.mean()) steepest = std::move(next);
  }
  Judge("steepest step of p99 on the ramp, times", steepest, Goal::kAtMost, 2);
  Judge("% of calls in error at 1.74", Times(table.Find(kOwn).cells[last].errors, 100),
        Goal::kAtMost, 0.1);
}

void JudgeTable(const Table& table, const std::vector<Table>& tables) {
  const std::string& key = table.scenario.key;
  if (key == "a10") JudgeSingle(table, 0.40, 0.65, 0.90);
  if (key == "a200") {
    JudgeSingle(table, 0.50, 0.50, 0.90);
    JudgeGain(table, 0.10);
  }
  if (key == "a2000") {
    JudgeSingle(table, 0.60, 0.55, 0.85);
    JudgeGain(table, 0.12);
  }
  if (key == "b") {
    JudgeGain(table, 0.45);
    Judge("p99 at 90 %, by least request's", Over(table, kLeast, k90), Goal::kAtMost, 0.10);
    JudgePrequal(table, kOwn, k90, 0.95);
  }
  if (key == "c") {
    JudgeHeadroom(table, 0.93);
    Judge("p99 at 80 %, by least request's", Over(table, kLeast, k80), Goal::kAtMost, 0.15);
    JudgePrequal(table, kOwn, k80, 0.95);
  }
  if (key == "d") JudgeRamp(table);
  if (key.starts_with("e")) JudgeSinkhole(table, key == "e2000" ? 0.5 : 0.25);
  if (key == "f") {
    const auto other = std::find_if(tables.begin(), tables.end(), [](const Table& candidate) {
      return candidate.scenario.key == "f-";
    });
    JudgeDeploy(table, other == tables.end() ? nullptr : &*other);
  }
}

}  // namespace

void PrintGoals(const std::vector<Table>& tables) {
  std::printf(
      "\ngoals of fresh load: means and deviations over seeds; headroom of the first seed\n");
  for (const Table& table : tables) {
    std::printf("%s: %s\n", table.scenario.key.c_str(), table.scenario.title.c_str());
    JudgeTable(table, tables);
  }
}

}  // namespace weft::balance_sim
