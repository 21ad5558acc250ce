#include "cluster/cluster.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/mix.h"

namespace weft::inline v0::cluster {
namespace {

// Between two refreshes because of hosts' states, for each host of the cluster. A refresh looks at
// all of them; pickers see the states themselves, at once.
constexpr base::MonoDuration kPausePerHost = std::chrono::microseconds(5);

}  // namespace

void PickWaiter::OnTimer() { cluster_->expired_.push_back(this); }

Cluster::Cluster(std::string name, event::Loop& loop, Membership::Options options)
    : Alarm(loop),
      name_(std::move(name)),
      loop_(loop),
      interval_(options.outlier.enabled ? absl::ToChronoNanoseconds(options.outlier.interval)
                                        : base::MonoDuration::max()),
      membership_(std::move(options), *this, loop.clock().Now()) {}

Cluster::~Cluster() = default;

void Cluster::Update(NewSet set) {
  {
    std::lock_guard<std::mutex> lock(membership_mutex_);
    if (!listens_) return;
    const base::MonoTime now = loop_.clock().Now();
    membership_.Update(std::move(set), now);
    has_set_ = true;
    RefreshLocked(now);
    has_hosts_.store(true, std::memory_order_release);
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    error_ = absl::OkStatus();
  }
  Changed();
}

void Cluster::SetBalancer(BalancerFactory balancer) {
  {
    std::lock_guard<std::mutex> lock(membership_mutex_);
    membership_.SetBalancer(std::move(balancer));
    RefreshLocked(loop_.clock().Now());
  }
  Changed();
}

void Cluster::SetError(absl::Status status) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    error_ = std::move(status);
  }
  Changed();
}

bool Cluster::Refresh(base::MonoTime now) {
  std::lock_guard<std::mutex> lock(membership_mutex_);
  return RefreshLocked(now);
}

bool Cluster::RefreshLocked(base::MonoTime now) {
  if (!listens_ || !has_set_) return false;
  stale_.store(false, std::memory_order_seq_cst);
  refreshed_ = now;
  std::vector<base::Ref<Member>> tripped;
  std::vector<base::Ref<Member>> moved;
  {
    std::lock_guard<std::mutex> lock(told_mutex_);
    tripped.swap(tripped_);
    moved.swap(moved_);
  }
  for (const base::Ref<Member>& member : moved) membership_.OnHostState(*member, now);
  const bool busy = busy_.exchange(false, std::memory_order_relaxed);
  for (const base::Ref<Member>& member : tripped) membership_.OnTrip(*member, now);
  std::shared_ptr<const Hosts> next = membership_.Refresh(now);
  RefreshBy(membership_.next(busy));
  if (next == nullptr) return false;
  hosts_.Set(std::move(next));
  return true;
}

void Cluster::RefreshStale(base::MonoTime now) {
  std::lock_guard<std::mutex> lock(membership_mutex_);
  bool tripped = false;
  {
    std::lock_guard<std::mutex> told_lock(told_mutex_);
    tripped = !tripped_.empty();
  }
  if (!tripped && !stale_.load(std::memory_order_seq_cst)) return;
  const base::MonoTime earliest =
      base::After(refreshed_, kPausePerHost * static_cast<int64_t>(membership_.all()->size()));
  if (!tripped && now < earliest) {
    RefreshBy(earliest);
  } else {
    RefreshLocked(now);
  }
}

void Cluster::RefreshBy(base::MonoTime when) {
  if (when == base::kNever) return;
  std::lock_guard<std::mutex> lock(mutex_);
  if (!closed_.ok()) return;
  refresh_at_ = std::min(refresh_at_, when);
  EnsureBy(refresh_at_);
}

void Cluster::OnOutcome(Member& member, const Outcome& outcome, base::MonoTime now) {
  const bool tripped = member.Add(outcome, now);
  if (!busy_.load(std::memory_order_relaxed) && !busy_.exchange(true, std::memory_order_relaxed))
    RefreshBy(base::After(now, interval_));
  if (!tripped) return;
  {
    std::lock_guard<std::mutex> lock(told_mutex_);
    tripped_.push_back(base::Ref<Member>::Share(&member));
  }
  Changed();
}

void Cluster::OnReport(Member& member, const LoadReport& report, base::MonoTime now) {
  member.host->SetReport(report, now);
  const Member::Place place = member.place();
  hosts_.With([&](const Hosts* hosts) {
    if (hosts == nullptr) return;
    for (const Group& group : hosts->groups) {
      if (group.number == place.group) group.picker->OnReport(place.index, now);
    }
  });
}

