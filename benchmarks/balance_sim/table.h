// The table of one scenario: each balancer at each load, and how much load it bears.
#ifndef WEFT_BENCHMARKS_BALANCE_SIM_TABLE_H_
#define WEFT_BENCHMARKS_BALANCE_SIM_TABLE_H_

#include <string>
#include <vector>

#include "balance_sim/contenders.h"
#include "balance_sim/scenarios.h"
#include "sim/runs.h"

namespace weft::balance_sim {

struct TableOptions {
  int seeds = 1;
  int jobs = 1;
  // With the first seed, where a scenario has a goal for it; takes as long as another seed.
  bool headroom = false;
};

// Over seeds; milliseconds.
struct Cell {
  sim::Spread p50;
  sim::Spread p99;
  sim::Spread p999;
  sim::Spread errors;    // share of calls
  sim::Spread at_first;  // share of calls that went to the first server
  sim::Spread busiest;   // by the mean
  sim::Spread probes;    // per call
  sim::Spread bounces;   // per call
  // Where a server fails. Seconds until half of the clients have ejected it, and until the last of
  // those that did.
  sim::Spread ejecting;  // share of clients that ejected it
  sim::Spread half_after;
  sim::Spread last_after;
  sim::Spread errors_after;  // share of the calls of clients that have ejected it
  sim::Spread errors_later;  // share of all calls from 5 s on after it began
};

struct Row {
  std::string name;
  std::vector<Cell> cells = {};  // one for each load
  // The highest load with a p99 of no more than 5 and 2 times that of servers with nothing to do;
  // 0: not looked for.
  double headroom5 = 0;
  double headroom2 = 0;
};

struct Table {
  Scenario scenario;
  std::vector<Row> rows = {};  // one for each contender

  const Row& Find(const std::string& name) const;  // it is there
};

Table Measure(const Scenario& scenario, const std::vector<Contender>& contenders,
              const TableOptions& options);
void Print(const Table& table);

}  // namespace weft::balance_sim

#endif  // WEFT_BENCHMARKS_BALANCE_SIM_TABLE_H_
