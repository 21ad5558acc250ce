#include "policy/retry_policy.h"

#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include "support/catch.h"

namespace weft::policy {
namespace {

using namespace std::chrono_literals;

TEST_CASE("the defaults are valid, and repeat no answer") {
  CHECK(Validate(RetryOptions()).ok());
  const RetryPolicy policy;
  CHECK(policy.max_attempts() == 3);
  for (int code = 0; code <= 16; ++code)
    CHECK_FALSE(policy.IsRetryable(static_cast<absl::StatusCode>(code)));
}

TEST_CASE("codes are retryable that were named, and no other") {
  const RetryPolicy policy(
      {.retryable = {absl::StatusCode::kUnavailable, absl::StatusCode::kAborted}});
  for (int code = 0; code <= 16; ++code)
    CHECK(policy.IsRetryable(static_cast<absl::StatusCode>(code)) == (code == 14 || code == 10));
}

TEST_CASE("options out of range are refused with their name") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<RetryOptions, std::string>> wrong = {
      {{.max_attempts = 0}, "max_attempts"},
      {{.max_attempts = 6}, "max_attempts"},
      {{.retryable = {absl::StatusCode::kOk}}, "retryable"},
      {{.retryable = {static_cast<absl::StatusCode>(17)}}, "retryable"},
      {{.retryable = {static_cast<absl::StatusCode>(-1)}}, "retryable"},
      {{.initial_backoff = absl::ZeroDuration()}, "initial_backoff"},
      {{.initial_backoff = absl::InfiniteDuration()}, "initial_backoff"},
      {{.initial_backoff = absl::Seconds(2)}, "max_backoff"},
      {{.backoff_multiplier = 0.5}, "backoff_multiplier"},
      {{.backoff_multiplier = nan}, "backoff_multiplier"},
      {{.max_backoff = absl::InfiniteDuration()}, "max_backoff"},
      {{.attempt_timeout = absl::ZeroDuration()}, "attempt_timeout"},
      {{.budget_ratio = -1}, "budget_ratio"},
      {{.budget_ratio = nan}, "budget_ratio"},
      {{.budget_reserve_per_second = nan}, "budget_reserve_per_second"},
  };
  for (const auto& [options, name] : wrong) {
    const absl::Status status = Validate(options);
    CAPTURE(name, status);
    CHECK(absl::IsInvalidArgument(status));
    CHECK(std::string(status.message()).find("RetryOptions::" + name + " ") == 0);
  }
}

TEST_CASE("the pause grows to its maximum, and varies by a fifth") {
  const RetryPolicy policy({.initial_backoff = absl::Milliseconds(10),
                            .backoff_multiplier = 3,
                            .max_backoff = absl::Milliseconds(50)});
  CHECK(policy.Backoff(1, 0.5) == 10ms);
  CHECK(policy.Backoff(2, 0.5) == 30ms);
  CHECK(policy.Backoff(3, 0.5) == 50ms);
  CHECK(policy.Backoff(1000, 0.5) == 50ms);
  CHECK(policy.Backoff(1, 0) == 8ms);
  CHECK(policy.Backoff(3, 1) == 60ms);
}

TEST_CASE("whether another attempt follows, for every end of an attempt") {
  using What = AttemptEnd::What;
  using Kind = RetryDecision::Kind;
  const RetryPolicy policy({.retryable = {absl::StatusCode::kUnavailable}});
  for (const What what : {What::kNotSent, What::kGoaway, What::kRefused, What::kLost,
                          What::kAnswered, What::kOther}) {
    for (const auto code : {absl::StatusCode::kUnavailable, absl::StatusCode::kInternal}) {
      for (const auto pushback : {Pushback::Kind::kNothing, Pushback::Kind::kStop}) {
        for (const bool idempotent : {false, true}) {
          for (const bool grpc : {false, true}) {
            for (const bool refused_before : {false, true}) {
              for (const int attempts : {1, 2, 3, 4}) {
                const AttemptEnd end = {what, code, {pushback}};
                const CallFacts call = {idempotent, grpc, refused_before, attempts};
                Kind expected = Kind::kNo;
                if (what == What::kNotSent || what == What::kGoaway) expected = Kind::kByItself;
                if (what == What::kRefused && !refused_before) expected = Kind::kByItself;
                const Kind another = attempts < 3 ? Kind::kAfter : Kind::kNoMore;
                if (what == What::kRefused && refused_before) expected = another;
                if (what == What::kLost && idempotent) expected = another;
                if (what == What::kAnswered && code == absl::StatusCode::kUnavailable &&
                    (idempotent || grpc))
                  expected = pushback == Pushback::Kind::kStop ? Kind::kNoMore : another;
                CAPTURE(static_cast<int>(what), static_cast<int>(code), static_cast<int>(pushback),
                        idempotent, grpc, refused_before, attempts);
                const RetryDecision decision = policy.Decide(end, call, 3, 0.5);
                CHECK(decision.kind == expected);
                if (expected == Kind::kAfter) CHECK(decision.wait == policy.Backoff(attempts, 0.5));
              }
            }
          }
        }
      }
    }
  }
  const AttemptEnd pushed = {
      What::kAnswered, absl::StatusCode::kUnavailable, {Pushback::Kind::kWait, 7s}};
  CHECK(policy.Decide(pushed, {.idempotent = true}, 3, 0.5).wait == 7s);
  CHECK(policy.Decide(pushed, {.idempotent = true}, 1, 0.5).kind == Kind::kNoMore);
}

TEST_CASE("what a host says about another attempt") {
  using Kind = Pushback::Kind;
  const absl::Time now =
      absl::FromCivil(absl::CivilSecond(2026, 1, 2, 3, 4, 5), absl::UTCTimeZone());
  const auto said = [&](const Headers& headers, const Headers& trailers = {}) {
    return PushbackOf(headers, trailers, now);
  };
  CHECK(said({}).kind == Kind::kNothing);
  CHECK(said({}, {{"grpc-retry-pushback-ms", "25"}}).wait == 25ms);
  CHECK(said({{"grpc-retry-pushback-ms", "25"}}).wait == 25ms);
  CHECK(said({{"retry-after", "9"}}, {{"grpc-retry-pushback-ms", "0"}}).wait == 0ms);
  for (const char* text : {"-1", "", "x", "1.5", " 1", "+1"})
    CHECK(said({}, {{"grpc-retry-pushback-ms", text}}).kind == Kind::kStop);
  CHECK(said({}, {{"grpc-retry-pushback-ms", "2147483648"}}).wait == 2147483648ms);
  CHECK(said({}, {{"grpc-retry-pushback-ms", "99999999999999999999"}}).wait ==
        std::chrono::hours(24 * 365));

  CHECK(said({{"retry-after", "120"}}).wait == 120s);
  CHECK(said({{"retry-after", "Fri, 02 Jan 2026 03:04:35 GMT"}}).wait == 30s);
  CHECK(said({{"retry-after", "Fri, 02 Jan 2026 03:04:00 GMT"}}).wait == 0s);
  CHECK(said({{"retry-after", "99999999999999999999"}}).wait == std::chrono::hours(24 * 365));
  for (const char* text : {"-1", "", "soon", "1.5"})
    CHECK(said({{"retry-after", text}}).kind == Kind::kNothing);
}

}  // namespace
}  // namespace weft::policy
