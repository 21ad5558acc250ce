#include "cluster/levels.h"

#include <algorithm>

namespace weft::inline v0::cluster {
namespace {

// Envoy's overprovisioning factor.
constexpr double kOverprovisioning = 1.4;

struct Sum {
  size_t hosts = 0;
  size_t healthy = 0;
  double Capacity() const {
    if (hosts == 0) return 0;
    return std::min(1.0,
                    kOverprovisioning * static_cast<double>(healthy) / static_cast<double>(hosts));
  }
};

Sum SumOf(std::span<const Level> levels) {
  Sum sum;
  for (const Level& level : levels) {
    sum.hosts += level.hosts;
    sum.healthy += level.healthy;
  }
  return sum;
}

// Where `priority` ends that begins at `begin`.
size_t EndOf(std::span<const Level> levels, size_t begin) {
  size_t end = begin;
  while (end < levels.size() && levels[end].priority == levels[begin].priority) ++end;
  return end;
}

// What the own zone can take, the others get the rest, as far as either is there.
void ShareByZone(std::span<const Level> levels, double share, LevelShare* to) {
  double own = 0;
  double others = 0;
  for (const Level& level : levels) {
    (level.own_zone ? own : others) = Sum{level.hosts, level.healthy}.Capacity();
  }
  const double of_own = others > 0 ? own : 1;
  for (size_t i = 0; i < levels.size(); ++i)
    to[i].share = share * (levels.size() == 1 ? 1 : levels[i].own_zone ? of_own : 1 - of_own);
}

void ShareByCount(std::span<const Level> levels, const Sum& sum, double share, LevelShare* to) {
  for (size_t i = 0; i < levels.size(); ++i) {
    const double part = static_cast<double>(levels[i].hosts) / static_cast<double>(sum.hosts);
    to[i] = {.share = share * part, .panic = true};
  }
}

}  // namespace

std::vector<LevelShare> SharesOf(std::span<const Level> levels, double panic_threshold) {
  std::vector<LevelShare> shares(levels.size());
  double capacity = 0;
  for (size_t begin = 0, end = 0; begin < levels.size(); begin = end) {
    end = EndOf(levels, begin);
    capacity += SumOf(levels.subspan(begin, end - begin)).Capacity();
  }
  const double total = std::min(capacity, 1.0);
  double left = 1;
  for (size_t begin = 0, end = 0; begin < levels.size(); begin = end) {
    end = EndOf(levels, begin);
    const std::span<const Level> here = levels.subspan(begin, end - begin);
    const Sum sum = SumOf(here);
    // Where nobody is healthy at all, the first priority gets everything.
    const double share = total > 0 ? std::min(left, sum.Capacity() / total) : left;
    left -= share;
    const double healthy = static_cast<double>(sum.healthy) / static_cast<double>(sum.hosts);
    if (total < 1 && healthy < panic_threshold) {
      ShareByCount(here, sum, share, &shares[begin]);
    } else {
      ShareByZone(here, share, &shares[begin]);
    }
  }
  return shares;
}

}  // namespace weft::inline v0::cluster
