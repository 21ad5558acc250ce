// Tables as text.
#include <cstdio>

#include "balance_sim/table.h"

namespace weft::balance_sim {
namespace {

void PrintRamp(const Table& table) {
  for (const double load : table.scenario.loads)
    std::printf("      %4.2f          ", load / kLoadByAllocation);
  std::printf("\n");
  for (const Row& row : table.rows) {
    std::printf("%-22s", row.name.c_str());
    for (const Cell& cell : row.cells) {
      std::printf("%7.0f ±%-5.0f(%4.1f)", cell.p99.mean(), cell.p99.deviation(),
                  cell.errors.mean() * 100);
    }
    std::printf("\n");
  }
}

void PrintEjections(const Table& table) {
  std::printf(
      "  p99           clients that   s until half   last    %% of calls in error:           %% of "
      "calls\n%-22s  ms            ejected it %%   of them did            all        after it  "
      " from 5 s on  to it\n",
      "");
  for (const Row& row : table.rows) {
    const Cell& cell = row.cells.front();
    std::printf(
        "%-22s%5.0f ±%-5.0f   %10.1f  %11.2f ±%-5.2f%6.2f   %6.3f ±%-6.3f%8.4f  %8.4f  %8.3f\n",
        row.name.c_str(), cell.p99.mean(), cell.p99.deviation(), cell.ejecting.mean() * 100,
        cell.half_after.mean(), cell.half_after.deviation(), cell.last_after.mean(),
        cell.errors.mean() * 100, cell.errors.deviation() * 100, cell.errors_after.mean() * 100,
        cell.errors_later.mean() * 100, cell.at_first.mean() * 100);
  }
}

void PrintLoads(const Table& table) {
  for (const double load : table.scenario.loads)
    std::printf(" %2.0f %%: p50   p99        p99.9", load * 100);
  std::printf("  headroom 5x   2x   errors   busiest  probes  bounces\n");
  for (const Row& row : table.rows) {
    std::printf("%-22s", row.name.c_str());
    for (const Cell& cell : row.cells) {
      std::printf("  %6.1f %6.0f ±%-5.0f%6.0f", cell.p50.mean(), cell.p99.mean(),
                  cell.p99.deviation(), cell.p999.mean());
    }
    const Cell& last = row.cells.back();
    std::printf("      %4.2f     %4.2f", row.headroom5, row.headroom2);
    std::printf("  %6.3f%%  %5.2f  %6.2f  %6.3f\n", last.errors.mean() * 100, last.busiest.mean(),
                last.probes.mean(), last.bounces.mean());
  }
}

}  // namespace

void Print(const Table& table) {
  std::printf("\n%s: %s\n", table.scenario.key.c_str(), table.scenario.title.c_str());
  switch (table.scenario.view) {
    case View::kLoads:
      std::printf("%-22s", "");
      return PrintLoads(table);
    case View::kRamp:
      std::printf("%-22s", "");
      return PrintRamp(table);
    case View::kEjection:
      std::printf("%-22s", "");
      return PrintEjections(table);
  }
}

}  // namespace weft::balance_sim
