// Membership: which hosts of a cluster may be picked, in which groups, and with what weight. The
// control half; what it makes of the facts is published as a snapshot that every pick reads.
//
//   endpoints ─▶ without those that drain ─▶ levels (priority, own zone or not) ─▶ their shares
//             ─▶ in each level, without those that are ejected (with them in a panic), weights
//                reduced by slow start ─▶ the level's balancer ─▶ its picker
#ifndef WEFT_LIB_CLUSTER_MEMBERSHIP_H_
#define WEFT_LIB_CLUSTER_MEMBERSHIP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/ref.h"
#include "base/time.h"
#include "cluster/levels.h"
#include "cluster/member.h"
#include "cluster/outlier_detector.h"
#include "telemetry/counters.h"
#include "weft/balancer.h"
#include "weft/balancing_options.h"
#include "weft/outlier_options.h"

namespace weft::inline v0::cluster {

// Hosts that one balancer chooses among.
struct Group {
  std::shared_ptr<Balancer> balancer;  // its pickers may be a part of it
  std::shared_ptr<const Picker> picker;
  std::vector<base::Ref<Member>> members;  // what the picker's indices mean
  uint32_t number = 0;                     // Member::Place's
  double up_to = 1;                        // its share of all calls ends here, of 0 … 1
};

using HostList = std::shared_ptr<const std::vector<PickerHost>>;

struct Hosts {
  HostList all;
  size_t unfit = 0;  // of which are ejected or fail their health checks, and get no calls
  std::vector<Group> groups;
};

// INVALID_ARGUMENT names the field that is out of range.
absl::Status Validate(const SlowStartOptions& options);

// Not thread-safe: guarded by its owner.
class Membership {
 public:
  struct Options {
    BalancerFactory balancer = {};
    uint64_t seed = 0;
    OutlierOptions outlier = {};  // valid
    SlowStartOptions slow_start = {};
    Locality locality = {};                   // the client's
    telemetry::Counters* counters = nullptr;  // null: nothing is counted
  };
  // What is told of a host to people.
  struct Standing {
    PickerHost host = {};
    double weight = 0;  // 0: gets no calls
    bool ejected = false;
    std::string why = {};       // with ejected
    bool fails_checks = false;  // the active ones
  };

  Membership(Options options, base::MonoTime now);

  // The new set, complete.
  void Update(std::vector<PickerHost> hosts, base::MonoTime now);
  // Another one from now on; not null.
  void SetBalancer(BalancerFactory balancer);
  // Whether active checks find a host healthy; null: there are none.
  void SetChecks(std::function<bool(const Host&)> passes) { passes_checks_ = std::move(passes); }
  // The rule of failures in a row has tripped.
  void OnTrip(const Member& member, base::MonoTime now);
  // What holds at `now`; null: as before. To be called after each of the above, when the state of a
  // host has changed, and at next().
  std::shared_ptr<const Hosts> Refresh(base::MonoTime now);
  // kNever: time alone changes nothing. `busy`: attempts have ended since the last Refresh.
  base::MonoTime next(bool busy) const;

  // Those of the last Update, complete.
  const HostList& all() const { return all_; }
  std::vector<Standing> Standings() const;

 private:
  struct Entry {
    base::Ref<Member> member = {};
    size_t place = 0;          // in all_
    bool unreachable = false;  // since its last dial failed, until one succeeds
    bool fails_checks = false;
    base::MonoTime began{};  // its slow start; or one of the values in the source
  };
  // Priority, then whether it is not in the client's own zone.
  using LevelKey = std::pair<int, bool>;
  struct LevelState {
    std::shared_ptr<Balancer> balancer;
    std::shared_ptr<const Picker> picker;
    std::vector<size_t> entries;    // all that belong to it
    std::vector<size_t> given;      // those that its balancer has
    std::vector<PickerHost> hosts;  // as it has them
    LevelShare share;
  };

  const PickerHost& HostOf(const Entry& entry) const { return (*all_)[entry.place]; }

  bool Ejected(size_t entry) const {
    return detector_.has_value() &&
           detector_->standing(entry).state == OutlierDetector::State::kEjected;
  }
  LevelKey KeyOf(const Endpoint& endpoint) const;
  void Look(size_t index, base::MonoTime now);
  // Whether it may be picked at all, were it connected.
  bool Fit(size_t entry) const { return !entries_[entry].fails_checks && !Ejected(entry); }
  bool Healthy(size_t entry) const { return Fit(entry) && !entries_[entry].unreachable; }
  bool RefreshShares();
  bool RefreshLevel(uint32_t number, LevelState& level, base::MonoTime now);
  double SlowStart(const Entry& entry, base::MonoTime now) const;
  void Note(const OutlierDetector::Events& events);
  std::shared_ptr<const Hosts> Publish() const;

  Options options_;
  const base::MonoDuration window_;
  std::function<bool(const Host&)> passes_checks_;
  std::optional<OutlierDetector> detector_;  // its hosts are entries_
  HostList all_ = std::make_shared<const std::vector<PickerHost>>();
  std::vector<Entry> entries_;
  std::map<LevelKey, LevelState> levels_;
  bool set_changed_ = false;
  bool starting_ = false;  // somebody is in slow start
  base::MonoTime refreshed_{};
};

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_MEMBERSHIP_H_
