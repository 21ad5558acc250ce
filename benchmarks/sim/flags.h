// The arguments of a simulation's program: --name, or --name=value.
#ifndef WEFT_BENCHMARKS_SIM_FLAGS_H_
#define WEFT_BENCHMARKS_SIM_FLAGS_H_

#include <charconv>
#include <string_view>
#include <system_error>

namespace weft::sim {

// Whether `arg` begins with `name`, which is then taken off.
inline bool TakeFlag(std::string_view* arg, std::string_view name) {
  if (arg->substr(0, name.size()) != name) return false;
  arg->remove_prefix(name.size());
  return true;
}

// False where `text` is no number from `low` to `high`.
template <typename Number>
bool ParseFlag(std::string_view text, Number low, Number high, Number* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && *value >= low &&
         *value <= high;
}

}  // namespace weft::sim

#endif  // WEFT_BENCHMARKS_SIM_FLAGS_H_
