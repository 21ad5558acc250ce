#include "cluster/member.h"

namespace weft::inline v0::cluster {

bool Member::Add(const Outcome& outcome, base::MonoTime now) {
  LatencyAverage& latency = host->latency_average();
  switch (outcome.kind) {
    case Outcome::Kind::kSuccess:
      if (!outcome.noticed_late) latency.Add(outcome.took, now);
      break;
    case Outcome::Kind::kCensored:
    case Outcome::Kind::kOverloaded:
      if (!outcome.noticed_late) latency.AddAtLeast(outcome.took, now);
      break;
    case Outcome::Kind::kError:
    case Outcome::Kind::kTimeout:
    case Outcome::Kind::kLost:
      if (!outcome.noticed_late)
        latency.AddFailure(outcome.took, health.failures_in_row() > 0, now);
      break;
    case Outcome::Kind::kNotConnected:
    case Outcome::Kind::kUnprocessed:
      break;
  }
  return health.Add(outcome, now);
}

}  // namespace weft::inline v0::cluster
