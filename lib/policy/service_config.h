// ServiceConfig: gRPC's service config, read from its JSON form (gRFC A2; retries, hedging and
// throttling: gRFC A6; fields and their types: grpc/service_config/service_config.proto).
//
// Strict, because it decides how often servers are called, and a field with a slip in its name
// would be a default that nobody asked for: what is not known, given twice, of another type or out
// of range refuses the whole text. The exceptions are gRPC's own: a balancer that is not known is
// passed over while a known one follows, more than five attempts count as five, and a methodConfig
// without names is checked and then left out.
//
// Types are those of proto3's JSON: numbers also as strings ("4"), whole ones also as 4.0 or 4e0;
// durations as seconds with up to nine decimals ("1.5s"; ".5s" as in gRFC A6). `null` stands for
// what is not there only within a name, where the proto says so; elsewhere it is what a template
// leaves of a value that it did not have, and is refused.
#ifndef WEFT_LIB_POLICY_SERVICE_CONFIG_H_
#define WEFT_LIB_POLICY_SERVICE_CONFIG_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "policy/hedge_policy.h"
#include "policy/retry_policy.h"
#include "policy/retry_throttle.h"

namespace weft::inline v0::policy {

inline constexpr size_t kMaxServiceConfigBytes = size_t{1} << 20;

// hedgingPolicy: attempts that do not wait for the one before to fail; and where none runs any more
// because the last one ended with a non-fatal code, the next one at once.
struct MethodHedging {
  int max_attempts = 2;  // in all, 2 … 5
  absl::Duration delay = absl::ZeroDuration();
  // The two halves of it.
  std::shared_ptr<HedgePolicy> beside;
  RetryPolicy after;  // non-fatal codes are its retryable ones
};

// What is not set is not in the config. Limits are of one message, without its gRPC prefix; 0 means
// that it has to be empty.
struct MethodConfig {
  std::optional<bool> wait_for_ready;
  std::optional<absl::Duration> timeout;  // 0 or more
  std::optional<size_t> max_request_bytes;
  std::optional<size_t> max_response_bytes;
  // Not both. The retry policy has no attempt timeout: the config knows none.
  std::optional<RetryPolicy> retry;
  std::optional<MethodHedging> hedging;
};

// Immutable, so thread-safe.
class ServiceConfig {
 public:
  // INVALID_ARGUMENT names the path and what it has to be
  // ("methodConfig[1].retryPolicy.maxAttempts must be a whole number of at least 2"), or the byte
  // where the text is no JSON. Throws nothing.
  static absl::StatusOr<std::shared_ptr<const ServiceConfig>> Parse(std::string_view json);

  // Of "/package.Service/Method", without a query: what is said of the method, else of its service,
  // else of all; null: nothing is. Two look-ups at most, no allocation. Lives as long as this.
  const MethodConfig* Find(std::string_view path) const;

  const std::optional<RetryThrottling>& retry_throttling() const { return retry_throttling_; }

  // Balancers in order of preference, known or not, as loadBalancingConfig (else
  // loadBalancingPolicy) names them; and the first of them that is known. Empty: nothing is said.
  const std::vector<std::string>& balancers() const { return balancers_; }
  const std::string& balancer() const { return balancer_; }

  ServiceConfig(const ServiceConfig&) = delete;
  ServiceConfig& operator=(const ServiceConfig&) = delete;

 private:
  friend class ServiceConfigReader;
  ServiceConfig() = default;

  std::vector<MethodConfig> methods_;
  // "/service/method", and "/service/" for a service.
  absl::flat_hash_map<std::string, const MethodConfig*> by_name_;
  const MethodConfig* of_all_ = nullptr;
  std::optional<RetryThrottling> retry_throttling_;
  std::vector<std::string> balancers_;
  std::string balancer_;
};

}  // namespace weft::inline v0::policy

#endif  // WEFT_LIB_POLICY_SERVICE_CONFIG_H_
