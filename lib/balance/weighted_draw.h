// WeightedDraw: hosts drawn in proportion to their weights, in O(1): the alias method (Walker 1977,
// built as in Vose 1991). n columns of equal width are filled so that each has at most two hosts in
// it; one random number chooses a column and one of its two.
#ifndef WEFT_LIB_BALANCE_WEIGHTED_DRAW_H_
#define WEFT_LIB_BALANCE_WEIGHTED_DRAW_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/mix.h"
#include "weft/balancer.h"

namespace weft::inline v0::balance {

// Immutable.
class WeightedDraw {
 public:
  explicit WeightedDraw(const std::vector<PickerHost>& hosts);

  // Not of an empty set.
  size_t operator()(uint64_t random) const {
    const size_t column = base::Below(random, size_);
    if (columns_.empty()) return column;
    // The upper half chose the column.
    return static_cast<uint32_t>(random) < columns_[column].own ? column : columns_[column].other;
  }
  // Relative to the mean.
  double weight(size_t index) const { return weights_.empty() ? 1.0 : weights_[index]; }
  // All of them; none where they are equal.
  std::span<const double> weights() const { return weights_; }

 private:
  struct Column {
    uint32_t own;    // the host's share of its column, of 2^32
    uint32_t other;  // who has the rest
  };
  void FillColumns();

  const size_t size_;
  std::vector<double> weights_;
  std::vector<Column> columns_;
};

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_WEIGHTED_DRAW_H_
