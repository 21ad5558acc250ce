#include "balance_sim/client.h"

#include <limits>
#include <utility>

namespace weft::balance_sim {
namespace {

base::MonoTime Mono(Nanos now) { return base::MonoTime(std::chrono::nanoseconds(now)); }

}  // namespace

Client::Client(const Options& options, const std::vector<Server>& servers, Nanos now)
    : members_(servers.size()) {
  static const auto endpoint = std::make_shared<const Endpoint>();
  cluster::NewSet set;
  for (const Server& server : servers) {
    hosts_.push_back(base::MakeRef<ClientHost>(server));
    // Not counted: the client keeps them.
    set.push_back(
        {.endpoint = endpoint,
         .host = std::shared_ptr<cluster::Host>(std::shared_ptr<void>(), hosts_.back().get())});
  }
  cluster::Membership::Options mine;
  mine.balancer = options.balancer;
  mine.seed = options.seed;
  if (!options.slow_start) mine.slow_start.window = absl::ZeroDuration();
  membership_ = std::make_unique<cluster::Membership>(std::move(mine), *moved_, Mono(now));
  membership_->Update(std::move(set), Mono(now));
  Refresh(now);
}

void Client::Refresh(Nanos now) {
  for (const cluster::Member* const member : std::exchange(moved_->members, {}))
    membership_->OnHostState(*member, Mono(now));
  std::shared_ptr<const cluster::Hosts> next = membership_->Refresh(Mono(now));
  // There are always calls that end.
  const base::MonoTime due = membership_->next(/*busy=*/true);
  due_ = due == base::kNever ? std::numeric_limits<Nanos>::max() : due.time_since_epoch().count();
  if (next == nullptr) return;
  published_ = std::move(next);
  given_.assign(hosts_.size(), false);
  servers_.clear();
  // All servers are of one level.
  for (cluster::Member* const member : published_->groups.front().members) {
    const uint32_t number = static_cast<const ClientHost&>(*member->host).server().number;
    servers_.push_back(number);
    given_[number] = true;
    if (!members_[number]) members_[number] = base::Ref<cluster::Member>::Share(member);
  }
}

Client::Choice Client::Pick(const PickFacts& facts) const {
  const PickResult picked = published_->groups.front().picker->Pick(facts);
  return {servers_[picked.index], picked.bounce_above};
}

void Client::OnReport(uint32_t server, const LoadReport& report, Nanos now) {
  hosts_[server]->SetReport(report, Mono(now));
  if (!given_[server]) return;
  published_->groups.front().picker->OnReport(members_[server]->place().index, Mono(now));
}

void Client::OnOutcome(uint32_t server, const cluster::Outcome& outcome, Nanos now) {
  if (!members_[server]->Add(outcome, Mono(now))) return;
  membership_->OnTrip(*members_[server], Mono(now));
  Refresh(now);
}

void Client::OnRestart(uint32_t first, uint32_t count, Nanos now) {
  for (const bool up : {false, true}) {
    for (uint32_t i = first; i < first + count; ++i) hosts_[i]->SetUp(up);
    Refresh(now);
  }
}

}  // namespace weft::balance_sim
