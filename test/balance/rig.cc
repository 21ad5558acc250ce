#include "balance/rig.h"

#include <cmath>
#include <numeric>

namespace weft::inline v0::balance {

double ChiSquareExcess(const std::vector<double>& counts, const std::vector<double>& shares) {
  const double calls = std::accumulate(counts.begin(), counts.end(), 0.0);
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  double chi_square = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const double expected = calls * shares[i] / sum;
    chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  const double freedom = static_cast<double>(counts.size() - 1);
  const double spread = 2 / (9 * freedom);
  return (std::cbrt(chi_square / freedom) - (1 - spread)) / std::sqrt(spread);
}

}  // namespace weft::inline v0::balance
