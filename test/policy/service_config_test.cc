// A service config as a whole: its fields, names, balancers, and texts that are none.
#include "policy/service_config.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "policy/service_config_json.h"
#include "policy/service_config_text.h"
#include "support/catch.h"

namespace weft::policy {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

TEST_CASE("every field of a service config is read") {
  const Config config = Parse(R"({
      "loadBalancingConfig": [{"round_robin": {}}],
      "methodConfig": [
        {"name": [{"service": "a.B", "method": "C"}], "waitForReady": true, "timeout": "1.5s",
         "maxRequestMessageBytes": 1024, "maxResponseMessageBytes": "4294967295",
         "retryPolicy": {"maxAttempts": 4, "initialBackoff": ".1s", "maxBackoff": "1s",
                         "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}},
        {"name": [{"service": "a.B", "method": "D"}], "waitForReady": false,
         "hedgingPolicy": {"maxAttempts": 3, "hedgingDelay": ".5s",
                           "nonFatalStatusCodes": ["UNAVAILABLE", "INTERNAL", 10]}}],
      "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1},
      "weft": {}})");
  CHECK(config->balancers() == std::vector<std::string>{"round_robin"});
  CHECK(config->balancer() == "round_robin");
  REQUIRE(config->retry_throttling().has_value());
  CHECK(config->retry_throttling()->max_tokens == 10);
  CHECK(config->retry_throttling()->token_ratio == 0.1);

  const MethodConfig* retried = config->Find("/a.B/C");
  REQUIRE(retried != nullptr);
  CHECK(retried->wait_for_ready == true);
  CHECK(retried->timeout == absl::Milliseconds(1500));
  CHECK(retried->max_request_bytes == 1024);
  CHECK(retried->max_response_bytes == 4294967295);
  CHECK_FALSE(retried->hedging.has_value());
  REQUIRE(retried->retry.has_value());
  CHECK(retried->retry->max_attempts() == 4);
  CHECK(retried->retry->attempt_timeout() == base::MonoDuration::max());
  CHECK(retried->retry->Backoff(1, 0.5) == 100ms);
  CHECK(retried->retry->Backoff(2, 0.5) == 200ms);
  CHECK(retried->retry->Backoff(9, 0.5) == 1s);
  for (int code = 0; code <= 16; ++code)
    CHECK(retried->retry->IsRetryable(static_cast<absl::StatusCode>(code)) == (code == 14));

  const MethodConfig* hedged = config->Find("/a.B/D");
  REQUIRE(hedged != nullptr);
  CHECK(hedged->wait_for_ready == false);
  CHECK_FALSE(hedged->timeout.has_value());
  CHECK_FALSE(hedged->max_request_bytes.has_value());
  CHECK_FALSE(hedged->max_response_bytes.has_value());
  CHECK_FALSE(hedged->retry.has_value());
  REQUIRE(hedged->hedging.has_value());
  CHECK(hedged->hedging->max_attempts == 3);
  CHECK(hedged->hedging->delay == absl::Milliseconds(500));
  CHECK(hedged->hedging->beside->max_attempts() == 3);
  CHECK(hedged->hedging->after.max_attempts() == 3);
  CHECK(hedged->hedging->after.Backoff(1, 1) == std::chrono::nanoseconds(0));
  for (int code = 0; code <= 16; ++code) {
    CHECK(hedged->hedging->after.IsRetryable(static_cast<absl::StatusCode>(code)) ==
          (code == 14 || code == 13 || code == 10));
  }
}

TEST_CASE("what a service config may leave out") {
  const Config empty = Parse("{}");
  CHECK(empty->Find("/s/m") == nullptr);
  CHECK(empty->balancers().empty());
  CHECK(empty->balancer().empty());
  CHECK_FALSE(empty->retry_throttling().has_value());
  CHECK(Parse(R"({"methodConfig": []})")->Find("/s/m") == nullptr);

  const MethodConfig method = MethodOf(R"("hedgingPolicy": {"maxAttempts": 2})");
  CHECK_FALSE(method.wait_for_ready.has_value());
  CHECK(method.hedging->delay == absl::ZeroDuration());
  const MethodConfig listed =
      MethodOf(R"("hedgingPolicy": {"maxAttempts": 2, "nonFatalStatusCodes": []})");
  for (int code = 0; code <= 16; ++code) {
    CHECK_FALSE(method.hedging->after.IsRetryable(static_cast<absl::StatusCode>(code)));
    CHECK_FALSE(listed.hedging->after.IsRetryable(static_cast<absl::StatusCode>(code)));
  }
}

TEST_CASE("the most specific name wins") {
  const Config config = Parse(R"({"methodConfig": [
      {"name": [{}], "timeout": "1s"},
      {"name": [{"service": "a.B"}, {"service": "c/d"}], "timeout": "2s"},
      {"name": [{"service": "a.B", "method": "C"}, {"service": "x", "method": "y"}],
       "timeout": "3s"}]})");
  const std::vector<std::pair<std::string, int>> cases = {
      {"/a.B/C", 3},   {"/x/y", 3},    {"/a.B/Other", 2}, {"/a.B/", 2},  {"/c/d/m", 2},
      {"/x/other", 1}, {"/a.BC/C", 1}, {"/a/B", 1},       {"/A.B/C", 1}, {"/a.B", 1},
      {"a.B/C", 1},    {"", 1},        {"/", 1},          {"//", 1},     {"/a.B/C/", 1},
      {"/a.B//C", 1},  {"*", 1}};
  for (const auto& [path, seconds] : cases) {
    CAPTURE(path);
    const MethodConfig* const method = config->Find(path);
    REQUIRE(method != nullptr);
    CHECK(method->timeout == absl::Seconds(seconds));
  }
}

