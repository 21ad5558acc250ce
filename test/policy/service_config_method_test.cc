// The values of a methodConfig.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "policy/service_config.h"
#include "policy/service_config_text.h"
#include "support/catch.h"

namespace weft::policy {
namespace {

using namespace std::chrono_literals;

TEST_CASE("durations are those of proto JSON") {
  const std::vector<std::pair<std::string, absl::Duration>> good = {
      {"1s", absl::Seconds(1)},
      {"1.5s", absl::Milliseconds(1500)},
      {".5s", absl::Milliseconds(500)},
      {"0s", absl::ZeroDuration()},
      {"0.000000001s", absl::Nanoseconds(1)},
      {"1.000340012s", absl::Seconds(1) + absl::Nanoseconds(340012)},
      {"0.10s", absl::Milliseconds(100)},
      {"007s", absl::Seconds(7)},
      {"315576000000s", absl::Seconds(315'576'000'000)},
      {"315576000000.0s", absl::Seconds(315'576'000'000)},
  };
  for (const auto& [text, duration] : good) {
    CAPTURE(text);
    CHECK(MethodOf(R"("timeout": ")" + text + "\"").timeout == duration);
  }
  const std::string error =
      "methodConfig[0].timeout must be a string of seconds such as \"1.5s\", with up to nine "
      "decimals, from 0s to 315576000000s";
  for (const char* text : {R"("")",
                           R"("s")",
                           R"(".s")",
                           R"("1.s")",
                           R"("1")",
                           R"("1 s")",
                           R"(" 1s")",
                           R"("1s ")",
                           R"("-1s")",
                           R"("-0s")",
                           R"("+1s")",
                           R"("1.0000000001s")",
                           R"("1e3s")",
                           R"("1.5.5s")",
                           R"("1ms")",
                           R"("1m")",
                           R"("1S")",
                           R"("infs")",
                           R"("0x1s")",
                           R"("1,5s")",
                           R"("1.-5s")",
                           R"("315576000001s")",
                           R"("315576000000.000000001s")",
                           R"("99999999999999999999999999s")",
                           R"("1\u0000s")",
                           "1",
                           "1.5",
                           "null",
                           "true",
                           "{}",
                           "[]",
                           R"({"seconds": 1})"}) {
    CAPTURE(text);
    CHECK(ErrorOf(WithFields(R"("timeout": )" + std::string(text))) == error);
  }
}

TEST_CASE("whole numbers are read in every form of proto JSON") {
  const std::vector<std::pair<std::string, size_t>> good = {{"0", 0},
                                                            {"-0", 0},
                                                            {"7", 7},
                                                            {"7.0", 7},
                                                            {"7e0", 7},
                                                            {"70E-1", 7},
                                                            {"0.7e+1", 7},
                                                            {R"("7")", 7},
                                                            {R"("7.0")", 7},
                                                            {R"("70e-1")", 7},
                                                            {R"("0")", 0},
                                                            {"4294967295", 4294967295},
                                                            {R"("4294967295")", 4294967295}};
  for (const auto& [text, value] : good) {
    CAPTURE(text);
    CHECK(MethodOf(R"("maxRequestMessageBytes": )" + text).max_request_bytes == value);
    CHECK(MethodOf(R"("maxResponseMessageBytes": )" + text).max_response_bytes == value);
  }
  for (const char* text : {"-1",
                           "0.5",
                           "4294967296",
                           "1e300",
                           "18446744073709551616",
                           R"("")",
                           R"("-1")",
                           R"("0.5")",
                           R"("4294967296")",
                           R"("1e999")",
                           R"("07")",
                           R"("7.")",
                           R"(".7")",
                           R"("7e")",
                           R"("+7")",
                           R"(" 7")",
                           R"("7 ")",
                           R"("0x7")",
                           R"("NaN")",
                           R"("Infinity")",
                           R"("inf")",
                           R"("nan")",
                           R"("7b")",
                           R"("1,000")",
                           "null",
                           "true",
                           "{}",
                           "[]",
                           "[7]"}) {
    CAPTURE(text);
    CHECK(ErrorOf(WithFields(R"("maxRequestMessageBytes": )" + std::string(text))) ==
          "methodConfig[0].maxRequestMessageBytes must be a whole number from 0 to 4294967295");
  }
  CHECK(ErrorOf(WithFields(R"("maxResponseMessageBytes": -1)")) ==
        "methodConfig[0].maxResponseMessageBytes must be a whole number from 0 to 4294967295");
}

TEST_CASE("more than five attempts count as five, fewer than two are refused") {
  const std::vector<std::pair<std::string, int>> good = {
      {"2", 2}, {"5", 5}, {"6", 5}, {"4294967295", 5}, {"1e300", 5}, {"3.0", 3}, {R"("3")", 3}};
  for (const auto& [text, attempts] : good) {
    CAPTURE(text);
    CHECK(RetryOf({.attempts = text}).max_attempts() == attempts);
    CHECK(MethodOf(R"("hedgingPolicy": {"maxAttempts": )" + text + "}").hedging->max_attempts ==
          attempts);
  }
  for (const char* text : {"1", "0", "-1", "2.5", R"("1")", R"("x")", "null", "true", "[]"}) {
    CAPTURE(text);
    CHECK(ErrorOf(WithFields(Retry({.attempts = text}))) ==
          "methodConfig[0].retryPolicy.maxAttempts must be a whole number of at least 2");
    CHECK(ErrorOf(WithFields(R"("hedgingPolicy": {"maxAttempts": )" + std::string(text) + "}")) ==
          "methodConfig[0].hedgingPolicy.maxAttempts must be a whole number of at least 2");
  }
}

TEST_CASE("pauses may shrink, and the first may be longer than the longest") {
  const RetryPolicy shrinking = RetryOf({.multiplier = "0.5"});
  CHECK(shrinking.Backoff(1, 0.5) == 100ms);
  CHECK(shrinking.Backoff(2, 0.5) == 50ms);
  CHECK(shrinking.Backoff(3, 0.5) == 25ms);
  CHECK(shrinking.Backoff(100000, 0.5) == 0ms);
  const RetryPolicy cut = RetryOf({.initial = R"("9s")", .longest = R"("2s")"});
  CHECK(cut.Backoff(1, 0.5) == 2s);
  CHECK(RetryOf({.multiplier = R"("1.5")"}).Backoff(2, 0.5) == 150ms);
}

TEST_CASE("the longest pauses that can be written do not overflow") {
  const std::string longest = R"("315576000000s")";
  const RetryPolicy policy =
      RetryOf({.initial = longest, .longest = longest, .multiplier = "1e308"});
  for (const int n : {1, 2, 4}) {
    CHECK(policy.Backoff(n, 1) > 24h * 365);
    CHECK(policy.Backoff(n, 1) < 24h * 365 * 2);
  }
}

TEST_CASE("codes are named in any case or numbered, and are no OK") {
  const std::vector<std::pair<std::string, uint32_t>> good = {
      {R"(["UNAVAILABLE"])", 1u << 14},
      {R"(["unavailable", "Unavailable", 14])", 1u << 14},
      {R"([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16])", 0x1fffe},
      {R"(["CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
           "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
           "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
           "UNAUTHENTICATED"])",
       0x1fffe},
      {R"([14.0, 1e1])", (1u << 14) | (1u << 10)},
  };
  for (const auto& [text, mask] : good) {
    CAPTURE(text);
    const RetryPolicy policy = RetryOf({.codes = text});
    const MethodConfig hedged =
        MethodOf(R"("hedgingPolicy": {"maxAttempts": 2, "nonFatalStatusCodes": )" + text + "}");
    for (int n = 0; n <= 16; ++n) {
      const auto code = static_cast<absl::StatusCode>(n);
      CHECK(policy.IsRetryable(code) == ((mask >> n & 1) != 0));
      CHECK(hedged.hedging->after.IsRetryable(code) == ((mask >> n & 1) != 0));
    }
  }
  const std::string rule = " must be an error code of gRPC: its name, or its number from 1 to 16";
  for (const char* text : {R"("OK")", "0", "17", "-1", "1.5", "1e300", R"("14")", R"("")",
                           R"("UNAVAILABLE ")", R"("CANCELED")", "null", "true", "{}", "[]"}) {
    CAPTURE(text);
    CHECK(ErrorOf(WithFields(Retry({.codes = "[14, " + std::string(text) + "]"}))) ==
          "methodConfig[0].retryPolicy.retryableStatusCodes[1]" + rule);
    CHECK(ErrorOf(WithFields(R"("hedgingPolicy": {"maxAttempts": 2, "nonFatalStatusCodes": [)" +
                             std::string(text) + "]}")) ==
          "methodConfig[0].hedgingPolicy.nonFatalStatusCodes[0]" + rule);
  }
}

TEST_CASE("errors in a retryPolicy name the field") {
  const std::string at = "methodConfig[0].retryPolicy";
  const std::string duration =
      " must be a string of seconds such as \"1.5s\", with up to nine decimals, from 0s to "
      "315576000000s";
  CheckErrors({
      {WithFields(R"("retryPolicy": {})"), at + ".maxAttempts is missing"},
      {WithFields(R"("retryPolicy": {"maxAttempts": 2})"), at + ".initialBackoff is missing"},
      {WithFields(R"("retryPolicy": {"maxAttempts": 2, "initialBackoff": "1s"})"),
       at + ".maxBackoff is missing"},
      {WithFields(R"("retryPolicy": {"maxAttempts": 2, "initialBackoff": "1s",
                                     "maxBackoff": "1s"})"),
       at + ".backoffMultiplier is missing"},
      {WithFields(R"("retryPolicy": {"maxAttempts": 2, "initialBackoff": "1s",
                                     "maxBackoff": "1s", "backoffMultiplier": 1})"),
       at + ".retryableStatusCodes is missing"},
      {WithFields(R"("retryPolicy": [])"), at + " must be an object"},
      {WithFields(R"("retryPolicy": null)"), at + " must be an object"},
      {WithFields(R"("retryPolicy": {"perAttemptRecvTimeout": "1s"})"),
       at + " has the unknown field \"perAttemptRecvTimeout\"; known are maxAttempts, "
            "initialBackoff, maxBackoff, backoffMultiplier, retryableStatusCodes"},
      {WithFields(Retry({.initial = R"("0s")"})), at + ".initialBackoff must be more than 0s"},
      {WithFields(Retry({.initial = R"("-1s")"})), at + ".initialBackoff" + duration},
      {WithFields(Retry({.longest = R"("0.0s")"})), at + ".maxBackoff must be more than 0s"},
      {WithFields(Retry({.longest = "1"})), at + ".maxBackoff" + duration},
      {WithFields(Retry({.multiplier = "0"})),
       at + ".backoffMultiplier must be a number of more than 0"},
      {WithFields(Retry({.multiplier = "-1"})),
       at + ".backoffMultiplier must be a number of more than 0"},
      {WithFields(Retry({.multiplier = R"("Infinity")"})),
       at + ".backoffMultiplier must be a number of more than 0"},
      {WithFields(Retry({.multiplier = R"("NaN")"})),
       at + ".backoffMultiplier must be a number of more than 0"},
      {WithFields(Retry({.multiplier = "null"})),
       at + ".backoffMultiplier must be a number of more than 0"},
      {WithFields(Retry({.codes = "[]"})), at + ".retryableStatusCodes must have a code at least"},
      {WithFields(Retry({.codes = R"("UNAVAILABLE")"})),
       at + ".retryableStatusCodes must be a list"},
      {WithFields(Retry({.codes = "{}"})), at + ".retryableStatusCodes must be a list"},
  });
}

TEST_CASE("errors elsewhere in a methodConfig name the field") {
  CheckErrors({
      {R"({"methodConfig": {}})", "methodConfig must be a list"},
      {R"({"methodConfig": null})", "methodConfig must be a list"},
      {R"({"methodConfig": [[]]})", "methodConfig[0] must be an object"},
      {R"({"methodConfig": [{}, {}, 3]})", "methodConfig[2] must be an object"},
      {R"({"methodConfig": [{}, {"name": {}}]})", "methodConfig[1].name must be a list"},
      {R"({"methodConfig": [{"name": ["s"]}]})", "methodConfig[0].name[0] must be an object"},
      {R"({"methodConfig": [{"name": [{"service": 1}]}]})",
       "methodConfig[0].name[0].service must be a string"},
      {R"({"methodConfig": [{"name": [{"service": "s", "method": []}]}]})",
       "methodConfig[0].name[0].method must be a string"},
      {R"({"methodConfig": [{"name": [{"method": "m"}]}]})",
       "methodConfig[0].name[0] has a method, but no service"},
      {R"({"methodConfig": [{"name": [{"service": "/s"}]}]})",
       "methodConfig[0].name[0].service must not begin or end with a /"},
      {R"({"methodConfig": [{"name": [{"service": "s/"}]}]})",
       "methodConfig[0].name[0].service must not begin or end with a /"},
      {R"({"methodConfig": [{"name": [{"service": "s", "method": "a/b"}]}]})",
       "methodConfig[0].name[0].method must not have a /"},
      {R"({"methodConfig": [{"name": [{"services": "s"}]}]})",
       "methodConfig[0].name[0] has the unknown field \"services\"; known are service, method"},
      {WithFields(R"("waitForReady": "true")"),
       "methodConfig[0].waitForReady must be true or false"},
      {WithFields(R"("waitForReady": 1)"), "methodConfig[0].waitForReady must be true or false"},
      {WithFields(R"("waitForReady": null)"), "methodConfig[0].waitForReady must be true or false"},
      {WithFields(R"("wait_for_ready": true)"),
       "methodConfig[0] has the unknown field \"wait_for_ready\"; known are name, waitForReady, "
       "timeout, maxRequestMessageBytes, maxResponseMessageBytes, retryPolicy, hedgingPolicy"},
      {WithFields(Retry({}) + R"(, "hedgingPolicy": {"maxAttempts": 2})"),
       "methodConfig[0] must not have both retryPolicy and hedgingPolicy"},
      {WithFields(R"("hedgingPolicy": {})"),
       "methodConfig[0].hedgingPolicy.maxAttempts is missing"},
      {WithFields(R"("hedgingPolicy": 2)"), "methodConfig[0].hedgingPolicy must be an object"},
      {WithFields(R"("hedgingPolicy": {"maxAttempts": 2, "hedgingDelay": "-1s"})"),
       "methodConfig[0].hedgingPolicy.hedgingDelay must be a string of seconds such as \"1.5s\", "
       "with up to nine decimals, from 0s to 315576000000s"},
      {WithFields(R"("hedgingPolicy": {"maxAttempts": 2, "nonFatalStatusCodes": 14})"),
       "methodConfig[0].hedgingPolicy.nonFatalStatusCodes must be a list"},
      {WithFields(R"("hedgingPolicy": {"delay": "1s"})"),
       "methodConfig[0].hedgingPolicy has the unknown field \"delay\"; known are maxAttempts, "
       "hedgingDelay, nonFatalStatusCodes"},
  });
}

}  // namespace
}  // namespace weft::policy
