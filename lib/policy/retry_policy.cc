#include "policy/retry_policy.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace weft::inline v0::policy {
namespace {

constexpr auto kYear = std::chrono::hours(24 * 365);

double Nanoseconds(absl::Duration duration) { return absl::ToDoubleNanoseconds(duration); }

absl::Status Refuse(std::string_view field, std::string_view rule) {
  return absl::InvalidArgumentError(
      absl::StrCat("RetryOptions::", base::V(field), " must be ", base::V(rule)));
}

// Digits only; what is too large for the type counts as its largest.
std::optional<int64_t> Digits(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? value : INT64_MAX;
}

Pushback WaitFor(absl::Duration wait) {
  const auto ns = std::chrono::nanoseconds(
      absl::ToInt64Nanoseconds(std::clamp(wait, absl::ZeroDuration(), absl::FromChrono(kYear))));
  return {Pushback::Kind::kWait, ns};
}

}  // namespace

absl::Status Validate(const RetryOptions& options) {
  if (options.max_attempts < 1 || options.max_attempts > 5) return Refuse("max_attempts", "1 … 5");
  for (const absl::StatusCode code : options.retryable) {
    if (code == absl::StatusCode::kOk || static_cast<unsigned>(code) > 16)
      return Refuse("retryable", "error codes of gRPC");
  }
  if (options.initial_backoff <= absl::ZeroDuration() ||
      options.initial_backoff == absl::InfiniteDuration())
    return Refuse("initial_backoff", "more than nothing, and finite");
  if (options.max_backoff < options.initial_backoff ||
      options.max_backoff == absl::InfiniteDuration())
    return Refuse("max_backoff", "at least initial_backoff, and finite");
  if (!(options.backoff_multiplier >= 1) || !std::isfinite(options.backoff_multiplier))
    return Refuse("backoff_multiplier", "1 or more");
  if (options.attempt_timeout <= absl::ZeroDuration())
    return Refuse("attempt_timeout", "more than nothing");
  if (!(options.budget_ratio >= 0) || options.budget_ratio > 10)
    return Refuse("budget_ratio", "0 … 10");
  if (!(options.budget_reserve_per_second >= 0) || options.budget_reserve_per_second > 10000)
    return Refuse("budget_reserve_per_second", "0 … 10,000");
  return absl::OkStatus();
}

RetryPolicy::RetryPolicy(const RetryOptions& options)
    : max_attempts_(options.max_attempts),
      initial_ns_(Nanoseconds(options.initial_backoff)),
      multiplier_(options.backoff_multiplier),
      max_ns_(Nanoseconds(options.max_backoff)),
      attempt_timeout_(options.attempt_timeout == absl::InfiniteDuration()
                           ? base::MonoDuration::max()
                           : absl::ToChronoNanoseconds(options.attempt_timeout)) {
  for (const absl::StatusCode code : options.retryable) codes_ |= 1u << static_cast<unsigned>(code);
}

RetryDecision RetryPolicy::Decide(const AttemptEnd& end, const CallFacts& call, int max_attempts,
                                  double chance) const {
  using What = AttemptEnd::What;
  const auto no = [](const char* why, RetryDecision::Kind kind = RetryDecision::Kind::kNo) {
    return RetryDecision{kind, base::MonoDuration::zero(), why};
  };
  switch (end.what) {
    case What::kNotSent:
    case What::kGoaway:
      return {RetryDecision::Kind::kByItself};
    case What::kRefused:
      if (!call.refused_before) return {RetryDecision::Kind::kByItself};
      break;
    case What::kLost:
      if (!call.idempotent) return no("it may have been processed, and is not idempotent");
      break;
    case What::kAnswered:
      if (!IsRetryable(end.code)) return no("");  // the code says enough
      if (!call.idempotent && !call.grpc) return no("it is not idempotent");
      if (end.pushback.kind == Pushback::Kind::kStop)
        return no("the host asked for no other", RetryDecision::Kind::kNoMore);
      break;
    case What::kOther:
      return no("such an end is not repeated");
  }
  if (call.attempts >= max_attempts)
    return no("max_attempts were made", RetryDecision::Kind::kNoMore);
  return {RetryDecision::Kind::kAfter, end.pushback.kind == Pushback::Kind::kWait
                                           ? end.pushback.wait
                                           : Backoff(call.attempts, chance)};
}

base::MonoDuration RetryPolicy::Backoff(int n, double chance) const {
  const double ns = std::min(initial_ns_ * std::pow(multiplier_, n - 1), max_ns_);
  return std::chrono::nanoseconds(static_cast<int64_t>(ns * (0.8 + 0.4 * chance)));
}

Pushback PushbackOf(const Headers& headers, const Headers& trailers, absl::Time now) {
  std::optional<std::string_view> ms = trailers.Find("grpc-retry-pushback-ms");
  if (!ms.has_value()) ms = headers.Find("grpc-retry-pushback-ms");
  if (ms.has_value()) {
    const std::optional<int64_t> value = Digits(*ms);
    if (!value.has_value()) return {Pushback::Kind::kStop};
    return WaitFor(absl::Milliseconds(*value));
  }
  const std::optional<std::string_view> after = headers.Find("retry-after");
  if (!after.has_value()) return {};
  if (const std::optional<int64_t> seconds = Digits(*after))
    return WaitFor(absl::Seconds(*seconds));
  absl::Time date;
  std::string error;
  if (!absl::ParseTime("%a, %d %b %Y %H:%M:%S GMT", base::V(*after), &date, &error)) return {};
  return WaitFor(date - now);
}

}  // namespace weft::inline v0::policy
