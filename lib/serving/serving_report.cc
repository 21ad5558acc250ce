// The two forms of a server's report; lib/cluster reads them.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "weft/serving.h"

namespace weft::inline v0 {
namespace {

// Clients do not believe more.
constexpr double kMostCount = 1e6;
constexpr double kMostMs = 86.4e6;
constexpr double kMostUtilization = 1e3;
constexpr double kMostRate = 1e9;

struct Metric {
  std::string_view name;  // in ORCA's text form
  int number;             // of the field in its message; kNamed: an entry of named_metrics
  double value;
};
constexpr int kNamed = 8;
constexpr std::string_view kNamedPrefix = "named_metrics.";

// Three decimals, which is microseconds of what is in milliseconds: without the general way of
// writing doubles, which takes longer than all the rest.
char* Write(char* to, char* end, double value) {
  const auto thousandths = static_cast<uint64_t>(value * 1000 + 0.5);
  to = std::to_chars(to, end, thousandths / 1000).ptr;
  const auto rest = static_cast<unsigned>(thousandths % 1000);
  if (rest == 0) return to;
  *to++ = '.';
  *to++ = static_cast<char>('0' + rest / 100);
  *to++ = static_cast<char>('0' + rest / 10 % 10);
  *to++ = static_cast<char>('0' + rest % 10);
  return to;
}

char* Append(char* to, std::string_view text) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

void AppendDouble(std::string& to, int field, double value) {
  constexpr int kFixed64 = 1;
  to.push_back(static_cast<char>(field << 3 | kFixed64));
  const auto bits = std::bit_cast<uint64_t>(value);
  for (int shift = 0; shift < 64; shift += 8) to.push_back(static_cast<char>(bits >> shift));
}

void AppendBytes(std::string& to, int field, std::string_view bytes) {
  constexpr int kBytes = 2;
  to.push_back(static_cast<char>(field << 3 | kBytes));
  to.push_back(static_cast<char>(bytes.size()));  // all of them are shorter than 128
  to.append(bytes);
}

// Calls `each` for what is to be said: in flight always, the rest where it is known.
template <class Each>
void ForEachMetric(const auto& values, Each&& each) {
  const Metric metrics[] = {
      {"named_metrics.weft.in_flight", kNamed, std::min(values.in_flight, kMostCount)},
      {"named_metrics.weft.workers", kNamed, std::min(values.workers, kMostCount)},
      {"named_metrics.weft.service_time_ms", kNamed, std::min(values.service_time_ms, kMostMs)},
      {"named_metrics.weft.latency_ms", kNamed, std::min(values.latency_ms, kMostMs)},
      {"application_utilization", 9, std::min(values.utilization, kMostUtilization)},
      {"rps_fractional", 6, std::min(values.qps, kMostRate)},
      {"eps", 7, std::min(values.eps, kMostRate)},
  };
  for (const Metric& metric : metrics) {
    if (metric.value > 0 || &metric == metrics) each(metric);
  }
}

}  // namespace

ServingReport ServingLoad::Report() {
  ServingReport report;
  char* const end = report.text_.data() + report.text_.size();
  char* to = Append(report.text_.data(), "TEXT ");
  ForEachMetric(Measure(), [&](const Metric& metric) {
    if (to[-1] != ' ') *to++ = ',';
    to = Append(to, metric.name);
    *to++ = '=';
    to = Write(to, end, metric.value);
  });
  report.size_ = static_cast<size_t>(to - report.text_.data());
  return report;
}

std::string ServingLoad::ReportBinary() {
  std::string message;
  message.reserve(192);
  ForEachMetric(Measure(), [&](const Metric& metric) {
    if (metric.number != kNamed) {
      AppendDouble(message, metric.number, metric.value);
      return;
    }
    std::string entry;
    AppendBytes(entry, 1, metric.name.substr(kNamedPrefix.size()));
    AppendDouble(entry, 2, metric.value);
    AppendBytes(message, kNamed, entry);
  });
  return message;
}

}  // namespace weft::inline v0