TEST_CASE("without a default of all other methods have nothing") {
  const Config config = Parse(R"({"methodConfig": [
      {"name": [{"service": "s", "method": "m"}]}, {"name": [{"service": "t"}]}]})");
  CHECK(config->Find("/s/m") != nullptr);
  CHECK(config->Find("/t/m") != nullptr);
  CHECK(config->Find("/s/n") == nullptr);
  CHECK(config->Find("/u/m") == nullptr);
  CHECK(config->Find("s/m") == nullptr);
  CHECK(config->Find("") == nullptr);
}

TEST_CASE("empty text, null and nothing are one in a name") {
  for (const char* name : {R"({})", R"({"service": ""})", R"({"service": null})",
                           R"({"service": "", "method": ""})", R"({"method": null})"}) {
    CAPTURE(name);
    const Config config = Parse(R"({"methodConfig": [{"name": [)" + std::string(name) + "]}]}");
    CHECK(config->Find("/any/thing") != nullptr);
  }
  for (const char* name : {R"({"service": "s"})", R"({"service": "s", "method": ""})",
                           R"({"service": "s", "method": null})"}) {
    CAPTURE(name);
    const Config config = Parse(R"({"methodConfig": [{"name": [)" + std::string(name) + "]}]}");
    CHECK(config->Find("/s/m") != nullptr);
    CHECK(config->Find("/t/m") == nullptr);
  }
}

TEST_CASE("a methodConfig without names holds for nothing, and is checked") {
  const Config config = Parse(R"({"methodConfig": [
      {"name": [], "hedgingPolicy": {"maxAttempts": 2}}, {"timeout": "1s"}]})");
  CHECK(config->Find("/s/m") == nullptr);
  CHECK(ErrorOf(R"({"methodConfig": [{"name": [], "timout": "1s"}]})") ==
        "methodConfig[0] has the unknown field \"timout\"; known are name, waitForReady, timeout, "
        "maxRequestMessageBytes, maxResponseMessageBytes, retryPolicy, hedgingPolicy");
}

TEST_CASE("names that are there twice are refused") {
  CheckErrors({
      {R"({"methodConfig": [{"name": [{}]}, {"name": [{}]}]})",
       "methodConfig[1].name[0] is already a name of methodConfig[0]"},
      {R"({"methodConfig": [{"name": [{}, {"service": null}]}]})",
       "methodConfig[0].name[1] is already a name of methodConfig[0]"},
      {R"({"methodConfig": [{}, {"name": [{"service": "s"}]},
                            {"name": [{"service": "t"}, {"service": "s", "method": ""}]}]})",
       "methodConfig[2].name[1] is already a name of methodConfig[1]"},
      {R"({"methodConfig": [{"name": [{"service": "s", "method": "m"}]},
                            {"name": [{"service": "s", "method": "m"}]}]})",
       "methodConfig[1].name[0] is already a name of methodConfig[0]"},
  });
}

