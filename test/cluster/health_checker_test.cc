#include "cluster/health_checker.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/says.h"

namespace weft::cluster {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using testing::Says;
using State = HealthChecker::State;

constexpr base::MonoTime kStart{1000s};

HealthCheckOptions Options() { return {.kind = HealthCheckOptions::Kind::kHttp}; }

TEST_CASE("so many checks in a row change what a host is taken for") {
  // p: passed, f: failed, v: void; and the state after each.
  struct Row {
    std::string results;
    std::string states;
  };
  const std::vector<Row> table = {
      {"p", "h"},
      {"f", "u"},
      {"vvp", "??h"},
      {"vf", "?u"},
      {"pfff", "hhhu"},
      {"pffpfff", "hhhhhhu"},
      {"fpp", "uuh"},
      {"fpfpp", "uuuuh"},
      {"pfvff", "hhhhu"},
      {"fpvp", "uuuh"},
      {"fpppfff", "uuhhhhu"},
      {"pfffpp", "hhhuuh"},
  };
  for (const Row& row : table) {
    CAPTURE(row.results);
    HealthChecker checker(Options(), base::Random(1), kStart);
    CHECK(checker.state() == State::kUnknown);
    for (size_t i = 0; i < row.results.size(); ++i) {
      const CheckResult result = row.results[i] == 'p'   ? CheckResult::kPassed
                                 : row.results[i] == 'f' ? CheckResult::kFailed
                                                         : CheckResult::kVoid;
      const State before = checker.state();
      checker.OnStart();
      const bool changed = checker.OnEnd(result, kStart);
      CHECK(changed == (before != checker.state()));
      const State wanted = row.states[i] == 'h'   ? State::kHealthy
                           : row.states[i] == 'u' ? State::kUnhealthy
                                                  : State::kUnknown;
      CHECK(checker.state() == wanted);
    }
  }
}

TEST_CASE("checks are apart by the interval, give or take a tenth") {
  HealthChecker checker(Options(), base::Random(5), kStart);
  HealthChecker same(Options(), base::Random(5), kStart);
  HealthChecker other(Options(), base::Random(6), kStart);
  CHECK(checker.next() == kStart);
  base::MonoDuration least = 1h;
  base::MonoDuration most = 0s;
  bool differs = false;
  base::MonoTime now = kStart;
  for (int i = 0; i < 1000; ++i) {
    checker.OnStart();
    CHECK(checker.next() == base::kNever);
    now += 3ms;
    (void)checker.OnEnd(CheckResult::kPassed, now);
    (void)same.OnEnd(CheckResult::kPassed, now);
    (void)other.OnEnd(CheckResult::kPassed, now);
    CHECK(checker.next() == same.next());
    differs = differs || checker.next() != other.next();
    least = std::min(least, checker.next() - now);
    most = std::max(most, checker.next() - now);
    now = checker.next();
  }
  CHECK(differs);
  CHECK(least >= 9s);
  CHECK(least < 9100ms);
  CHECK(most <= 11s);
  CHECK(most > 10900ms);
}

TEST_CASE("after a check that was void the next one comes soon") {
  HealthChecker checker(Options(), base::Random(5), kStart);
  (void)checker.OnEnd(CheckResult::kVoid, kStart);
  CHECK(checker.next() - kStart >= 900ms);
  CHECK(checker.next() - kStart <= 1100ms);
  HealthCheckOptions often = Options();
  often.interval = absl::Milliseconds(100);
  HealthChecker other(often, base::Random(5), kStart);
  (void)other.OnEnd(CheckResult::kVoid, kStart);
  CHECK(other.next() - kStart <= 110ms);
}

TEST_CASE("what answers to checks mean") {
  HealthCheckOptions options = Options();
  CHECK(JudgeHttp(options, 200) == CheckResult::kPassed);
  for (const int status : {204, 301, 404, 429, 500, 503})
    CHECK(JudgeHttp(options, status) == CheckResult::kFailed);
  options.expected_statuses = {204, 404};
  CHECK(JudgeHttp(options, 404) == CheckResult::kPassed);
  CHECK(JudgeHttp(options, 200) == CheckResult::kFailed);
}

TEST_CASE("options of checks that are out of range are refused by name") {
  CHECK(Validate(HealthCheckOptions()).ok());
  CHECK(Validate(Options()).ok());
  struct Row {
    std::string field;
    std::function<void(HealthCheckOptions&)> spoil;
  };
  const std::vector<Row> table = {
      {"kind", [](auto& o) { o.kind = static_cast<HealthCheckOptions::Kind>(3); }},
      {"path", [](auto& o) { o.path = ""; }},
      {"path", [](auto& o) { o.path = "healthz"; }},
      {"path", [](auto& o) { o.path = "/a b"; }},
      {"path", [](auto& o) { o.path = "/a\r\nx: y"; }},
      {"expected_statuses",
       [](auto& o) {
         o.expected_statuses = {200, 199};
       }},
      {"expected_statuses", [](auto& o) { o.expected_statuses = {600}; }},
      {"service", [](auto& o) { o.service = std::string(1025, 'x'); }},
      {"service", [](auto& o) { o.service = "a b"; }},
      {"interval", [](auto& o) { o.interval = absl::Milliseconds(99); }},
      {"interval", [](auto& o) { o.interval = absl::InfiniteDuration(); }},
      {"timeout", [](auto& o) { o.timeout = absl::ZeroDuration(); }},
      {"timeout", [](auto& o) { o.timeout = absl::InfiniteDuration(); }},
      {"healthy_threshold", [](auto& o) { o.healthy_threshold = 0; }},
      {"unhealthy_threshold", [](auto& o) { o.unhealthy_threshold = 101; }},
  };
  for (const Row& row : table) {
    HealthCheckOptions options = Options();
    row.spoil(options);
    const absl::Status status = Validate(options);
    CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    CHECK(Says(status, "HealthCheckOptions::" + row.field + " must be"));
  }
}

}  // namespace
}  // namespace weft::cluster
