#include "policy/service_config.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "policy/service_config_json.h"
#include "weft/retry_options.h"

namespace weft::inline v0::policy {
namespace {

constexpr double kMostAttempts = 5;  // gRFC A6, "Limits on Retries and Hedges"
// Keeps sums of pauses and times far from where they overflow.
constexpr absl::Duration kLongestBackoff = absl::Hours(24 * 365);
// Those of balance/named.h, which this folder cannot see; a test compares them.
constexpr std::string_view kBalancers[] = {"round_robin", "weighted_round_robin",
                                           "random",      "least_request",
                                           "peak_ewma",   "pick_first",
                                           "ring_hash",   "maglev",
                                           "prequal",     "fresh_load"};

bool ReadAttempts(const JsonNode& node, int* to) {
  constexpr std::string_view kRule = "a whole number of at least 2";
  double number = 0;
  if (!node.ReadNumber(kRule, &number)) return false;
  if (number != std::floor(number) || number < 2) {
    return node.Fail(absl::StrCat("must be ", base::V(kRule)));
  }
  *to = static_cast<int>(std::min(number, kMostAttempts));
  return true;
}

bool ReadBackoff(const JsonNode& node, absl::Duration* to) {
  if (!node.ReadDuration(to)) return false;
  if (*to == absl::ZeroDuration()) return node.Fail("must be more than 0s");
  *to = std::min(*to, kLongestBackoff);
  return true;
}

// By the name in any case, or the number. An answer of OK is no error to act upon.
bool ReadCode(const JsonNode& node, absl::StatusCode* to) {
  constexpr std::string_view kRule =
      "must be an error code of gRPC: its name, or its number from 1 to 16";
  const Json& value = node.value();
  if (value.is_string()) {
    const auto& name = value.get_ref<const std::string&>();
    for (int code = 1; code <= 16; ++code) {
      *to = static_cast<absl::StatusCode>(code);
      if (absl::EqualsIgnoreCase(name, absl::StatusCodeToString(*to))) return true;
    }
    return node.Fail(kRule);
  }
  if (!value.is_number()) return node.Fail(kRule);
  const auto number = value.get<double>();
  if (number != std::floor(number) || number < 1 || number > 16) return node.Fail(kRule);
  *to = static_cast<absl::StatusCode>(static_cast<int>(number));
  return true;
}

bool ReadRetryPolicy(const JsonNode& node, std::optional<RetryPolicy>* to) {
  RetryOptions options;
  const bool read =
      node.ReadFields({"maxAttempts", "initialBackoff", "maxBackoff", "backoffMultiplier",
                       "retryableStatusCodes"}) &&
      node.Required("maxAttempts",
                    [&](const JsonNode& n) { return ReadAttempts(n, &options.max_attempts); }) &&
      node.Required("initialBackoff",
                    [&](const JsonNode& n) { return ReadBackoff(n, &options.initial_backoff); }) &&
      node.Required("maxBackoff",
                    [&](const JsonNode& n) { return ReadBackoff(n, &options.max_backoff); }) &&
      node.Required("backoffMultiplier",
                    [&](const JsonNode& n) {
                      constexpr std::string_view kRule = "a number of more than 0";
                      if (!n.ReadNumber(kRule, &options.backoff_multiplier)) return false;
                      return options.backoff_multiplier > 0 ||
                             n.Fail(absl::StrCat("must be ", base::V(kRule)));
                    }) &&
      node.Required("retryableStatusCodes", [&](const JsonNode& list) {
        return list.ReadList([&](const JsonNode& n) {
          return ReadCode(n, &options.retryable.emplace_back());
        }) && (!options.retryable.empty() || list.Fail("must have a code at least"));
      });
  if (!read) return false;
  // Not asked of Validate, which wants pauses that grow, as code that sets them means them to. A6
  // has pauses that shrink, and a maxBackoff below initialBackoff; the policy computes both.
  to->emplace(options);
  return true;
}

bool ReadHedgingPolicy(const JsonNode& node, std::optional<MethodHedging>* to) {
  MethodHedging& hedging = to->emplace();
  RetryOptions after = {.initial_backoff = absl::ZeroDuration(),
                        .max_backoff = absl::ZeroDuration()};
  const bool read =
      node.ReadFields({"maxAttempts", "hedgingDelay", "nonFatalStatusCodes"}) &&
      node.Required("maxAttempts",
                    [&](const JsonNode& n) { return ReadAttempts(n, &hedging.max_attempts); }) &&
      node.Optional("hedgingDelay",
                    [&](const JsonNode& n) { return n.ReadDuration(&hedging.delay); }) &&
      node.Optional("nonFatalStatusCodes", [&](const JsonNode& list) {
        return list.ReadList(
            [&](const JsonNode& n) { return ReadCode(n, &after.retryable.emplace_back()); });
      });
  if (!read) return false;
  after.max_attempts = hedging.max_attempts;
  hedging.after = RetryPolicy(after);
  hedging.beside =
      std::make_shared<HedgePolicy>(HedgeOptions{.when = HedgeOptions::When::kAfterDelay,
                                                 .max_attempts = hedging.max_attempts,
                                                 .delay = hedging.delay});
  return true;
}

bool ReadMessageBytes(const JsonNode& node, std::optional<size_t>* to) {
  uint64_t bytes = 0;
  if (!node.ReadWhole(0, UINT32_MAX, "a whole number from 0 to 4294967295", &bytes)) return false;
  *to = static_cast<size_t>(bytes);
  return true;
}

// All of a methodConfig but its names.
bool ReadMethodConfig(const JsonNode& node, MethodConfig* to) {
  if (!node.ReadFields({"name", "waitForReady", "timeout", "maxRequestMessageBytes",
                        "maxResponseMessageBytes", "retryPolicy", "hedgingPolicy"})) {
    return false;
  }
  if (node.value().contains("retryPolicy") && node.value().contains("hedgingPolicy")) {
    return node.Fail("must not have both retryPolicy and hedgingPolicy");
  }
  return node.Optional("waitForReady", [&](const JsonNode& n) {
    return n.ReadBool(&to->wait_for_ready.emplace());
  }) && node.Optional("timeout", [&](const JsonNode& n) {
    return n.ReadDuration(&to->timeout.emplace());
  }) && node.Optional("maxRequestMessageBytes", [&](const JsonNode& n) {
    return ReadMessageBytes(n, &to->max_request_bytes);
  }) && node.Optional("maxResponseMessageBytes", [&](const JsonNode& n) {
    return ReadMessageBytes(n, &to->max_response_bytes);
  }) && node.Optional("retryPolicy", [&](const JsonNode& n) {
    return ReadRetryPolicy(n, &to->retry);
  }) && node.Optional("hedgingPolicy", [&](const JsonNode& n) {
    return ReadHedgingPolicy(n, &to->hedging);
  });
}

bool ReadRetryThrottling(const JsonNode& node, std::optional<RetryThrottling>* to) {
  RetryThrottling& throttling = to->emplace();
  return node.ReadFields({"maxTokens", "tokenRatio"}) &&
         node.Required("maxTokens",
                       [&](const JsonNode& n) {
                         uint64_t tokens = 0;
                         if (!n.ReadWhole(1, 1000, "a whole number from 1 to 1000", &tokens)) {
                           return false;
                         }
                         throttling.max_tokens = static_cast<double>(tokens);
                         return true;
                       }) &&
         node.Required("tokenRatio", [&](const JsonNode& n) {
           constexpr std::string_view kRule = "a number of at least 0.001";
           double ratio = 0;
           if (!n.ReadNumber(kRule, &ratio)) return false;
           throttling.token_ratio = static_cast<double>(Thousandths(ratio)) / 1000;
           return throttling.token_ratio > 0 || n.Fail(absl::StrCat("must be ", base::V(kRule)));
         });
}

std::optional<std::string_view> KnownBalancer(std::string_view name, bool any_case) {
  for (const std::string_view known : kBalancers) {
    if (any_case ? absl::EqualsIgnoreCase(base::V(known), base::V(name)) : known == name) {
      return known;
    }
  }
  return std::nullopt;
}

// "none of a, b is known; known are c". Short, however many there are.
std::string NoneKnown(const std::vector<std::string>& names) {
  constexpr size_t kMaxShown = 5;
  std::string rule = "has no known balancer: ";
  for (size_t i = 0; i < std::min(names.size(), kMaxShown); ++i) {
    absl::StrAppend(&rule, i == 0 ? "\"" : ", \"", ShownInError(names[i]), "\"");
  }
  if (names.empty()) absl::StrAppend(&rule, "it is empty");
  if (names.size() > kMaxShown) absl::StrAppend(&rule, ", ...");
  absl::StrAppend(&rule, "; known are");
  for (const std::string_view known : kBalancers) absl::StrAppend(&rule, " ", base::V(known));
  return rule;
}

}  // namespace

// Fills a ServiceConfig that nobody sees unless all of it is right.
class ServiceConfigReader {
 public:
  static std::shared_ptr<const ServiceConfig> Read(const JsonNode& node) {
    const std::shared_ptr<ServiceConfig> config(new ServiceConfig);
    return ServiceConfigReader(*config).ReadTop(node) ? config : nullptr;
  }