TEST_CASE("retryThrottling is read as gRFC A6 has it") {
  const auto read = [](const std::string& tokens, const std::string& ratio) {
    const Config config = Parse(R"({"retryThrottling": {"maxTokens": )" + tokens +
                                R"(, "tokenRatio": )" + ratio + "}}");
    return std::make_pair(config->retry_throttling()->max_tokens,
                          config->retry_throttling()->token_ratio);
  };
  CHECK(read("1", "0.001") == std::make_pair(1.0, 0.001));
  CHECK(read("1000", "2") == std::make_pair(1000.0, 2.0));
  CHECK(read(R"("10")", R"("0.1")") == std::make_pair(10.0, 0.1));
  CHECK(read("10", "0.5466") == std::make_pair(10.0, 0.546));  // three decimals count
  CHECK(read("10", "0.57") == std::make_pair(10.0, 0.57));
  CHECK(read("10", "1e300") == std::make_pair(10.0, 1000.0));  // more than all is all

  const std::string tokens = "retryThrottling.maxTokens must be a whole number from 1 to 1000";
  const std::string ratio = "retryThrottling.tokenRatio must be a number of at least 0.001";
  CheckErrors({
      {R"({"retryThrottling": []})", "retryThrottling must be an object"},
      {R"({"retryThrottling": null})", "retryThrottling must be an object"},
      {R"({"retryThrottling": {}})", "retryThrottling.maxTokens is missing"},
      {R"({"retryThrottling": {"maxTokens": 10}})", "retryThrottling.tokenRatio is missing"},
      {R"({"retryThrottling": {"maxTokens": 0, "tokenRatio": 1}})", tokens},
      {R"({"retryThrottling": {"maxTokens": -1, "tokenRatio": 1}})", tokens},
      {R"({"retryThrottling": {"maxTokens": 1001, "tokenRatio": 1}})", tokens},
      {R"({"retryThrottling": {"maxTokens": 1.5, "tokenRatio": 1}})", tokens},
      {R"({"retryThrottling": {"maxTokens": null, "tokenRatio": 1}})", tokens},
      {R"({"retryThrottling": {"maxTokens": 10, "tokenRatio": 0}})", ratio},
      {R"({"retryThrottling": {"maxTokens": 10, "tokenRatio": 0.0009}})", ratio},
      {R"({"retryThrottling": {"maxTokens": 10, "tokenRatio": -1}})", ratio},
      {R"({"retryThrottling": {"maxTokens": 10, "tokenRatio": "x"}})", ratio},
      {R"({"retryThrottling": {"maxTokens": 10, "tokenRatio": true}})", ratio},
      {R"({"retryThrottling": {"maxTokens": 10, "tokenRatio": 1, "maxToken": 1}})",
       "retryThrottling has the unknown field \"maxToken\"; known are maxTokens, tokenRatio"},
  });
}

TEST_CASE("the first balancer that is known is taken, and all names are kept") {
  const Config config = Parse(R"({"loadBalancingConfig": [
      {"xds_cluster": {"cluster": ["x", {"y": null}]}}, {"round_robin": {}}, {"pick_first": {}}],
      "loadBalancingPolicy": "ROUND_ROBIN"})");
  CHECK(config->balancers() ==
        std::vector<std::string>{"xds_cluster", "round_robin", "pick_first"});
  CHECK(config->balancer() == "round_robin");
  for (const char* name : {"round_robin", "ROUND_ROBIN", "Round_Robin"}) {
    const Config old = Parse(R"({"loadBalancingPolicy": ")" + std::string(name) + "\"}");
    CHECK(old->balancers() == std::vector<std::string>{"round_robin"});
    CHECK(old->balancer() == "round_robin");
  }
}

