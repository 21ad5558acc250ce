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
#include "cluster/departed.h"
#include "cluster/levels.h"
#include "cluster/member.h"
#include "cluster/new_set.h"
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
  std::vector<Member*> members;  // what the picker's indices mean
  uint32_t number = 0;           // Member::Place's
  double up_to = 1;              // its share of all calls ends here, of 0 … 1
};

using HostList = std::shared_ptr<const std::vector<PickerHost>>;

struct Hosts {
  base::Ref<Departed> departed;  // keeps what is named below
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
    std::shared_ptr<const Endpoint> endpoint = {};
    std::shared_ptr<Host> host = {};
    double weight = 0;  // 0: gets no calls
    bool ejected = false;
    std::string why = {};       // with ejected
    bool fails_checks = false;  // the active ones
  };

  // `listener` is told of the hosts from Update on, until Close or an Update without them.
  Membership(Options options, MemberListener& listener, base::MonoTime now);

  // The new set, complete.
  void Update(NewSet set, base::MonoTime now);
  // Another one from now on; not null.
  void SetBalancer(BalancerFactory balancer);
  // Whether active checks find a host healthy; null: there are none.
  void SetChecks(std::function<bool(const Host&)> passes) { passes_checks_ = std::move(passes); }
  // The state of its host has changed; it may have left meanwhile.
  void OnHostState(const Member& member, base::MonoTime now);
  // The rule of failures in a row has tripped.
  void OnTrip(const Member& member, base::MonoTime now);
  // The last call: hosts are not listened to any more.
  void Close();
  // What holds at `now`; null: as before. To be called after each of the above, when checks have
  // something new to say, and at next(). Nothing that the set names is freed before the one that it
  // returned last is gone.
  std::shared_ptr<const Hosts> Refresh(base::MonoTime now);
  // kNever: time alone changes nothing. `busy`: attempts have ended since the last Refresh.
  base::MonoTime next(bool busy) const;

  // Those of the last Update, complete.
  const HostList& all() const { return all_; }
  std::vector<Standing> Standings() const;

 private:
  // Priority, then whether it is not in the client's own zone.
  using LevelKey = std::pair<int, bool>;
  static constexpr uint32_t kNone = UINT32_MAX;
  // Of the set, whether it drains or not.
  struct Item {
    std::shared_ptr<const Endpoint> endpoint = {};
    std::shared_ptr<Host> host = {};
    uint32_t entry = kNone;  // kNone: it drains
  };
  // Of those that do not drain.
  struct Entry {
    base::Ref<Member> member = {};
    base::MonoTime began{};  // its slow start; or one of the values in the source
    LevelKey level = {};
    Member::Place given = {};  // the member's
    uint32_t item = 0;
    uint32_t before = kNone;   // its index in the set before
    bool unreachable = false;  // since its last dial failed, until one succeeds
    bool fails_checks = false;
  };
  struct LevelState {
    std::shared_ptr<Balancer> balancer;
    std::shared_ptr<const Picker> picker;
    std::vector<uint32_t> entries;  // all that belong to it
    std::vector<uint32_t> given;    // those that its balancer has
    std::vector<PickerHost> hosts;  // as it has them
    LevelShare share;
  };

  static void PartWith(std::vector<Item>& items, std::vector<Entry>& entries, Departed& departed);
  void FillLevels();
  void TellDetector(base::MonoTime now);
  bool Ejected(size_t entry) const {
    return detector_.has_value() &&
           detector_->standing(entry).state == OutlierDetector::State::kEjected;
  }
  LevelKey KeyOf(const Endpoint& endpoint) const;
  void Look(Entry& entry, base::MonoTime now);
  // Whether it may be picked at all, were it connected.
  bool Fit(size_t entry) const { return !entries_[entry].fails_checks && !Ejected(entry); }
  bool Healthy(size_t entry) const { return Fit(entry) && !entries_[entry].unreachable; }
  bool RefreshShares();
  bool RefreshLevel(uint32_t number, LevelState& level, base::MonoTime now);
  static void Place(Entry& entry, Member::Place place);
  double SlowStart(const Entry& entry, base::MonoTime now) const;
  void Note(const OutlierDetector::Events& events);
  std::shared_ptr<const Hosts> Publish() const;

  Options options_;
  const base::MonoDuration window_;
  std::function<bool(const Host&)> passes_checks_;
  std::optional<OutlierDetector> detector_;  // its hosts are entries_
  MemberListener& listener_;
  base::Ref<Departed> departed_ = base::MakeRef<Departed>();
  std::vector<Item> items_;
  HostList all_ =
      std::make_shared<const std::vector<PickerHost>>();  // items_, each with its weight
  std::vector<Entry> entries_;
  std::map<LevelKey, LevelState> levels_;
  bool set_changed_ = false;
  bool starting_ = false;  // somebody is in slow start
  base::MonoTime refreshed_{};
};

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_MEMBERSHIP_H_