 private:
  explicit ServiceConfigReader(ServiceConfig& config) : config_(config) {}

  bool ReadTop(const JsonNode& node) {
    return node.ReadFields({"loadBalancingPolicy", "loadBalancingConfig", "methodConfig",
                            "retryThrottling", "weft"}) &&
           node.Optional("methodConfig", [&](const JsonNode& n) { return ReadMethods(n); }) &&
           node.Optional("retryThrottling",
                         [&](const JsonNode& n) {
                           return ReadRetryThrottling(n, &config_.retry_throttling_);
                         }) &&
           node.Optional("loadBalancingPolicy",
                         [&](const JsonNode& n) { return ReadBalancingPolicy(n); }) &&
           // The last, since it goes before loadBalancingPolicy.
           node.Optional("loadBalancingConfig",
                         [&](const JsonNode& n) { return ReadBalancingConfig(n); }) &&
           node.Optional("weft", [](const JsonNode& n) { return n.ReadFields({}); });
  }

  bool ReadMethods(const JsonNode& list) {
    // Names point into it.
    config_.methods_.reserve(list.value().size());
    return list.ReadList([&](const JsonNode& node) {
      MethodConfig& method = config_.methods_.emplace_back();
      return ReadMethodConfig(node, &method) && node.Optional("name", [&](const JsonNode& names) {
        return names.ReadList([&](const JsonNode& name) { return ReadName(name, method); });
      });
    });
  }