TEST_CASE("balancers of which none can be used are refused with their names") {
  const std::string known =
      "round_robin weighted_round_robin random least_request peak_ewma pick_first ring_hash maglev "
      "prequal fresh_load";
  CheckErrors({
      {R"({"loadBalancingConfig": [{"a": {}}, {"b": {"c": 1}}]})",
       "loadBalancingConfig has no known balancer: \"a\", \"b\"; known are " + known},
      {R"({"loadBalancingConfig": [{"a":{}},{"b":{}},{"c":{}},{"d":{}},{"e":{}},{"f":{}}]})",
       "loadBalancingConfig has no known balancer: \"a\", \"b\", \"c\", \"d\", \"e\", ...; "
       "known are " +
           known},
      {R"({"loadBalancingConfig": []})",
       "loadBalancingConfig has no known balancer: it is empty; known are " + known},
      {R"({"loadBalancingConfig": [{"ROUND_ROBIN": {}}]})",
       "loadBalancingConfig has no known balancer: \"ROUND_ROBIN\"; known are " + known},
      {R"({"loadBalancingConfig": {"round_robin": {}}})", "loadBalancingConfig must be a list"},
      {R"({"loadBalancingConfig": ["round_robin"]})",
       "loadBalancingConfig[0] must be an object with one field, the name of a balancer"},
      {R"({"loadBalancingConfig": [{"round_robin": {}}, {}]})",
       "loadBalancingConfig[1] must be an object with one field, the name of a balancer"},
      {R"({"loadBalancingConfig": [{"round_robin": {}, "a": {}}]})",
       "loadBalancingConfig[0] must be an object with one field, the name of a balancer"},
      {R"({"loadBalancingConfig": [{"round_robin": null}]})",
       "loadBalancingConfig[0].round_robin must be an object"},
      {R"({"loadBalancingConfig": [{"round_robin": {"x": 1}}]})",
       "loadBalancingConfig[0].round_robin has the unknown field \"x\"; known is none"},
      {R"({"loadBalancingConfig": [{"a": 1}, {"round_robin": {}}]})",
       "loadBalancingConfig[0].a must be an object"},
      {R"({"loadBalancingPolicy": "grpclb"})",
       "loadBalancingPolicy has no known balancer: \"grpclb\"; known are " + known},
      {R"({"loadBalancingPolicy": ""})",
       "loadBalancingPolicy has no known balancer: \"\"; known are " + known},
      {R"({"loadBalancingPolicy": 1})", "loadBalancingPolicy must be a string"},
      {R"({"loadBalancingPolicy": "x", "loadBalancingConfig": [{"round_robin": {}}]})",
       "loadBalancingPolicy has no known balancer: \"x\"; known are " + known},
  });
}

TEST_CASE("what is at the top and not known is refused") {
  const std::string known =
      "; known are loadBalancingPolicy, loadBalancingConfig, methodConfig, retryThrottling, weft";
  CheckErrors({
      {"[]", "the top level must be an object"},
      {"null", "the top level must be an object"},
      {"\"{}\"", "the top level must be an object"},
      {"1", "the top level must be an object"},
      {R"({"healthCheckConfig": {}})",
       "the top level has the unknown field \"healthCheckConfig\"" + known},
      {R"({"": 1})", "the top level has the unknown field \"\"" + known},
      {R"({"method_config": []})", "the top level has the unknown field \"method_config\"" + known},
      {R"({"weft": {"hedging": {}}})", "weft has the unknown field \"hedging\"; known is none"},
      {R"({"weft": null})", "weft must be an object"},
  });
}

TEST_CASE("fields that are given twice are refused at any depth") {
  CheckErrors({
      {R"({"weft": {}, "weft": {}})", "weft is given twice"},
      {R"({"methodConfig": [{}, {"timeout": "1s", "timeout": "1s"}]})",
       "methodConfig[1].timeout is given twice"},
      {R"({"methodConfig": [{"name": [{}, {}, {"service": "s", "service": "s"}]}]})",
       "methodConfig[0].name[2].service is given twice"},
      {R"({"methodConfig": [{"timeout": "1s", "\u0074imeout": "1s"}]})",
       "methodConfig[0].timeout is given twice"},
      {R"({"loadBalancingConfig": [{"round_robin": {}}, {"x": {"y": [[{"z": 1, "z": 1}]]}}]})",
       "loadBalancingConfig[1].x.y[0][0].z is given twice"},
      {R"({"nobody": {"knows": 1, "knows": 1}})", "nobody.knows is given twice"},
  });
}

