// Client: what a channel has of the library's balancing: a cluster::Membership of its own, which
// ejects servers that fail, starts those slowly that are new, and gives the rest to the balancer.
// What this simulation knows of those classes is here and in client_host.h.
#ifndef WEFT_BENCHMARKS_BALANCE_SIM_CLIENT_H_
#define WEFT_BENCHMARKS_BALANCE_SIM_CLIENT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "balance_sim/client_host.h"
#include "balance_sim/event_queue.h"
#include "balance_sim/server.h"
#include "base/ref.h"
#include "cluster/member.h"
#include "cluster/membership.h"
#include "cluster/outcome.h"
#include "weft/balancer.h"

namespace weft::balance_sim {

class Client {
 public:
  struct Options {
    BalancerFactory balancer = {};
    uint64_t seed = 0;
    bool slow_start = true;
  };
  struct Choice {
    uint32_t server = 0;
    uint32_t bounce_above = 0;
  };

  // `servers` stay where they are, and are numbered as there.
  Client(const Options& options, const std::vector<Server>& servers, Nanos now);

  Choice Pick(const PickFacts& facts) const;
  ClientHost& host(uint32_t server) { return *hosts_[server]; }
  void OnReport(uint32_t server, const LoadReport& report, Nanos now);
  void OnOutcome(uint32_t server, const cluster::Outcome& outcome, Nanos now);
  // Servers from `first` on, so many, have started anew.
  void OnRestart(uint32_t first, uint32_t count, Nanos now);

  // When Refresh is to be called; may be earlier than before after each of the above.
  Nanos due() const { return due_; }
  void Refresh(Nanos now);
  // Whether it gets no calls.
  bool Ejects(uint32_t server) const { return !given_[server]; }

 private:
  // Keeps those whose state has changed for the next Refresh, as a cluster does.
  struct Moved final : cluster::MemberListener {
    void OnHostState(cluster::Member& member) override { members.push_back(&member); }
    std::vector<const cluster::Member*> members;
  };

  std::vector<base::Ref<ClientHost>> hosts_;
  std::unique_ptr<Moved> moved_ = std::make_unique<Moved>();  // stays where it is
  std::vector<base::Ref<cluster::Member>> members_;           // by server
  std::vector<bool> given_;                                   // by server: its balancer has it
  std::vector<uint32_t> servers_;                             // by the picker's index
  std::unique_ptr<cluster::Membership> membership_;
  std::shared_ptr<const cluster::Hosts> published_;
  Nanos due_ = 0;
};

}  // namespace weft::balance_sim

#endif  // WEFT_BENCHMARKS_BALANCE_SIM_CLIENT_H_