  bool ReadName(const JsonNode& node, const MethodConfig& method_config) {
    std::string service;
    std::string method;
    if (!node.ReadFields({"service", "method"}) || !ReadPart(node, "service", &service) ||
        !ReadPart(node, "method", &method)) {
      return false;
    }
    if (service.empty() && !method.empty()) return node.Fail("has a method, but no service");
    const MethodConfig*& named = service.empty()
                                     ? config_.of_all_
                                     : config_.by_name_[absl::StrCat("/", service, "/", method)];
    if (named != nullptr) {
      return node.Fail(
          absl::StrCat("is already a name of methodConfig[", named - config_.methods_.data(), "]"));
    }
    named = &method_config;
    return true;
  }

  // A path is taken apart at its last slash, so what is refused here would never be found.
  static bool ReadPart(const JsonNode& name, std::string_view part, std::string* to) {
    return name.Optional(part, [&](const JsonNode& node) {
      if (node.value().is_null()) return true;
      if (!node.ReadString(to)) return false;
      if (part == "method") {
        return to->find('/') == std::string::npos || node.Fail("must not have a /");
      }
      const bool bare = to->empty() || (to->front() != '/' && to->back() != '/');
      return bare || node.Fail("must not begin or end with a /");
    });
  }

  bool ReadBalancingPolicy(const JsonNode& node) {
    std::string name;
    if (!node.ReadString(&name)) return false;
    const std::optional<std::string_view> known = KnownBalancer(name, /*any_case=*/true);
    if (!known.has_value()) return node.Fail(NoneKnown({name}));
    config_.balancer_ = *known;
    config_.balancers_ = {config_.balancer_};
    return true;
  }

  bool ReadBalancingConfig(const JsonNode& list) {
    config_.balancers_.clear();
    config_.balancer_.clear();
    const bool read = list.ReadList([&](const JsonNode& node) {
      if (!node.value().is_object() || node.value().size() != 1) {
        return node.Fail("must be an object with one field, the name of a balancer");
      }
      const std::string& name = node.value().begin().key();
      config_.balancers_.push_back(name);
      const bool known = KnownBalancer(name, /*any_case=*/false).has_value();
      if (known && config_.balancer_.empty()) config_.balancer_ = name;
      return node.Optional(name, [&](const JsonNode& options) {
        if (known) return options.ReadFields({});
        return options.value().is_object() || options.Fail("must be an object");
      });
    });
    return read && (!config_.balancer_.empty() || list.Fail(NoneKnown(config_.balancers_)));
  }

  ServiceConfig& config_;
};

absl::StatusOr<std::shared_ptr<const ServiceConfig>> ServiceConfig::Parse(std::string_view json) {
  if (json.size() > kMaxServiceConfigBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the text is longer than ", kMaxServiceConfigBytes >> 20, " MiB"));
  }
  const absl::StatusOr<Json> tree = ParseServiceConfigJson(json);
  if (!tree.ok()) return tree.status();
  absl::Status error;
  std::shared_ptr<const ServiceConfig> config = ServiceConfigReader::Read(JsonNode(*tree, error));
  if (config == nullptr) return error;
  return config;
}

const MethodConfig* ServiceConfig::Find(std::string_view path) const {
  if (by_name_.empty()) return of_all_;
  if (const auto exact = by_name_.find(base::V(path)); exact != by_name_.end()) {
    return exact->second;
  }
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return of_all_;
  const auto service = by_name_.find(base::V(path.substr(0, slash + 1)));
  return service != by_name_.end() ? service->second : of_all_;
}

}  // namespace weft::inline v0::policy
