// Any text: a config whose every value is in range, or an error that can be read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "policy/retry_throttle.h"
#include "policy/service_config.h"

namespace {

void Check(const weft::policy::MethodConfig& method) {
  if (method.timeout.has_value() && *method.timeout < absl::ZeroDuration()) abort();
  if (method.retry.has_value() && method.hedging.has_value()) abort();
  if (method.retry.has_value()) {
    if (method.retry->max_attempts() < 2 || method.retry->max_attempts() > 5) abort();
    if (method.retry->IsRetryable(absl::StatusCode::kOk)) abort();
    for (int n = 1; n <= 5; ++n) {
      if (method.retry->Backoff(n, 1) < weft::base::MonoDuration(0)) abort();
    }
  }
  if (method.hedging.has_value()) {
    if (method.hedging->max_attempts < 2 || method.hedging->max_attempts > 5) abort();
    if (method.hedging->delay < absl::ZeroDuration()) abort();
    if (method.hedging->after.IsRetryable(absl::StatusCode::kOk)) abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = weft::policy::ServiceConfig::Parse(text);
  if (!config.ok()) {
    if (config.status().code() != absl::StatusCode::kInvalidArgument) abort();
    if (config.status().message().empty() || config.status().message().size() > 10'000) abort();
    return 0;
  }
  if (*config == nullptr) abort();
  for (const std::string_view path :
       {std::string_view("/a.B/C"), std::string_view("/a.B/D"), std::string_view("/s/m"),
        std::string_view("/"), std::string_view(), text.substr(0, 40)}) {
    if (const weft::policy::MethodConfig* method = (*config)->Find(path)) Check(*method);
  }
  if ((*config)->balancers().empty() != (*config)->balancer().empty()) abort();
  if (const auto& throttling = (*config)->retry_throttling()) {
    if (!(throttling->max_tokens >= 1) || throttling->max_tokens > 1000) abort();
    if (!(throttling->token_ratio > 0)) abort();
    weft::policy::RetryThrottle throttle(*throttling);
    throttle.OnFailure();
    throttle.OnSuccess();
    if (throttle.tokens() < 0 || throttle.tokens() > throttling->max_tokens) abort();
  }
  return 0;
}