Choice Cluster::Pick(const PickFacts& facts, bool wait_for_ready) const {
  const uint64_t version = version_.load(std::memory_order_seq_cst);
  Choice choice;
  hosts_.With([&](const Hosts* hosts) {
    if (hosts != nullptr) choice = PickOf(*hosts, facts);
  });
  choice.version = version;
  if (choice.kind == PickResult::Kind::kQueue && !has_hosts()) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!error_.ok()) {
      choice.kind = PickResult::Kind::kFail;
      choice.status = error_;
    }
  }
  if (choice.kind == PickResult::Kind::kFail && wait_for_ready)
    choice.kind = PickResult::Kind::kQueue;
  return choice;
}

// Where the group whose turn it is has no host for the call, the others are asked in their order.
Choice Cluster::PickOf(const Hosts& hosts, const PickFacts& facts) {
  const std::vector<Group>& groups = hosts.groups;
  if (groups.empty()) {
    const std::string why =
        hosts.unfit == 0 ? "the service has no endpoints"
                         : absl::StrCat("no endpoint of the service is healthy: ", hosts.unfit,
                                        " are ejected or fail their health checks");
    return {.kind = PickResult::Kind::kFail, .status = absl::UnavailableError(why)};
  }
  const size_t first = GroupAt(groups, facts.random);
  Choice choice = PickIn(groups[first], facts);
  for (size_t i = 0; i < groups.size() && choice.kind != PickResult::Kind::kHost; ++i) {
    if (i == first) continue;
    Choice other = PickIn(groups[i], facts);
    if (other.kind != PickResult::Kind::kFail) choice = std::move(other);
  }
  return choice;
}

size_t Cluster::GroupAt(const std::vector<Group>& groups, uint64_t random) {
  size_t at = 0;
  if (groups.size() > 1) {
    const double chance = base::Chance(base::NextRandom(random));
    while (at + 1 < groups.size() && chance >= groups[at].up_to) ++at;
  }
  return at;
}

Choice Cluster::PickIn(const Group& group, const PickFacts& facts) {
  PickResult result = group.picker->Pick(facts);
  Choice choice{.kind = result.kind, .status = std::move(result.status)};
  if (choice.kind == PickResult::Kind::kHost) {
    if (result.index >= group.members.size()) {  // a balancer's mistake
      choice.kind = PickResult::Kind::kFail;
      choice.status = absl::InternalError("the balancer picked a host that does not exist");
      return choice;
    }
    choice.member = base::Ref<Member>::Share(group.members[result.index]);
    choice.bounce_above = result.bounce_above;
  } else if (choice.kind == PickResult::Kind::kFail) {
    for (const Member* const member : group.members) {
      const absl::Status last = member->host->last_error();
      if (last.ok()) continue;
      choice.status = absl::Status(
          choice.status.code(), absl::StrCat(choice.status.message(), "; ", member->host->address(),
                                             " ", last.message()));
      break;
    }
  }
  return choice;
}

Choice Cluster::PickWithRoom(const PickFacts& facts, base::MonoDuration max_age) const {
  constexpr size_t kLooks = 64;  // so that it costs the same whatever the number of hosts
  Choice choice;
  hosts_.With([&](const Hosts* hosts) {
    if (hosts == nullptr) return;
    uint32_t least = 0;
    for (const Group& group : hosts->groups) {
      const std::vector<Member*>& members = group.members;
      for (size_t i = 0; i < std::min(members.size(), kLooks); ++i) {
        Member* const member = members[(facts.random + i) % members.size()];
        const Host* const host = member->host.get();
        const HostView::Reported said = host->reported();
        const bool fits =
            facts.now - max_age <= said.at && said.report.HasRoom() &&
            host->state() == HostState::kReady &&
            std::find(facts.tried.begin(), facts.tried.end(), host) == facts.tried.end();
        if (!fits || (choice.member && said.report.in_flight >= least)) continue;
        choice.kind = PickResult::Kind::kHost;
        choice.member = base::Ref<Member>::Share(member);
        least = said.report.in_flight;
      }
      if (choice.member) return;  // before the other zones, and the next priority
    }
  });
  return choice;
}

base::Ref<Member> Cluster::Draw(uint64_t random) const {
  constexpr int kDraws = 4;
  base::Ref<Member> drawn;
  hosts_.With([&](const Hosts* hosts) {
    if (hosts == nullptr || hosts->groups.empty()) return;
    const Group& group = hosts->groups[GroupAt(hosts->groups, random)];
    for (int i = 0; i < kDraws && !drawn; ++i) {
      random = base::NextRandom(random);
      Member* const member = group.members[base::Below(random, group.members.size())];
      if (member->host->state() == HostState::kReady) drawn = base::Ref<Member>::Share(member);
    }
  });
  return drawn;
}

