// HealthChecker: when one host is to be checked over HTTP, and what its checks say together
// (weft/health_check_options.h). It makes no calls, and has no clock of its own.
//
//                passed            healthy_threshold passed in a row
//   kUnknown ───────────▶ kHealthy ◀────────────────────────────┐
//       │                     └──────────────────────────▶ kUnhealthy
//       │        failed              unhealthy_threshold failed ▲
//       └───────────────────────────────────────────────────────┘
//
// Checks of a fleet's clients come apart from each other by chance: a tenth of the interval each
// time. After one that was void the next is due after a second already: the host may have been
// about to connect.
#ifndef WEFT_LIB_CLUSTER_HEALTH_CHECKER_H_
#define WEFT_LIB_CLUSTER_HEALTH_CHECKER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "base/random.h"
#include "base/time.h"
#include "weft/health_check_options.h"

namespace weft::inline v0::cluster {

// INVALID_ARGUMENT names the field that is out of range.
absl::Status Validate(const HealthCheckOptions& options);

enum class CheckResult : uint8_t {
  kPassed,
  kFailed,
  kVoid,  // not sent, given up, or noticed late (NoticedLate): as if it had not been
};
// What an answer means.
CheckResult JudgeHttp(const HealthCheckOptions& options, int status);

// What active checks take a host for.
enum class HealthState : uint8_t { kUnknown, kHealthy, kUnhealthy };

// Not thread-safe.
class HealthChecker {
 public:
  using State = HealthState;
  static constexpr base::MonoDuration kAfterVoid = std::chrono::seconds(1);

  // Its first check is due at once.
  HealthChecker(const HealthCheckOptions& options, base::Random random, base::MonoTime now);

  State state() const { return state_; }
  // When the next check is due; kNever while one runs.
  base::MonoTime next() const { return next_; }
  // A check was started. One at a time.
  void OnStart() { next_ = base::kNever; }
  // It has ended. True: the state has changed.
  bool OnEnd(CheckResult result, base::MonoTime now);

 private:
  const int healthy_threshold_;
  const int unhealthy_threshold_;
  const base::MonoDuration interval_;
  base::Random random_;
  State state_ = State::kUnknown;
  int against_ = 0;  // results in a row that speak against the state
  base::MonoTime next_;
};

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_HEALTH_CHECKER_H_
