#include "balance_sim/goals.h"

#include <algorithm>
#include <cstdio>
#include <string>

namespace weft::balance_sim {
namespace {

constexpr size_t k80 = 1;
constexpr size_t k90 = 2;

void Judge(const char* what, double measured, double goal, bool at_most) {
  const bool met = at_most ? measured <= goal : measured >= goal;
  std::printf("  %-58s%8.3f  %s %-7.3f%s\n", what, measured, at_most ? "<=" : ">=", goal,
              met ? "ok" : "MISSED");
}

double P99(const Table& table, const char* name, size_t load) {
  return table.Find(name)->cells[load].p99.mean();
}

// Of its probe ages, the better.
double BestPrequal(const Table& table, size_t load) {
  return std::min(P99(table, "Prequal, probes 1 s", load),
                  P99(table, "Prequal, probes 0.1 s", load));
}

double Gain(const Table& table, const char* over) {
  return table.Find("fresh load")->headroom5.mean() - table.Find(over)->headroom5.mean();
}

void JudgeSingle(const Table& table, double by_round_robin, double by_least, double by_prequal) {
  const double own = P99(table, "fresh load", k90);
  Judge("p99 at 90 %, by round robin's", own / P99(table, "round robin", k90), by_round_robin,
        true);
  Judge("p99 at 90 %, by least request's", own / P99(table, "least request", k90), by_least, true);
  const bool bounces = table.scenario.key == "a2000";
  Judge(bounces ? "p99 at 90 % with bounces, by Prequal's" : "p99 at 90 %, by Prequal's",
        (bounces ? P99(table, "fresh load, bounce 2", k90) : own) / BestPrequal(table, k90),
        by_prequal, true);
}

void JudgeTable(const Table& table) {
  const std::string& key = table.scenario.key;
  std::printf("%s: %s\n", key.c_str(), table.scenario.title.c_str());
  const Row& own = *table.Find("fresh load");
  if (key == "a10") JudgeSingle(table, 0.40, 0.65, 0.90);
  if (key == "a200") {
    JudgeSingle(table, 0.50, 0.50, 0.90);
    Judge("headroom, over round robin's", Gain(table, "round robin"), 0.10, false);
  }
  if (key == "a2000") {
    JudgeSingle(table, 0.60, 0.55, 0.85);
    Judge("headroom, over round robin's", Gain(table, "round robin"), 0.12, false);
  }
  if (key == "b") {
    const double p99 = P99(table, "fresh load", k90);
    Judge("headroom, over round robin's", Gain(table, "round robin"), 0.45, false);
    Judge("p99 at 90 %, by least request's", p99 / P99(table, "least request", k90), 0.10, true);
    Judge("p99 at 90 %, by Prequal's", p99 / BestPrequal(table, k90), 0.95, true);
  }
  if (key == "c") {
    const double p99 = P99(table, "fresh load", k80);
    Judge("headroom", own.headroom5.mean(), 0.93, false);
    Judge("p99 at 80 %, by least request's", p99 / P99(table, "least request", k80), 0.15, true);
    Judge("p99 at 80 %, by Prequal's", p99 / BestPrequal(table, k80), 0.95, true);
  }
  if (key == "e200" || key == "e2000")
    Judge("% of calls that the failing server got", own.cells[0].at_first.mean() * 100,
          key == "e200" ? 0.25 : 0.5, true);
  if (key == "f") {
    const double p99 = P99(table, "fresh load", k80);
    Judge("headroom", own.headroom5.mean(), 0.90, false);
    Judge("p99 at 80 %, by least request's", p99 / P99(table, "least request", k80), 0.10, true);
    Judge("p99 at 80 %, by Prequal's", p99 / BestPrequal(table, k80), 1.0, true);
  }
}

}  // namespace

void PrintGoals(const std::vector<Table>& tables) {
  std::printf("\ngoals of fresh load\n");
  for (const Table& table : tables) JudgeTable(table);
}

}  // namespace weft::balance_sim
