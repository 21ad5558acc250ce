#include "cluster/load_report_header.h"

#include <charconv>
#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "base/strings.h"
#include "cluster/orca_message.h"
#include "cluster/report_fields.h"

namespace weft::inline v0::cluster {
namespace {

constexpr bool IsSpace(char c) { return c == ' ' || c == '\t'; }

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

bool TakePrefix(std::string_view* text, std::string_view prefix) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// Nearly all are like 12 or 0.345, of which the library's general way takes three times as long.
// So few digits are exact in a double.
bool ParsePlain(std::string_view text, double* value) {
  static constexpr double kPowers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  constexpr size_t kMaxDigits = 15;
  if (text.empty() || text.size() > kMaxDigits) return false;
  uint64_t digits = 0;
  size_t point = text.size() - 1;
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned digit = static_cast<unsigned char>(text[i]) - unsigned{'0'};
    if (digit < 10) {
      digits = digits * 10 + digit;
    } else if (text[i] == '.' && point == text.size() - 1 && i > 0 && i < point) {
      point = i;
    } else {
      return false;
    }
  }
  *value = static_cast<double>(digits) / kPowers[text.size() - 1 - point];
  return true;
}

bool ParseNumber(std::string_view text, double* value) {
  if (ParsePlain(text, value)) return true;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

ReportFields::Field FieldOf(std::string_view name) {
  if (TakePrefix(&name, "named_metrics.")) return ReportFields::NamedMetric(name);
  if (name == "application_utilization") return ReportFields::kApplicationUtilization;
  if (name == "cpu_utilization") return ReportFields::kCpuUtilization;
  if (name == "rps_fractional") return ReportFields::kQps;
  if (name == "eps") return ReportFields::kEps;
  return ReportFields::kOther;
}

std::optional<LoadReport> ReportOfText(std::string_view rest) {
  ReportFields fields;
  while (!rest.empty()) {
    const std::string_view metric = rest.substr(0, rest.find(','));
    rest.remove_prefix(metric.size() < rest.size() ? metric.size() + 1 : metric.size());
    size_t sign = metric.find('=');
    if (sign == std::string_view::npos) sign = metric.find(':');  // as some servers write it
    const ReportFields::Field field = FieldOf(Trim(metric.substr(0, sign)));
    if (field == ReportFields::kOther) continue;
    double value = 0;
    if (sign == std::string_view::npos || !ParseNumber(Trim(metric.substr(sign + 1)), &value) ||
        !fields.Set(field, value)) {
      return std::nullopt;
    }
  }
  return fields.Finish();
}

std::optional<LoadReport> ReportOfBase64(std::string_view text) {
  std::string bytes;
  if (!absl::Base64Unescape(base::V(text), &bytes)) return std::nullopt;
  return ReportOfMessage(bytes);
}

}  // namespace

std::optional<LoadReport> ReportOf(const Headers& fields) {
  constexpr std::string_view kName = "endpoint-load-metrics";
  constexpr std::string_view kBinaryName = "endpoint-load-metrics-bin";
  for (const Headers::Field field : fields) {
    std::string_view value = field.value;
    if (field.name == kBinaryName) return ReportOfBase64(value);
    if (field.name != kName) continue;
    if (TakePrefix(&value, "TEXT ")) return ReportOfText(value);
    if (TakePrefix(&value, "BIN ")) return ReportOfBase64(value);
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace weft::inline v0::cluster
