// Cluster: the hosts of one destination, the picker over them, and the calls that wait for a host.
//
// Picking is for every call and takes no lock that another call takes. Waiting is for the rare call
// that found no host: it queues here until the host set or a host's state changes, and is then
// asked to pick again, on the cluster's loop.
#ifndef WEFT_LIB_CLUSTER_CLUSTER_H_
#define WEFT_LIB_CLUSTER_CLUSTER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/intrusive_list.h"
#include "base/ref.h"
#include "base/snapshot.h"
#include "base/time.h"
#include "cluster/host.h"
#include "cluster/member.h"
#include "cluster/membership.h"
#include "cluster/new_set.h"
#include "cluster/outcome.h"
#include "event/alarm.h"
#include "event/loop.h"
#include "event/timer_heap.h"
#include "weft/balancer.h"

namespace weft::inline v0::cluster {

// A call that waits. While it is queued the cluster holds what `Keep` takes.
class PickWaiter : public base::ListNode<PickWaiter>, private event::Timer {
 public:
  // Pick again: something changed, or the time to sleep is over. On the cluster's loop, no lock
  // held; the waiter is not queued any more.
  virtual void OnPickAgain() = 0;
  // Its deadline passed, or (status not OK) it may not wait any longer. Likewise.
  virtual void OnWaitOver(absl::Status why) = 0;
  virtual void Keep() = 0;
  virtual void Drop() = 0;

 protected:
  ~PickWaiter() = default;

 private:
  friend class Cluster;
  void OnTimer() final;
  class Cluster* cluster_ = nullptr;
  bool sleeps_ = false;
};

struct Choice {
  PickResult::Kind kind = PickResult::Kind::kQueue;
  base::Ref<Member> member = {};  // with kHost
  uint32_t bounce_above = 0;      // likewise; see PickResult
  absl::Status status = {};       // with kFail
  uint64_t version = 0;           // with kQueue: what Wait wants to know
};

class Cluster final : public base::RefCounted,
                      private MemberListener,
                      private event::Alarm,
                      private event::Task {
 public:
  static constexpr size_t kMaxWaiting = 65536;

  Cluster(std::string name, event::Loop& loop, Membership::Options options);

  const std::string& name() const { return name_; }
  event::Loop& loop() const { return loop_; }

  // The new set, complete; endpoints with `draining` are kept connected but not picked. One thread
  // at a time.
  void Update(NewSet set);
  // Instead of the one that there was; not null. Any thread.
  void SetBalancer(BalancerFactory balancer);
  // Whether active checks find a host healthy. Before the first Update.
  void SetChecks(std::function<bool(const Host&)> passes) {
    membership_.SetChecks(std::move(passes));
  }
  // What they say of some host has changed. Any thread.
  void OnHealthChange();
  // There is no set yet, and why. Nothing happens where there is one.
  void SetError(absl::Status status);
  bool closed() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return !closed_.ok();
  }
  // What Wait wants to know; read before what one would wait for.
  uint64_t version() const { return version_.load(std::memory_order_seq_cst); }
  bool has_hosts() const { return has_hosts_.load(std::memory_order_acquire); }

  // Any thread. `wait_for_ready` turns kFail into kQueue.
  Choice Pick(const PickFacts& facts, bool wait_for_ready) const;
  // Of the connected hosts that were not tried and have reported, at most `max_age` ago, that they
  // have room for one more, the one with the least in flight by its report; kQueue where there is
  // none. Of many hosts it looks at a few. Any thread.
  Choice PickWithRoom(const PickFacts& facts, base::MonoDuration max_age) const;
  // One that may be picked and is connected, at random, not by a balancer: a group by its share of
  // the calls, then any host of it. Null where a few draws met none. Any thread.
  base::Ref<Member> Draw(uint64_t random) const;
  // An attempt has ended, or what is known of it has changed for good. Any thread.
  void OnOutcome(Member& member, const Outcome& outcome, base::MonoTime now);
  // A host has said what its load is. Any thread.
  void OnReport(Member& member, const LoadReport& report, base::MonoTime now);

  // Queues a waiter whose Pick said kQueue at `version`. OUT_OF_RANGE: something changed since,
  // pick again; RESOURCE_EXHAUSTED: too many wait; CANCELLED: closed.
  absl::Status Wait(PickWaiter* waiter, uint64_t version, base::MonoTime deadline);
  // Queues a waiter that is to pick again at `until`, whatever changes. Errors as with Wait.
  absl::Status Sleep(PickWaiter* waiter, base::MonoTime until);
  // True: the waiter was queued and will hear nothing any more. False: it has been, or is being,
  // told.
  bool StopWaiting(PickWaiter* waiter);

  // On the loop's thread. Ends waiting for everybody with `why`; nobody waits from then on, and
  // host states are not listened to.
  void Close(absl::Status why);

  // Current hosts, all that they refer to with them.
  HostList hosts() const;
  std::vector<Membership::Standing> Standings() const;
  absl::Status error() const;

 private:
  friend class PickWaiter;
  ~Cluster() override;  // after Close

  void OnHostState(Member& member) override;
  void OnAlarm() override;  // deadlines of waiters, and what time changes of the membership
  void Run() override;      // after a change: ask the waiters to pick again
  void Drop() override { Release(); }
  void Changed();
  // Publishes what the membership makes of its facts, if that is something new.
  bool Refresh(base::MonoTime now);
  // Likewise where hosts have changed, but not too often.
  void RefreshStale(base::MonoTime now);
  bool RefreshLocked(base::MonoTime now);
  void RefreshBy(base::MonoTime when);
  static Choice PickOf(const Hosts& hosts, const PickFacts& facts);
  // That whose turn it is; there is one. An index.
  static size_t GroupAt(const std::vector<Group>& groups, uint64_t random);
  static Choice PickIn(const Group& group, const PickFacts& facts);
  // With mutex_.
  absl::Status Enqueue(PickWaiter* waiter, base::IntrusiveList<PickWaiter>& list,
                       base::MonoTime until);
  void Dequeue(PickWaiter* waiter);
  base::IntrusiveList<PickWaiter>& ListOf(const PickWaiter& waiter) {
    return waiter.sleeps_ ? sleeping_ : waiting_;
  }

  const std::string name_;
  event::Loop& loop_;
  const base::MonoDuration interval_;  // the outlier detector's
  base::Snapshot<Hosts> hosts_;
  std::atomic<bool> has_hosts_{false};
  std::atomic<uint64_t> version_{1};
  std::atomic<bool> kick_posted_{false};
  std::atomic<bool> busy_{false};  // attempts have ended since the membership was refreshed

  std::atomic<bool> stale_{false};  // a host's state or health has changed, likewise

  mutable std::mutex membership_mutex_;  // before mutex_
  base::MonoTime refreshed_{};
  Membership membership_;
  bool has_set_ = false;  // a set has come; it may be empty
  bool listens_ = true;   // to the hosts of the membership; not any more once it is closed

  // What the membership is told with the next refresh.
  std::mutex told_mutex_;
  std::vector<base::Ref<Member>> tripped_;
  std::vector<base::Ref<Member>> moved_;  // their hosts' states have changed

  mutable std::mutex mutex_;
  absl::Status error_;
  absl::Status closed_;
  base::IntrusiveList<PickWaiter> waiting_;
  base::IntrusiveList<PickWaiter> sleeping_;
  event::TimerHeap deadlines_;
  base::MonoTime refresh_at_ = base::kNever;
  std::vector<PickWaiter*> expired_;  // between OnTimer and OnAlarm's end
};

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_CLUSTER_H_
