#include "balance_sim/scenarios.h"

namespace weft::balance_sim {
namespace {

Scenario SingleWorkers(const std::string& key, uint32_t clients) {
  Scenario scenario = {.key = key};
  scenario.title = "1 worker, " + std::to_string(clients) + " clients";
  scenario.setup.clients = clients;
  // Of so many each makes four calls a second, and takes a while to know anything.
  if (clients == 2000) {
    scenario.setup.warm_up = 8 * kSecond;
    scenario.setup.from = 13 * kSecond;
    scenario.setup.until = 20 * kSecond;
  }
  return scenario;
}

Scenario Equal(const std::string& key, uint32_t clients) {
  Scenario scenario = SingleWorkers(key, clients);
  scenario.headroom = true;
  scenario.is_short = clients == 200;
  return scenario;
}

Scenario Sinkhole(const std::string& key, uint32_t clients) {
  Scenario scenario = SingleWorkers(key, clients);
  scenario.title += ", one server begins to fail each call at once";
  scenario.setup.fleet.fails_from = scenario.setup.from;
  // It is out for half a minute, then tried again.
  scenario.setup.until = scenario.setup.from + 40 * kSecond;
  scenario.view = View::kEjection;
  scenario.loads = {0.7};
  return scenario;
}

Scenario Mixed(const std::string& key) {
  Scenario scenario = {.key = key, .headroom = true};
  scenario.title = "4 workers, speeds 0.5 to 2, 200 clients";
  scenario.setup.fleet = {.workers = 4, .mixed = true};
  // Weighted round robin has its weights after some 4 s.
  scenario.setup.warm_up = 5 * kSecond;
  scenario.setup.from = 8 * kSecond;
  scenario.setup.until = 11 * kSecond;
  return scenario;
}

Scenario Speeds() {
  Scenario scenario = Mixed("b");
  scenario.is_short = true;
  return scenario;
}

Scenario Antagonists() {
  Scenario scenario = Mixed("c");
  scenario.title += ", neighbours that come and go";
  scenario.setup.fleet.antagonists = {2 * kSecond, 6 * kSecond, 0.55};
  return scenario;
}

// As in the Prequal paper's section 5.1 (NSDI 2024): each server has an allocation, and what its
// machine does not need beyond that. Where the machine is full it is held to its allocation; here a
// third of what it could use, on half of the machines, which stay full for longer than a queue
// takes to grow.
Scenario Ramp() {
  Scenario scenario = {.key = "d"};
  scenario.title = "4 workers, 100 clients, 0.75 to 1.74 of what is allocated (p99; % in error)";
  scenario.setup.clients = 100;
  scenario.setup.fleet.workers = 4;
  scenario.setup.fleet.antagonists = {60 * kSecond, 60 * kSecond, 1.0 / 3};
  scenario.setup.warm_up = 5 * kSecond;
  scenario.setup.from = 12 * kSecond;
  scenario.setup.until = 17 * kSecond;
  scenario.view = View::kRamp;
  scenario.loads.clear();
  double times = 0.75;
  for (int step = 0; step < 9; ++step, times *= 10.0 / 9)
    scenario.loads.push_back(times * kLoadByAllocation);
  return scenario;
}

Scenario Deploy(const std::string& key, bool slow_start) {
  Scenario scenario = SingleWorkers(key, 200);
  scenario.title += ", a tenth of the servers is cold";
  scenario.title += slow_start ? ", slow start" : ", no slow start";
  scenario.setup.fleet.deploying = true;
  scenario.setup.slow_start = slow_start;
  // One tenth, from its start until it is warm.
  scenario.setup.from = 10 * kSecond;
  scenario.setup.until = 20 * kSecond;
  scenario.headroom = slow_start;
  if (!slow_start) scenario.loads = {0.8};
  return scenario;
}

Scenario Lognormal() {
  Scenario scenario = SingleWorkers("a200l", 200);
  scenario.title += ", lognormal work";
  scenario.setup.work = Work::kLognormal;
  return scenario;
}

}  // namespace

std::vector<Scenario> AllScenarios() {
  return {Equal("a10", 10),
          Equal("a200", 200),
          Equal("a2000", 2000),
          Lognormal(),
          Speeds(),
          Antagonists(),
          Ramp(),
          Sinkhole("e10", 10),
          Sinkhole("e200", 200),
          Sinkhole("e2000", 2000),
          Deploy("f", true),
          Deploy("f-", false)};
}

}  // namespace weft::balance_sim
