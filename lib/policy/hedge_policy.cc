#include "policy/hedge_policy.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace weft::inline v0::policy {
namespace {

using When = HedgeOptions::When;
using std::chrono::milliseconds;

constexpr base::MonoDuration kRefresh = milliseconds(250);
constexpr base::MonoDuration kShortest = milliseconds(1);
constexpr uint64_t kFewest = 20;  // samples

constexpr double kLeastShare = 0.001;
constexpr double kUnknownUtilisation = 0.5;
constexpr double kReportWeight = 1.0 / 64;
constexpr double kForgetWeight = 1.0 / 64;  // of a refresh without reports: a half in 11 s
constexpr double kUses[] = {1, 0.6, 0.4, 0.2, 0.1, 0.04};
constexpr size_t kUseSteps = std::size(kUses);
constexpr size_t kFirstUse = 2;
constexpr uint32_t kVerdictHedges = 20;
constexpr double kTooFewWon = 0.25;
constexpr double kManyWon = 0.35;
// Of the share, how much of the calls the delay leaves to be hedged.
constexpr double kPlanned = 0.8;

// How old a report may be: where there are ten in a tenth of a second, some host among them has
// room if any has; where there are fewer, an older one is better than none.
constexpr base::MonoDuration kFreshReport = milliseconds(100);
constexpr base::MonoDuration kOldReport = milliseconds(1000);
constexpr double kManyReports = 100;  // a second
// Without reports, hedges stop where the last ones told of hosts as busy as this.
constexpr double kBusy = 0.7;

int64_t Nanoseconds(base::MonoTime time) { return time.time_since_epoch().count(); }

absl::Status Refuse(std::string_view field, std::string_view rule) {
  return absl::InvalidArgumentError(
      absl::StrCat("HedgeOptions::", base::V(field), " must be ", base::V(rule)));
}

int64_t Tokens(double share, int64_t token) {
  return std::llround(share * static_cast<double>(token));
}

}  // namespace

absl::Status Validate(const HedgeOptions& options) {
  if (options.when > When::kAdaptive) return Refuse("when", "one of its values");
  if (options.max_attempts < 2 || options.max_attempts > 5) return Refuse("max_attempts", "2 … 5");
  if (options.delay < absl::ZeroDuration() || options.delay == absl::InfiniteDuration())
    return Refuse("delay", "0 or more, and finite");
  if (!(options.percentile >= 0.5 && options.percentile <= 0.999))
    return Refuse("percentile", "0.5 … 0.999");
  if (!(options.ratio >= 0.001 && options.ratio <= 0.5)) return Refuse("ratio", "0.001 … 0.5");
  return absl::OkStatus();
}

HedgePolicy::HedgePolicy(const HedgeOptions& options)
    : options_(options),
      latencies_(options.when == When::kAtPercentile || options.when == When::kAdaptive
                     ? std::make_unique<LatencyWindow>()
                     : nullptr),
      refresh_at_(std::numeric_limits<int64_t>::min()),
      delay_(options.when == When::kAfterDelay ? absl::ToInt64Nanoseconds(options.delay)
                                               : kNever.count()),
      deposit_(Tokens(options.ratio, kToken)),
      report_age_(kOldReport.count()),
      use_(kFirstUse),
      utilisation_(kUnknownUtilisation),
      reported_at_(std::numeric_limits<int64_t>::min()) {}

