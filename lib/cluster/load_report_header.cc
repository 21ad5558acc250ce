#include "cluster/load_report_header.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace weft::inline v0::cluster {
namespace {

constexpr double kMost = 1e6;

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool TakePrefix(std::string_view* text, std::string_view prefix) {
  if (text->substr(0, prefix.size()) != prefix) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// False where it is no number that may be believed.
bool ParseCount(std::string_view text, double* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  // Written so that NaN is out of range.
  return error == std::errc() && end == text.data() + text.size() && *value >= 0 && *value <= kMost;
}

}  // namespace

std::optional<LoadReport> ReportOf(const Headers& headers) {
  const std::optional<std::string_view> header = headers.Find("endpoint-load-metrics");
  if (!header.has_value()) return std::nullopt;
  std::string_view rest = *header;
  if (!TakePrefix(&rest, "TEXT ")) return std::nullopt;
  std::optional<double> in_flight;
  std::optional<double> workers;
  while (!rest.empty()) {
    const std::string_view metric = rest.substr(0, rest.find(','));
    rest.remove_prefix(metric.size() < rest.size() ? metric.size() + 1 : metric.size());
    // Some servers write a colon.
    const size_t sign = metric.find_first_of("=:");
    std::string_view name = Trim(metric.substr(0, sign));
    if (!TakePrefix(&name, "named_metrics.weft.")) continue;
    std::optional<double>* const field = name == "in_flight" ? &in_flight
                                         : name == "workers" ? &workers
                                                             : nullptr;
    if (field == nullptr) continue;
    if (field->has_value() || sign == std::string_view::npos) return std::nullopt;
    if (!ParseCount(Trim(metric.substr(sign + 1)), &field->emplace())) return std::nullopt;
  }
  if (!in_flight.has_value()) return std::nullopt;
  return LoadReport{.in_flight = static_cast<uint32_t>(std::ceil(*in_flight)),
                    .workers = static_cast<uint32_t>(workers.value_or(0))};
}

}  // namespace weft::inline v0::cluster
