#include "base/places.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"

namespace weft::inline v0::base {
namespace {

// So many neighbours may have gone, and the two lists are still walked in step.
constexpr size_t kAhead = 8;

}  // namespace

std::vector<size_t> PlacesBefore(std::span<const void* const> before,
                                 std::span<const void* const> now) {
  std::vector<size_t> places(now.size(), kNowhere);
  std::vector<size_t> missed;  // of `now`
  std::vector<size_t> passed;  // of `before`
  size_t next = 0;
  for (size_t i = 0; i < now.size(); ++i) {
    const size_t end = std::min(next + kAhead, before.size());
    size_t at = next;
    while (at < end && before[at] != now[i]) ++at;
    if (at == end) {
      missed.push_back(i);
      continue;
    }
    while (next < at) passed.push_back(next++);
    places[i] = next++;
  }
  if (missed.empty()) return places;
  while (next < before.size()) passed.push_back(next++);
  absl::flat_hash_map<const void*, size_t> index;
  index.reserve(passed.size());
  for (const size_t place : passed) index.emplace(before[place], place);
  for (const size_t i : missed) {
    const auto found = index.find(now[i]);
    if (found != index.end()) places[i] = found->second;
  }
  return places;
}

}  // namespace weft::inline v0::base