base::MonoDuration HedgePolicy::OnCall(base::MonoTime now) {
  if (HasBucket()) {
    int64_t due = refresh_at_.load(std::memory_order_relaxed);
    const int64_t time = Nanoseconds(now);
    if (time >= due && refresh_at_.compare_exchange_strong(due, time + kRefresh.count(),
                                                           std::memory_order_relaxed)) {
      const bool first = due == std::numeric_limits<int64_t>::min();
      Refresh(first ? kRefresh : base::MonoDuration(time - due) + kRefresh, now);
    }
    // Threads that meet at the brim may pass it by a deposit each.
    if (tokens_.load(std::memory_order_relaxed) < kFull)
      tokens_.fetch_add(deposit_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  return base::MonoDuration(delay_.load(std::memory_order_relaxed));
}

void HedgePolicy::Refresh(base::MonoDuration since_last, base::MonoTime now) {
  double percentile = options_.percentile;
  if (options_.when == When::kAdaptive) {
    if (!HearsReports(now)) MoveUtilisation(kUnknownUtilisation, kForgetWeight);
    const double share = AdaptiveShare();
    percentile = 1 - kPlanned * share;
    deposit_.store(Tokens(share, kToken), std::memory_order_relaxed);
    const double reports = reports_.exchange(0, std::memory_order_relaxed);
    const double seconds = std::chrono::duration<double>(since_last).count();
    report_age_.store((reports >= kManyReports * seconds ? kFreshReport : kOldReport).count(),
                      std::memory_order_relaxed);
  }
  const LatencyWindow::Percentile latency = latencies_->At(percentile, now);
  delay_.store((latency.samples < kFewest ? kNever : std::max(latency.value, kShortest)).count(),
               std::memory_order_relaxed);
}

void HedgePolicy::MoveUtilisation(double towards, double weight) {
  const double before = utilisation();
  utilisation_.store(before + weight * (towards - before), std::memory_order_relaxed);
}

double HedgePolicy::AdaptiveShare() const {
  const double spare = std::clamp((0.95 - utilisation()) / 0.35, 0.0, 1.0);
  const double use = kUses[use_.load(std::memory_order_relaxed)];
  return std::max(options_.ratio * std::min(spare, use), kLeastShare);
}

double HedgePolicy::share() const {
  return static_cast<double>(deposit_.load(std::memory_order_relaxed)) / kToken;
}

bool HedgePolicy::HearsReports(base::MonoTime now) const {
  const int64_t at = reported_at_.load(std::memory_order_relaxed);
  return at != std::numeric_limits<int64_t>::min() && Nanoseconds(now) - at <= kOldReport.count();
}

HedgePlace HedgePolicy::Place(base::MonoTime now) const {
  if (options_.when != When::kAdaptive) return HedgePlace::kAnyHost;
  if (HearsReports(now)) return HedgePlace::kHostWithRoom;
  return utilisation() < kBusy ? HedgePlace::kAnyHost : HedgePlace::kNowhere;
}

base::MonoDuration HedgePolicy::report_age() const {
  return base::MonoDuration(report_age_.load(std::memory_order_relaxed));
}

bool HedgePolicy::TryStart() {
  if (!HasBucket()) return armed();
  int64_t tokens = tokens_.load(std::memory_order_relaxed);
  while (tokens >= kToken) {
    if (tokens_.compare_exchange_weak(tokens, tokens - kToken, std::memory_order_relaxed))
      return true;
  }
  return false;
}

void HedgePolicy::OnCallEnd(base::MonoDuration took, base::MonoTime now) {
  // One that had no answer took at least as long, which is as much as can be said.
  if (HasBucket()) latencies_->Add(took, now);
}

void HedgePolicy::OnHedged(int hedges, bool won) {
  if (options_.when != When::kAdaptive) return;
  constexpr uint32_t kWon = 1u << 16;
  const uint32_t more = static_cast<uint32_t>(hedges) + (won ? kWon : 0);
  uint32_t before = hedges_.load(std::memory_order_relaxed);
  uint32_t after = 0;
  do {
    after = before + more;
    if ((after & (kWon - 1)) >= kVerdictHedges) after = 0;
  } while (!hedges_.compare_exchange_weak(before, after, std::memory_order_relaxed));
  if (after != 0) return;
  const uint32_t made = (before + more) & (kWon - 1);
  const double part = static_cast<double>((before + more) / kWon) / made;
  const size_t use = use_.load(std::memory_order_relaxed);
  if (part < kTooFewWon && use + 1 < kUseSteps) use_.store(use + 1, std::memory_order_relaxed);
  if (part > kManyWon && use > 0) use_.store(use - 1, std::memory_order_relaxed);
}

void HedgePolicy::OnReport(const LoadReport& report, base::MonoTime now) {
  if (options_.when != When::kAdaptive || report.workers == 0) return;
  MoveUtilisation(report.Busy(), kReportWeight);
  reported_at_.store(Nanoseconds(now), std::memory_order_relaxed);
  reports_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace weft::inline v0::policy
