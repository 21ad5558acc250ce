// ClientHost: what one client knows of one server: a HostView like the library's own, for one
// thread and small, as 2,000 clients have 200,000 of them.
#ifndef WEFT_BENCHMARKS_BALANCE_SIM_CLIENT_HOST_H_
#define WEFT_BENCHMARKS_BALANCE_SIM_CLIENT_HOST_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "balance_sim/server.h"
#include "cluster/latency_average.h"
#include "weft/balancer.h"

namespace weft::balance_sim {

class ClientHost final : public HostView {
 public:
  explicit ClientHost(const Server& server) : server_(&server) {}

  const std::string& address() const override { return server_->address; }
  HostState state() const override { return HostState::kReady; }
  uint32_t in_flight() const override { return entered_ - exited_; }
  std::chrono::nanoseconds latency(MonoTime now) const override { return latency_.Get(now); }
  Reported reported() const override { return {said_, said_at_, entered_ - entered_when_said_}; }
  // What no client can know.
  const Server& server() const { return *server_; }

  // What an attempt took; a failure after a failure counts for more.
  void Learn(std::chrono::nanoseconds took, bool failed, MonoTime now) {
    if (failed) {
      latency_.AddFailure(took, failed_last_, now);
    } else {
      latency_.Add(took, now);
    }
    failed_last_ = failed;
  }

  void Enter() { ++entered_; }
  void Exit() { ++exited_; }
  void SetReport(const LoadReport& report, MonoTime now) {
    said_ = report;
    said_at_ = now;
    entered_when_said_ = entered_;
  }

 private:
  const Server* server_;
  uint32_t entered_ = 0;
  uint32_t exited_ = 0;
  cluster::LatencyAverage latency_;
  bool failed_last_ = false;
  LoadReport said_;
  MonoTime said_at_ = MonoTime::min();
  uint32_t entered_when_said_ = 0;
};

}  // namespace weft::balance_sim

#endif  // WEFT_BENCHMARKS_BALANCE_SIM_CLIENT_HOST_H_
