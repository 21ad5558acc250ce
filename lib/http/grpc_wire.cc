#include "http/grpc_wire.h"

#include <algorithm>
#include <charconv>

namespace weft::inline v0::http {
namespace {

constexpr int64_t kMaxDigits = 99'999'999;

struct Unit {
  char name;
  int64_t nanoseconds;
};
constexpr Unit kUnits[] = {{'n', 1},
                           {'u', 1'000},
                           {'m', 1'000'000},
                           {'S', 1'000'000'000},
                           {'M', 60'000'000'000},
                           {'H', 3'600'000'000'000}};

}  // namespace

size_t WriteGrpcTimeout(base::MonoDuration remaining, char (&to)[kGrpcTimeoutBytes]) {
  const int64_t nanoseconds =
      std::max<int64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(remaining).count(), 1);
  const Unit* unit = kUnits;
  while (nanoseconds / unit->nanoseconds > kMaxDigits)
    ++unit;  // hours hold all that an int64_t does
  char* const end =
      std::to_chars(to, to + kGrpcTimeoutBytes - 1, nanoseconds / unit->nanoseconds).ptr;
  *end = unit->name;
  return static_cast<size_t>(end + 1 - to);
}

std::optional<absl::Duration> ParseGrpcTimeout(std::string_view text) {
  if (text.size() < 2 || text.size() > kGrpcTimeoutBytes) return std::nullopt;
  const char* const end = text.data() + text.size() - 1;
  if (text[0] < '0' || text[0] > '9') return std::nullopt;
  int64_t value = 0;
  if (std::from_chars(text.data(), end, value).ptr != end) return std::nullopt;
  for (const Unit& unit : kUnits) {
    if (unit.name == *end) return value * absl::Nanoseconds(unit.nanoseconds);
  }
  return std::nullopt;
}

}  // namespace weft::inline v0::http
