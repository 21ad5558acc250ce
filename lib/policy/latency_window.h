// LatencyWindow: how long the calls of the last half minute took, to be asked for a percentile.
//
// A histogram for each five seconds, six of them; the oldest is emptied and used again. Buckets
// are 1/32 of a power of two wide, and a percentile is read between their edges, so that it is off
// by less than 3 %. What took less than 131 µs counts as that, what took more than 68 s likewise.
//
// Adding is one atomic addition, and once in five seconds, for whoever comes first, the emptying of
// a histogram; whoever comes meanwhile adds to the one before. Nobody waits. Times may come a
// little out of order: what is late counts as now.
#ifndef WEFT_LIB_POLICY_LATENCY_WINDOW_H_
#define WEFT_LIB_POLICY_LATENCY_WINDOW_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace weft::inline v0::policy {

// Thread-safe and lock-free.
class LatencyWindow {
 public:
  static constexpr base::MonoDuration kStep = std::chrono::seconds(5);
  static constexpr base::MonoDuration kLength = std::chrono::seconds(30);

  struct Percentile {
    uint64_t samples = 0;
    base::MonoDuration value{0};  // 0 where there are none
  };

  LatencyWindow() = default;
  LatencyWindow(const LatencyWindow&) = delete;
  LatencyWindow& operator=(const LatencyWindow&) = delete;

  void Add(base::MonoDuration took, base::MonoTime now);
  // What the part `p`, 0 … 1, of the calls did not take longer than. Reads some 3,600 counters.
  Percentile At(double p, base::MonoTime now);

 private:
  static constexpr unsigned kBits = 5;
  static constexpr unsigned kLowest = 17;   // powers of two, of nanoseconds
  static constexpr unsigned kHighest = 36;  // left out
  static constexpr size_t kBuckets = size_t{kHighest - kLowest} << kBits;
  static constexpr size_t kSteps = static_cast<size_t>(kLength / kStep);
  using Histogram = std::array<std::atomic<uint32_t>, kBuckets>;

  static size_t BucketOf(int64_t ns);
  static double LowerEdge(size_t bucket);
  static int64_t StepOf(base::MonoTime now);
  // The histogram of now, or of a moment ago.
  Histogram& Present(base::MonoTime now);

  std::array<Histogram, kSteps> steps_{};
  std::atomic<int64_t> step_{0};
  std::atomic<bool> moving_{false};
};

}  // namespace weft::inline v0::policy

#endif  // WEFT_LIB_POLICY_LATENCY_WINDOW_H_
