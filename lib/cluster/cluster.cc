#include "cluster/cluster.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace weft::inline v0::cluster {

void PickWaiter::OnTimer() { cluster_->expired_.push_back(this); }

Cluster::Cluster(std::string name, event::Loop& loop, std::unique_ptr<Balancer> balancer)
    : Alarm(loop), name_(std::move(name)), loop_(loop), balancer_(std::move(balancer)) {}

Cluster::~Cluster() = default;

void Cluster::Update(std::vector<PickerHost> hosts) {
  auto next = std::make_shared<State>();
  next->hosts = std::move(hosts);
  for (const PickerHost& entry : next->hosts) {
    if (!entry.endpoint->draining) next->pickable.push_back(entry);
  }
  next->picker = balancer_->Update(next->pickable);
  // Listen to the new ones before they can be picked, and leave the old ones after.
  const std::shared_ptr<const State> last = state_.Get();
  for (const PickerHost& entry : next->hosts)
    static_cast<Host*>(entry.host.get())->AddListener(this);
  state_.Set(next);
  has_hosts_.store(true, std::memory_order_release);
  if (last != nullptr) {
    for (const PickerHost& entry : last->hosts)
      static_cast<Host*>(entry.host.get())->RemoveListener(this);
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    error_ = absl::OkStatus();
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

Choice Cluster::Pick(const PickFacts& facts, bool wait_for_ready) const {
  Choice choice;
  choice.version = version_.load(std::memory_order_seq_cst);
  state_.With([&](const State* state) {
    if (state == nullptr) return;
    PickResult result = state->picker->Pick(facts);
    choice.kind = result.kind;
    choice.status = std::move(result.status);
    if (choice.kind == PickResult::Kind::kHost) {
      if (result.index >= state->pickable.size()) {  // a balancer's mistake
        choice.kind = PickResult::Kind::kFail;
        choice.status = absl::InternalError("the balancer picked a host that does not exist");
        return;
      }
      choice.host =
          base::Ref<Host>::Share(static_cast<Host*>(state->pickable[result.index].host.get()));
    } else if (choice.kind == PickResult::Kind::kFail) {
      for (const PickerHost& entry : state->pickable) {
        const auto* host = static_cast<const Host*>(entry.host.get());
        const absl::Status last = host->last_error();
        if (last.ok()) continue;
        choice.status = absl::Status(
            choice.status.code(),
            absl::StrCat(choice.status.message(), "; ", host->address(), " ", last.message()));
        break;
      }
    }
  });
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

Choice Cluster::PickWithRoom(const PickFacts& facts, base::MonoDuration max_age) const {
  constexpr size_t kLooks = 64;  // so that it costs the same whatever the number of hosts
  Choice choice;
  state_.With([&](const State* state) {
    if (state == nullptr) return;
    const std::vector<PickerHost>& hosts = state->pickable;
    Host* best = nullptr;
    uint32_t least = 0;
    for (size_t i = 0; i < std::min(hosts.size(), kLooks); ++i) {
      auto* const host = static_cast<Host*>(hosts[(facts.random + i) % hosts.size()].host.get());
      const HostView::Reported said = host->reported();
      const bool fits =
          facts.now - max_age <= said.at && said.report.HasRoom() && host->state() == HostState::kReady &&
          std::find(facts.tried.begin(), facts.tried.end(), host) == facts.tried.end();
      if (!fits || (best != nullptr && said.report.in_flight >= least)) continue;
      best = host;
      least = said.report.in_flight;
    }
    if (best == nullptr) return;
    choice.kind = PickResult::Kind::kHost;
    choice.host = base::Ref<Host>::Share(best);
  });
  return choice;
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

void Cluster::OnHostState() { Changed(); }

void Cluster::Changed() {
  version_.fetch_add(1, std::memory_order_seq_cst);
  if (kick_posted_.exchange(true, std::memory_order_seq_cst)) return;
  Retain();  // until it ran
  loop_.Post(this);
}

void Cluster::Run() {
  kick_posted_.store(false, std::memory_order_seq_cst);
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
  {
    std::lock_guard<std::mutex> lock(mutex_);
    deadlines_.RunDue(loop_.now());
    over.swap(expired_);
    for (PickWaiter* waiter : over) ListOf(*waiter).erase(waiter);
    if (deadlines_.next() != base::kNever) EnsureBy(deadlines_.next());
  }
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
  if (const std::shared_ptr<const State> last = state_.Get()) {
    for (const PickerHost& entry : last->hosts)
      static_cast<Host*>(entry.host.get())->RemoveListener(this);
  }
  state_.Set(nullptr);
  Stop();
  for (PickWaiter* waiter : waiters) {
    waiter->OnWaitOver(why);
    waiter->Drop();
  }
}

std::vector<PickerHost> Cluster::hosts() const {
  const std::shared_ptr<const State> state = state_.Get();
  return state == nullptr ? std::vector<PickerHost>() : state->hosts;
}

absl::Status Cluster::error() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return error_;
}

}  // namespace weft::inline v0::cluster