absl::Status Cluster::Wait(PickWaiter* waiter, uint64_t version, base::MonoTime deadline) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_.ok() && version_.load(std::memory_order_seq_cst) != version)
    return absl::OutOfRangeError("changed");
  waiter->sleeps_ = false;
  return Enqueue(waiter, waiting_, deadline);
}

absl::Status Cluster::Sleep(PickWaiter* waiter, base::MonoTime until) {
  std::lock_guard<std::mutex> lock(mutex_);
  waiter->sleeps_ = true;
  return Enqueue(waiter, sleeping_, until);
}

absl::Status Cluster::Enqueue(PickWaiter* waiter, base::IntrusiveList<PickWaiter>& list,
                              base::MonoTime until) {
  if (!closed_.ok()) return closed_;
  if (list.size() >= kMaxWaiting) {
    return absl::ResourceExhaustedError(
        absl::StrCat("too many calls wait for a host (", kMaxWaiting, ")"));
  }
  waiter->Keep();
  waiter->cluster_ = this;
  list.push_back(waiter);
  deadlines_.Arm(waiter, until);
  EnsureBy(deadlines_.next());
  return absl::OkStatus();
}

void Cluster::Dequeue(PickWaiter* waiter) {
  ListOf(*waiter).erase(waiter);
  deadlines_.Disarm(waiter);
}

bool Cluster::StopWaiting(PickWaiter* waiter) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!waiter->linked()) return false;
    Dequeue(waiter);
  }
  waiter->Drop();
  return true;
}

void Cluster::OnHostState(Member& member) {
  {
    std::lock_guard<std::mutex> lock(told_mutex_);
    moved_.push_back(base::Ref<Member>::Share(&member));
  }
  OnHealthChange();
}

void Cluster::OnHealthChange() {
  stale_.store(true, std::memory_order_seq_cst);
  Changed();
}

void Cluster::Changed() {
  version_.fetch_add(1, std::memory_order_seq_cst);
  if (kick_posted_.exchange(true, std::memory_order_seq_cst)) return;
  Retain();  // until it ran
  loop_.Post(this);
}

void Cluster::Run() {
  kick_posted_.store(false, std::memory_order_seq_cst);
  RefreshStale(loop_.now());
  std::vector<PickWaiter*> waiters;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    waiters.reserve(waiting_.size());
    while (PickWaiter* waiter = waiting_.front()) {
      Dequeue(waiter);
      waiters.push_back(waiter);
    }
  }
  for (PickWaiter* waiter : waiters) {
    waiter->OnPickAgain();
    waiter->Drop();
  }
  Release();
}

void Cluster::OnAlarm() {
  std::vector<PickWaiter*> over;
  bool refresh = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    deadlines_.RunDue(loop_.now());
    over.swap(expired_);
    for (PickWaiter* waiter : over) ListOf(*waiter).erase(waiter);
    refresh = refresh_at_ <= loop_.now();
    if (refresh) refresh_at_ = base::kNever;
    const base::MonoTime next = std::min(deadlines_.next(), refresh_at_);
    if (next != base::kNever) EnsureBy(next);
  }
  if (refresh && Refresh(loop_.now())) Changed();
  for (PickWaiter* waiter : over) {
    if (waiter->sleeps_) {
      waiter->OnPickAgain();
    } else {
      waiter->OnWaitOver(absl::OkStatus());
    }
    waiter->Drop();
  }
}

void Cluster::Close(absl::Status why) {
  std::vector<PickWaiter*> waiters;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = why;
    for (base::IntrusiveList<PickWaiter>* list : {&waiting_, &sleeping_}) {
      while (PickWaiter* waiter = list->front()) {
        Dequeue(waiter);
        waiters.push_back(waiter);
      }
    }
  }
  {
    std::lock_guard<std::mutex> lock(membership_mutex_);
    if (std::exchange(listens_, false)) membership_.Close();
    hosts_.Set(nullptr);
  }
  Stop();
  for (PickWaiter* waiter : waiters) {
    waiter->OnWaitOver(why);
    waiter->Drop();
  }
}

HostList Cluster::hosts() const {
  const std::shared_ptr<const Hosts> hosts = hosts_.Get();
  if (hosts == nullptr) return std::make_shared<const std::vector<PickerHost>>();
  return HostList(hosts, hosts->all.get());  // which keeps what it names
}

std::vector<Membership::Standing> Cluster::Standings() const {
  std::lock_guard<std::mutex> lock(membership_mutex_);
  return membership_.Standings();
}

absl::Status Cluster::error() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return error_;
}

}  // namespace weft::inline v0::cluster
