// Texts of service configs, and what becomes of them.
#ifndef WEFT_TEST_POLICY_SERVICE_CONFIG_TEXT_H_
#define WEFT_TEST_POLICY_SERVICE_CONFIG_TEXT_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "policy/service_config.h"
#include "support/catch.h"

namespace weft::policy {

using Config = std::shared_ptr<const ServiceConfig>;

inline Config Parse(std::string_view text) {
  INFO(text.substr(0, 1000));
  absl::StatusOr<Config> config = ServiceConfig::Parse(text);
  INFO(config.status().ToString());
  REQUIRE(config.ok());
  REQUIRE(*config != nullptr);
  return *std::move(config);
}

inline std::string ErrorOf(std::string_view text) {
  INFO(text.substr(0, 1000));
  const absl::StatusOr<Config> config = ServiceConfig::Parse(text);
  REQUIRE_FALSE(config.ok());
  CHECK(config.status().code() == absl::StatusCode::kInvalidArgument);
  return std::string(config.status().message());
}

// One methodConfig, for all methods, with these fields.
inline std::string WithFields(const std::string& fields) {
  return R"({"methodConfig": [{"name": [{}], )" + fields + "}]}";
}
inline MethodConfig MethodOf(const std::string& fields) {
  const Config config = Parse(WithFields(fields));
  REQUIRE(config->Find("/s/m") != nullptr);
  return *config->Find("/s/m");
}

struct RetryFields {
  std::string attempts = "4";
  std::string initial = R"("0.1s")";
  std::string longest = R"("1s")";
  std::string multiplier = "2";
  std::string codes = R"(["UNAVAILABLE"])";
};
inline std::string Retry(const RetryFields& f) {
  return R"("retryPolicy": {"maxAttempts": )" + f.attempts + R"(, "initialBackoff": )" + f.initial +
         R"(, "maxBackoff": )" + f.longest + R"(, "backoffMultiplier": )" + f.multiplier +
         R"(, "retryableStatusCodes": )" + f.codes + "}";
}
inline RetryPolicy RetryOf(const RetryFields& fields) {
  const MethodConfig method = MethodOf(Retry(fields));
  REQUIRE(method.retry.has_value());
  return *method.retry;
}

inline void CheckErrors(const std::vector<std::pair<std::string, std::string>>& cases) {
  for (const auto& [text, error] : cases) {
    CAPTURE(text);
    CHECK(ErrorOf(text) == error);
  }
}

}  // namespace weft::policy

#endif  // WEFT_TEST_POLICY_SERVICE_CONFIG_TEXT_H_
