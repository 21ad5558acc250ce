// ClientHost: what one client knows of one server: the library's own record of a host, whose
// connection is up but for the moment in which its server starts anew.
#ifndef WEFT_BENCHMARKS_BALANCE_SIM_CLIENT_HOST_H_
#define WEFT_BENCHMARKS_BALANCE_SIM_CLIENT_HOST_H_

#include "balance_sim/server.h"
#include "cluster/host.h"

namespace weft::balance_sim {

class ClientHost final : public cluster::Host {
 public:
  explicit ClientHost(const Server& server) : Host(server.address), server_(server) { SetUp(true); }

  void Connect() override {}
  void SetUp(bool up) { SetState(up ? HostState::kReady : HostState::kBackoff); }
  // What no client can know.
  const Server& server() const { return server_; }

 private:
  const Server& server_;
};

}  // namespace weft::balance_sim

#endif  // WEFT_BENCHMARKS_BALANCE_SIM_CLIENT_HOST_H_
