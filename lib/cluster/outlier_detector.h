// OutlierDetector: which hosts of a cluster get no calls for a while (weft/outlier_options.h). The
// control half: its owner calls it under a lock, tells it when a host's record trips, how the host
// set changes and when time has passed, and does as it says. It has no clock, no threads, no chance
// of its own.
//
//                blamed, and the bound has room
//            ┌────────────────────────────────────────┐
//   kHealthy ┘                                        ▼
//      ▲                 blamed, likewise         kEjected
//      │              ┌──────────────────────────▶    │
//      │ proven   kReturning ◀────────────────────────┘
//      └──────────────┘          its time is over, or the bound has shrunk
//
//   state        kBlamed     kTimeOver    kProven
//   kHealthy     kEjected    kHealthy     kHealthy
//   kEjected     kEjected    kReturning   kEjected
//   kReturning   kEjected    kReturning   kHealthy
//
// Blamed: by a rule. By failures in a row at once; those whom the bound spared then are looked at
// again with the interval's rules, while they still fail. Proven: kTrial attempts that were started
// after the return succeeded before one failed; seen at an interval's end.
#ifndef WEFT_LIB_CLUSTER_OUTLIER_DETECTOR_H_
#define WEFT_LIB_CLUSTER_OUTLIER_DETECTOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/places.h"
#include "base/random.h"
#include "base/time.h"
#include "cluster/host_health.h"
#include "cluster/outlier_rules.h"
#include "weft/outlier_options.h"

namespace weft::inline v0::cluster {

class OutlierDetector {
 public:
  // So many successes prove a host that returned. Not one: of a host that fails half of its calls
  // every second one succeeds.
  static constexpr int kTrial = 5;

  enum class State : uint8_t {
    kHealthy,    // gets calls
    kEjected,    // gets none, until `until`
    kReturning,  // gets calls, few at first (slow start from `returned_at`), and may not fail
  };
  enum class Input : uint8_t { kBlamed, kTimeOver, kProven };
  static State Next(State state, Input input);

  struct Subject {
    size_t before = base::kNowhere;  // its place in the set before; the rest is not looked at then
    // Both kept by the owner until OnHostsChanged without it.
    HostHealth* health = nullptr;
    std::string_view address = {};  // for people
  };
  struct Standing {
    State state = State::kHealthy;
    base::MonoTime until{};                              // kEjected
    base::MonoTime returned_at = base::MonoTime::min();  // the last time; min(): never
    int ejections = 0;                                   // n: what the next one's length goes by
    std::string why = {};                                // of the last ejection, for people
  };
  // What happened, to be counted and logged.
  struct Event {
    enum class Kind : uint8_t {
      kEjected,
      kReturned,
      kSpared,  // would have been ejected, but too many are
    };
    Kind kind{};
    size_t host = 0;
    OutlierRule rule{};     // not with kReturned
    std::string text = {};  // host, rule and figures
  };
  using Events = std::vector<Event>;

  // Valid and enabled.
  OutlierDetector(const OutlierOptions& options, base::Random random, base::MonoTime now);

  // The whole set that ejection is about: what may get calls, healthy or not. What is said of hosts
  // by index goes by its order. Those that were there before keep their standing; no place of
  // the set before is named twice. Where the bound shrinks below what is ejected, those return
  // whose time is over first.
  Events OnHostsChanged(const std::vector<Subject>& hosts, base::MonoTime now);
  // Its HostHealth::Add said so.
  Events OnTrip(const HostHealth& health, base::MonoTime now);
  // To be called at next(): lets hosts return, and applies the interval's rules at its end. Calls
  // that come early do nothing.
  Events OnTime(base::MonoTime now);
  base::MonoTime next() const { return next_; }

  size_t hosts() const { return hosts_.size(); }
  size_t ejected() const { return ejected_; }
  const Standing& standing(size_t host) const {
    const std::unique_ptr<Record>& record = hosts_[host].record;
    return record == nullptr ? clean_ : record->standing;
  }

 private:
  struct Record {
    Standing standing;
    int slow_intervals = 0;  // in a row
  };
  // Small, as most hosts of a large set were never blamed, and it is gone through with each change.
  struct Entry {
    HostHealth* health = nullptr;
    std::string_view address = {};
    std::unique_ptr<Record> record = {};  // null: nothing is held against it
  };

  Record& RecordOf(size_t host);

  size_t MaxEjected() const;
  base::MonoDuration Length(int ejections) const;
  OutlierFinding InRow(size_t host) const;
  void Blame(const OutlierFinding& finding, base::MonoTime now, Events& events);
  void Return(size_t host, base::MonoTime now, Events& events);
  void EndInterval(base::MonoTime now, Events& events);
  void SetNext();

  const OutlierOptions options_;
  const base::MonoDuration interval_;
  base::Random random_;
  const Standing clean_;
  std::vector<Entry> hosts_;
  size_t ejected_ = 0;
  base::MonoTime interval_end_;
  base::MonoTime next_;
};

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_OUTLIER_DETECTOR_H_
