#include "weft_call/report.h"

#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>

#include "weft_call/format.h"

namespace weft_call {
namespace {

constexpr std::pair<const char*, double> kQuantiles[] = {{"min", 0},   {"p50", .5},     {"p90", .9},
                                                         {"p99", .99}, {"p99.9", .999}, {"max", 1}};

double CallsPerSecond(const Report& report) {
  return static_cast<double>(report.tally.answered()) / absl::ToDoubleSeconds(report.took);
}

// "64 threads", "100 in flight", "4 threads and 100 in flight".
std::string Callers(const Args& args) {
  std::string text = args.threads > 0 ? Counted(static_cast<uint64_t>(args.threads), "thread") : "";
  if (args.threads > 0 && args.concurrent > 0) text += " and ";
  if (args.concurrent > 0) text += std::to_string(args.concurrent) + " in flight";
  return text;
}

// One line of a list under `title`, which only the first line shows.
void AddLine(std::string& text, std::string_view& title, const std::string& what, uint64_t count) {
  char line[64];
  std::snprintf(line, sizeof(line), "%-11s %9llu  ", std::string(title).c_str(),
                static_cast<unsigned long long>(count));
  text += line + what + "\n";
  title = "";
}

}  // namespace

std::string ReportText(const Report& report) {
  Tally& tally = report.tally;
  const uint64_t calls = tally.answered() + tally.failed();
  std::string text = Counted(calls, "call") + " of " + report.args.request.method + " " +
                     report.args.request.path + " to " + report.args.target + ", " +
                     Callers(report.args) + ", in " + Shown(report.took) + "\n";
  if (report.interrupted) {
    text += "interrupted: " + std::to_string(report.args.calls) + " calls were asked for\n";
  }

  char line[64];
  std::snprintf(line, sizeof(line), "\nanswers     %9llu  %.0f a second, ",
                static_cast<unsigned long long>(tally.answered()), CallsPerSecond(report));
  text += line + Counted(tally.body_bytes(), "byte") + " of bodies\n";
  std::string_view title = "status";
  for (const auto& [status, count] : tally.statuses()) {
    AddLine(text, title, std::to_string(status), count);
  }
  title = "errors";
  for (const auto& [kind, failures] : tally.failures()) AddLine(text, title, kind, failures.count);
  title = "hosts";
  for (const auto& [host, count] : tally.hosts()) AddLine(text, title, host, count);

  if (tally.answered() > 0) {
    text += "\nlatency   ";
    for (const auto& [name, part] : kQuantiles) {
      text += "  " + std::string(name) + " " + Shown(tally.Quantile(part));
    }
    text += "\n";
  }
  return text + "client      " + Shown(report.stats) + "\n";
}

std::string ReportJson(const Report& report) {
  Tally& tally = report.tally;
  const Args& args = report.args;
  Json json = {{"target", args.target},
               {"method", args.request.method},
               {"path", args.request.path},
               {"threads", args.threads},
               {"concurrent", args.concurrent},
               {"calls", tally.answered() + tally.failed()},
               {"answered", tally.answered()},
               {"failed", tally.failed()},
               {"interrupted", report.interrupted},
               {"seconds", JsonMs(report.took) / 1000},
               {"calls_per_second", std::round(CallsPerSecond(report) * 10) / 10},
               {"body_bytes", tally.body_bytes()}};
  Json latency = Json::object();
  if (tally.answered() > 0) {
    for (const auto& [name, part] : kQuantiles) latency[name] = JsonMs(tally.Quantile(part));
  }
  json["latency_ms"] = std::move(latency);
  json["statuses"] = Json::object();
  for (const auto& [status, count] : tally.statuses()) {
    json["statuses"][std::to_string(status)] = count;
  }
  json["errors"] = Json::array();
  for (const auto& [kind, failures] : tally.failures()) {
    const Json example = ToJson(failures.example);
    Json error = {{"count", failures.count}, {"code", example["code"]}};
    for (const char* key : {"origin", "processed"}) {
      if (example.contains(key)) error[key] = example[key];
    }
    error["example"] = example["message"];
    json["errors"].push_back(std::move(error));
  }
  json["hosts"] = Json::object();
  for (const auto& [host, count] : tally.hosts()) json["hosts"][host] = count;
  json["connections"] = ToJson(report.stats);
  return Text(json);
}

}  // namespace weft_call
