#include "cluster/health_checker.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "base/visible.h"

namespace weft::inline v0::cluster {
namespace {

absl::Status Refuse(std::string_view field, std::string_view rule) {
  return absl::InvalidArgumentError(
      absl::StrCat("HealthCheckOptions::", base::V(field), " must be ", base::V(rule)));
}

}  // namespace

absl::Status Validate(const HealthCheckOptions& options) {
  using Kind = HealthCheckOptions::Kind;
  const auto between = [](auto value, auto low, auto high) {
    return value >= low && value <= high;
  };
  if (options.kind > Kind::kGrpc) return Refuse("kind", "one of its values");
  if (!base::IsVisiblePath(options.path)) return Refuse("path", "a path that begins with '/'");
  for (const int status : options.expected_statuses) {
    if (!between(status, 200, 599)) return Refuse("expected_statuses", "200 … 599 each");
  }
  if (options.service.size() > 1024 || !base::IsVisible(options.service))
    return Refuse("service", "a name of at most 1024 bytes");
  if (!between(options.interval, absl::Milliseconds(100), absl::Hours(1)))
    return Refuse("interval", "100 ms … 1 h");
  if (!between(options.timeout, absl::Milliseconds(1), absl::Minutes(1)))
    return Refuse("timeout", "1 ms … 1 min");
  if (!between(options.healthy_threshold, 1, 100)) return Refuse("healthy_threshold", "1 … 100");
  if (!between(options.unhealthy_threshold, 1, 100))
    return Refuse("unhealthy_threshold", "1 … 100");
  return absl::OkStatus();
}

CheckResult JudgeHttp(const HealthCheckOptions& options, int status) {
  const std::vector<int>& expected = options.expected_statuses;
  const bool passed = expected.empty()
                          ? status == 200
                          : std::find(expected.begin(), expected.end(), status) != expected.end();
  return passed ? CheckResult::kPassed : CheckResult::kFailed;
}

HealthChecker::HealthChecker(const HealthCheckOptions& options, base::Random random,
                             base::MonoTime now)
    : healthy_threshold_(options.healthy_threshold),
      unhealthy_threshold_(options.unhealthy_threshold),
      interval_(absl::ToChronoNanoseconds(options.interval)),
      random_(std::move(random)),
      next_(now) {}

bool HealthChecker::OnEnd(CheckResult result, base::MonoTime now) {
  const base::MonoDuration mean =
      result == CheckResult::kVoid ? std::min(interval_, kAfterVoid) : interval_;
  const double pause = static_cast<double>(mean.count()) * random_.Uniform(0.9, 1.1);
  next_ = now + base::MonoDuration(static_cast<int64_t>(pause));
  if (result == CheckResult::kVoid) return false;
  const State says = result == CheckResult::kPassed ? State::kHealthy : State::kUnhealthy;
  if (says == state_) {
    against_ = 0;
    return false;
  }
  const int wanted = says == State::kHealthy ? healthy_threshold_ : unhealthy_threshold_;
  if (state_ != State::kUnknown && ++against_ < wanted) return false;
  state_ = says;
  against_ = 0;
  return true;
}

}  // namespace weft::inline v0::cluster