TEST_CASE("text that is no JSON is refused with its place") {
  for (const char* text :
       {"", " ", "{", "{]", "{} {}", "{},", "{'a': 1}", R"({"weft": {},})", R"({"weft" {}})",
        R"({"weft": tru})", R"({"weft": 01})", R"({"weft": NaN})", R"({"weft": 1e999})",
        R"({"weft": "a)", "{\"\xff\": 1}", "{\"a\nb\": 1}", "/**/{}", "\xfe\xff", R"({"a": 1)"}) {
    CAPTURE(text);
    CHECK_THAT(ErrorOf(text), StartsWith("the text is not JSON at byte "));
  }
  CHECK(ErrorOf(std::string_view("{}\0{", 4)) == "the text is not JSON at byte 3: a zero byte");
  CHECK(Parse("\xef\xbb\xbf {} \n") != nullptr);
}

TEST_CASE("text that is too long is refused unread") {
  std::string text = "{}";
  text.resize(kMaxServiceConfigBytes, ' ');
  CHECK(Parse(text) != nullptr);
  text.push_back(' ');
  CHECK(ErrorOf(text) == "the text is longer than 1 MiB");
}

TEST_CASE("text that is too deep is refused, however deep it is") {
  const auto nested = [](size_t depth) {
    // The top level, the list and its element and the balancer are four.
    return R"({"loadBalancingConfig": [{"round_robin": {}}, {"x": {"y": )" +
           std::string(depth - 4, '[') + std::string(depth - 4, ']') + "}}]}";
  };
  CHECK(Parse(nested(kMaxServiceConfigDepth)) != nullptr);
  CHECK_THAT(ErrorOf(nested(kMaxServiceConfigDepth + 1)),
             StartsWith("loadBalancingConfig[1].x.y[0][0]"));
  CHECK_THAT(ErrorOf(nested(kMaxServiceConfigDepth + 1)), EndsWith(" is nested deeper than 32"));
  CHECK_THAT(ErrorOf(nested(100'000)), EndsWith(" is nested deeper than 32"));
  CHECK_THAT(ErrorOf(std::string(500'000, '[')), EndsWith(" is nested deeper than 32"));
}

TEST_CASE("errors are short and on one line, whatever the text has") {
  const std::string huge(100'000, 'x');
  for (const std::string& text :
       {"{\"" + huge + "\": 1}", R"({"loadBalancingPolicy": ")" + huge + "\"}",
        R"({"loadBalancingConfig": [{")" + huge + "\": {}}]}",
        "{\"" + huge + "\": {\"" + huge + "\": 1, \"" + huge + "\": 1}}",
        std::string(R"({"a\nb\u0000\"c": 1})"), "{\"a\": " + huge + "}",
        "{\"a\": 1" + std::string(5000, '0') + "}"}) {
    const std::string error = ErrorOf(text);
    CAPTURE(error);
    CHECK(error.size() < 500);
    CHECK(std::none_of(error.begin(), error.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
  }
  // A name is not cut within a letter.
  std::string letters(63, 'a');
  CHECK_THAT(ErrorOf("{\"" + letters + "\xc3\xa9\": 1}"),
             StartsWith("the top level has the unknown field \"" + letters + "...\""));
}

TEST_CASE("a config with very many names is read, and each is found") {
  constexpr int kServices = 8000;
  std::string text = R"({"methodConfig": [)";
  for (int i = 0; i < kServices; ++i) {
    text += (i == 0 ? "" : ",") + std::string(R"({"name": [{"service": "s)") + std::to_string(i) +
            R"(", "method": "m"}], "timeout": ")" + std::to_string(i) + R"(s"})";
  }
  const Config config = Parse(text + "]}");
  for (int i = 0; i < kServices; ++i) {
    const MethodConfig* const method = config->Find("/s" + std::to_string(i) + "/m");
    if (method == nullptr || method->timeout != absl::Seconds(i)) FAIL(i);
  }
}

}  // namespace
}  // namespace weft::policy
