// HedgePolicy: HedgeOptions, checked and ready to be asked, and what a channel's calls have taught:
// how long they take, and whether hedges are of use. Decides nothing about one call by itself.
//
// A hedge repeats the work of a call that is slow. Where it is slow because of its host or its
// connection, that is worth it; where the request itself is slow, the same work is done twice, and
// of all requests it is the longest ones that are repeated: 5 % of hedges can be a third of the
// servers' time. So the first hedge waits for a percentile of the channel's latency, and the share
// of calls that are hedged is bounded by a bucket of at most 10 tokens: each call puts in a share
// of a token, each hedge takes one. (Dean and Barroso, "The Tail at Scale", CACM 56(2), 2013.)
//
// kAdaptive finds that share, and hedges later the smaller it is, so that what few hedges there are
// go to the slowest calls:
//
//   percentile = 1 - 0.8 * share; each call puts the share into the bucket
//   share      = ratio * min(spare, use), at least 0.1 %
//   spare      = (0.95 - u) / 0.35, 0 … 1, u being a moving average of the hosts' reported
//                utilisation, 0.5 where none reports
//   use        = 1, 0.6, 0.4, 0.2, 0.1 or 0.04: of each 20 hedges less than 25 % were answered
//                before the other attempts, then a step down; more than 35 %, then one up; 0.4
//                to begin with
//
// What these numbers do can be seen with benchmarks/hedge_sim. The 0.8: a bucket that is filled
// just as fast as hedges fall due is empty much of the time, and what it then refuses is as likely
// a call that is stuck as one that is a little late. With 1 in its place p99.9 of a cause that
// hedging heals is up to half as long again. The 25 %: hedges of requests that are long by
// themselves are not all lost, as some first attempts wait in a queue; up to 21 % of them won. With
// 10 % and 25 % such hedging went on, and raised the median by a fifth.
//
// How long a call took counts from its start, and a hedged one as what it took although it would
// have taken longer: it did take longer than the delay, which is all that the next delay, at the
// percentile of what is hedged, depends on. Were such calls left out, the delay would get shorter
// with each hedge, and the shorter delay lead to more of them.
#ifndef WEFT_LIB_POLICY_HEDGE_POLICY_H_
#define WEFT_LIB_POLICY_HEDGE_POLICY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "base/time.h"
#include "policy/latency_window.h"
#include "weft/hedge_options.h"
#include "weft/load_report.h"

namespace weft::inline v0::policy {

// INVALID_ARGUMENT names the field that is out of range.
absl::Status Validate(const HedgeOptions& options);

// Where a hedge that is due may go.
enum class HedgePlace : uint8_t {
  kAnyHost,       // an ordinary pick
  kHostWithRoom,  // only a host that has reported, at most report_age() ago, that it has room
  kNowhere,       // none: there are too many already, or every host is busy
};

// Thread-safe and lock-free.
class HedgePolicy {
 public:
  // While a hedge finds no host with room, it looks again so often.
  static constexpr base::MonoDuration kLookAgain = std::chrono::milliseconds(5);
  static constexpr int kLooks = 10;
  static constexpr base::MonoDuration kNever = base::MonoDuration::max();

  explicit HedgePolicy(const HedgeOptions& options);  // valid
  HedgePolicy(const HedgePolicy&) = delete;
  HedgePolicy& operator=(const HedgePolicy&) = delete;

  bool armed() const { return options_.when != HedgeOptions::When::kNever; }
  int max_attempts() const { return options_.max_attempts; }
  // A hedge after a delay that was given, whatever is known.
  bool fixed() const { return options_.when == HedgeOptions::When::kAfterDelay; }

  // Once for each call that may be hedged, at its start: its share of the hedges that are allowed.
  // How long after its start the first one is due; kNever: it gets none.
  base::MonoDuration OnCall(base::MonoTime now);

  // A hedge is due.
  HedgePlace Place(base::MonoTime now) const;
  base::MonoDuration report_age() const;
  // It has a host: false where no more are allowed; otherwise it counts as made.
  bool TryStart();

  // A call ended `took` after its start; where that was its deadline, it would have taken longer.
  // Not for calls that failed: how fast they do is no measure of the work.
  void OnCallEnd(base::MonoDuration took, base::MonoTime now);
  // A hedged call ended: of `hedges` one was (or none was) the first to be answered.
  void OnHedged(int hedges, bool won);
  void OnReport(const LoadReport& report, base::MonoTime now);

  // What the present delay was made of.
  double share() const;
  double utilisation() const { return utilisation_.load(std::memory_order_relaxed); }

 private:
  // Of a token, so that the smallest share is a whole number of them.
  static constexpr int64_t kToken = 1'000'000;
  static constexpr int64_t kFull = 10 * kToken;

  bool HasBucket() const { return latencies_ != nullptr; }
  bool HearsReports(base::MonoTime now) const;
  void Refresh(base::MonoDuration since_last, base::MonoTime now);
  double AdaptiveShare() const;
  void MoveUtilisation(double towards, double weight);

  const HedgeOptions options_;
  // Null with kNever and kAfterDelay, which need none.
  const std::unique_ptr<LatencyWindow> latencies_;

  // Of the last refresh, which whoever moves `refresh_at_` does.
  std::atomic<int64_t> refresh_at_;
  std::atomic<int64_t> delay_;
  std::atomic<int64_t> deposit_;
  std::atomic<int64_t> report_age_;

  std::atomic<int64_t> tokens_{0};
  std::atomic<size_t> use_;
  // Hedges since the last verdict, and in the upper half how many of them won.
  std::atomic<uint32_t> hedges_{0};

  // Reports that meet may overwrite each other's share of the average.
  std::atomic<double> utilisation_;
  std::atomic<int64_t> reported_at_;
  std::atomic<uint32_t> reports_{0};  // since the last refresh
};

}  // namespace weft::inline v0::policy

#endif  // WEFT_LIB_POLICY_HEDGE_POLICY_H_
