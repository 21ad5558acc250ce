#include "balance/weighted_draw.h"

#include <algorithm>

namespace weft::inline v0::balance {

WeightedDraw::WeightedDraw(const std::vector<PickerHost>& hosts) : size_(hosts.size()) {
  const bool equal = std::all_of(hosts.begin(), hosts.end(), [&](const PickerHost& host) {
    return host.weight == hosts.front().weight;
  });
  if (equal) return;
  double sum = 0;
  for (const PickerHost& host : hosts) sum += host.weight;
  weights_.reserve(size_);
  for (const PickerHost& host : hosts)
    weights_.push_back(host.weight / sum * static_cast<double>(size_));
  FillColumns();
}

void WeightedDraw::FillColumns() {
  constexpr double kWhole = 0x1.0p32;
  std::vector<double> left = weights_;  // what is not in a column yet; one fills a column
  std::vector<uint32_t> below;
  std::vector<uint32_t> above;
  below.reserve(size_);
  above.reserve(size_);
  columns_.resize(size_);
  for (uint32_t i = 0; i < size_; ++i) {
    columns_[i] = {UINT32_MAX, i};
    (left[i] < 1 ? below : above).push_back(i);
  }
  // Rounding may leave a few over, which are as good as one.
  while (!below.empty() && !above.empty()) {
    const uint32_t small = below.back();
    const uint32_t large = above.back();
    below.pop_back();
    columns_[small] = {static_cast<uint32_t>(left[small] * kWhole), large};
    left[large] -= 1 - left[small];
    if (left[large] >= 1) continue;
    above.pop_back();
    below.push_back(large);
  }
}

}  // namespace weft::inline v0::balance
