#include "balance_sim/scenarios.h"

namespace weft::balance_sim {
namespace {

Scenario SingleWorkers(const std::string& key, uint32_t clients) {
  Scenario scenario = {.key = key};
  scenario.title = "1 worker, " + std::to_string(clients) + " clients";
  scenario.setup.clients = clients;
  // Of so many each makes four calls a second, and takes a while to know anything.
  if (clients == 2000) {
    scenario.setup.from = 15 * kSecond;
    scenario.setup.until = 30 * kSecond;
  }
  scenario.is_short = clients == 200;
  return scenario;
}

Scenario Sinkhole(const std::string& key, uint32_t clients) {
  Scenario scenario = SingleWorkers(key, clients);
  scenario.title += ", one server fails each call at once";
  scenario.setup.fleet.sinkhole = true;
  // The penalty of a server that failed lasts a minute.
  scenario.setup.until = 65 * kSecond;
  scenario.loads = {0.7};
  scenario.is_short = false;
  return scenario;
}

Scenario Mixed(const std::string& key, uint32_t clients) {
  Scenario scenario = {.key = key};
  scenario.title = "4 workers, speeds 0.5 to 2, " + std::to_string(clients) + " clients";
  scenario.setup.clients = clients;
  scenario.setup.fleet = {.workers = 4, .mixed = true};
  scenario.setup.until = 15 * kSecond;
  scenario.is_short = clients == 200;
  return scenario;
}

Scenario Antagonists() {
  Scenario scenario = Mixed("c", 200);
  scenario.title += ", neighbours that come and go";
  scenario.setup.fleet.antagonists = {2 * kSecond, 6 * kSecond, 0.55};
  scenario.is_short = false;
  return scenario;
}

Scenario Ramp() {
  Scenario scenario = {.key = "d"};
  scenario.title = "4 workers, 200 clients, 0.75 to 1.74 of what is allocated (p99; % in error)";
  scenario.setup.fleet.workers = 4;
  scenario.setup.fleet.antagonists = {2 * kSecond, 2 * kSecond, 1.0 / 3};
  scenario.setup.until = 15 * kSecond;
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
  // Each of three tenths once.
  scenario.setup.from = 10 * kSecond;
  scenario.setup.until = 40 * kSecond;
  scenario.is_short = false;
  return scenario;
}

Scenario Lognormal() {
  Scenario scenario = SingleWorkers("a200l", 200);
  scenario.title += ", lognormal work";
  scenario.setup.work = Work::kLognormal;
  scenario.is_short = false;
  return scenario;
}

}  // namespace

std::vector<Scenario> AllScenarios() {
  return {SingleWorkers("a10", 10),
          SingleWorkers("a200", 200),
          SingleWorkers("a2000", 2000),
          Lognormal(),
          Mixed("b", 200),
          Mixed("b2000", 2000),
          Antagonists(),
          Ramp(),
          Sinkhole("e200", 200),
          Sinkhole("e2000", 2000),
          Deploy("f", true),
          Deploy("f-", false)};
}

}  // namespace weft::balance_sim
