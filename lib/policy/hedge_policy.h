// HedgePolicy: HedgeOptions, checked and ready to be asked, and what a channel's calls have taught:
// how long they take, and whether hedges are of use. Decides nothing about one call by itself.
#ifndef WEFT_LIB_POLICY_HEDGE_POLICY_H_
#define WEFT_LIB_POLICY_HEDGE_POLICY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "base/time.h"
#include "cluster/load_report.h"
#include "weft/hedge_options.h"

namespace weft::inline v0::policy {

// INVALID_ARGUMENT names the field that is out of range.
absl::Status Validate(const HedgeOptions& options);

// Where a hedge that is due may go.
enum class HedgePlace : uint8_t {
  kAnyHost,       // an ordinary pick
  kHostWithRoom,  // only a host that has reported, at most report_age() ago, that it has room
  kNowhere,       // none: there are too many already, or every host is busy
};

// Thread-safe.
class HedgePolicy {
 public:
  // While a hedge finds no host with room, it looks again so often.
  static constexpr base::MonoDuration kLookAgain = std::chrono::milliseconds(5);
  static constexpr int kLooks = 10;
  static constexpr base::MonoDuration kNever = base::MonoDuration::max();

  explicit HedgePolicy(const HedgeOptions& options);  // valid

  bool armed() const { return options_.when != HedgeOptions::When::kNever; }
  int max_attempts() const { return options_.max_attempts; }
  bool IsNonFatal(absl::StatusCode code) const {
    return (non_fatal_ >> static_cast<unsigned>(code) & 1) != 0;
  }

  // Once for each call that may be hedged, at its start: its share of the hedges that are allowed.
  // How long after its start the first one is due; kNever: it gets none.
  base::MonoDuration OnCall(base::MonoTime now);

  // A hedge is due.
  HedgePlace Place(base::MonoTime now) const;
  base::MonoDuration report_age(base::MonoTime now) const;
  // It has a host: false where no more are allowed; otherwise it counts as made.
  bool TryStart(base::MonoTime now);

  // A call ended, `took` after its start. `answered` false: it would have taken longer.
  void OnCallEnd(base::MonoDuration took, bool answered, base::MonoTime now);
  // A hedged call ended: of `hedges` one was (or none was) the first to be answered.
  void OnHedged(int hedges, bool won, base::MonoTime now);
  void OnReport(const cluster::LoadReport& report, base::MonoTime now);

 private:
  const HedgeOptions options_;
  uint32_t non_fatal_ = 0;
};

}  // namespace weft::inline v0::policy

#endif  // WEFT_LIB_POLICY_HEDGE_POLICY_H_
