// HostPool: everything about reaching one host: one connection, shared by whoever calls; its
// dialling, draining and replacement; the exchanges that wait for it. One strand guards it all.
//
//   kIdle ── first exchange, Connect ──▶ kConnecting ── first SETTINGS ──▶ kReady
//     ▲                                    ▲  │  ▲                           │
//     │ nobody wants it      the pause is over│  └── lost, GOAWAY: at once ──┘
//     │                                    │  ▼ failed, or of no use twice in a row
//     └──────────────────────────────── kBackoff                  any ── Shutdown ──▶ kClosed
//
// A connection that drains goes on beside its successor until its exchanges have ended.
#ifndef WEFT_LIB_POOL_HOST_POOL_H_
#define WEFT_LIB_POOL_HOST_POOL_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/intrusive_list.h"
#include "base/random.h"
#include "cluster/host.h"
#include "event/alarm.h"
#include "event/loop.h"
#include "event/strand.h"
#include "event/timer_heap.h"
#include "net/address.h"
#include "pool/backoff.h"
#include "pool/connection.h"
#include "pool/connector.h"
#include "pool/exchange.h"
#include "pool/lingering.h"
#include "telemetry/counters.h"
#include "weft/channel_factory.h"
#include "weft/error.h"

namespace weft::inline v0::pool {

struct HostSetup {
  event::Loop* loop;
  ReadBuffer* read_buffer;  // the loop's
  telemetry::Counters* counters;
  const ConnectionOptions* options;
  ConnectorOptions connector;
  uint64_t seed;
  int32_t first_stream_id = 1;  // of the first connection; tests begin near the end
};

class HostPool final : public cluster::Host,
                       private event::Strand::Body,
                       private event::Alarm,
                       private ConnectionOwner {
 public:
  HostPool(const net::Address& address, HostSetup setup);

  event::Strand& strand() { return strand_; }
  const net::Address& net_address() const { return address_; }

  // Any thread. Dials when idle, and from now on again whenever the connection is lost.
  void Connect() override;
  // Any thread, once. With kDrain what runs may end within the drain timeout; with kNow it ends
  // with `why` at once. Then the connections are closed, and `closed` is called on the loop.
  // Exchanges that come later end with `why`.
  enum class How { kDrain, kNow };
  void Shutdown(How how, absl::Status why, absl::AnyInvocable<void() &&> closed);
  // Any thread, once, after Shutdown(kDrain): what still runs ends now, with `why`.
  void EndDrain(absl::Status why);

 private:
  friend class Exchange;
  template <void (HostPool::*Member)()>
  class LoopOp final : public event::Op {
   public:
    explicit LoopOp(HostPool& host) : Op(Where::kLoopOnly), host_(host) {}
    void Run() override { (host_.*Member)(); }

   private:
    HostPool& host_;
  };
  template <void (HostPool::*Member)()>
  class HostTimer final : public event::Timer {
   public:
    explicit HostTimer(HostPool& host) : host_(host) {}
    void OnTimer() override { (host_.*Member)(); }

   private:
    HostPool& host_;
  };

  ~HostPool() override;

  // event::Strand::Body
  void Flush() override;
  void Keep() override { Retain(); }
  void Drop() override { Release(); }
  // event::Alarm
  void OnAlarm() override;
  // ConnectionOwner
  void OnReady(Connection& connection) override;
  void OnDraining(Connection& connection, bool too_many_pings) override;
  void OnBroken(Connection& connection) override;

  // The strand is held.
  void Enqueue(Exchange& exchange);
  void Leave(Exchange& exchange);        // kPending only
  void Linger(base::MonoTime deadline);  // an abandoned exchange, in place of its Exit
  void EndLingering(size_t count);
  void OpenPending();
  void OpenFrom(base::IntrusiveList<Exchange>& list, Exchange::Role role);
  base::IntrusiveList<Exchange>& ListOf(const Exchange& exchange) {
    return exchange.role_ == Exchange::Role::kCall ? pending_ : background_;
  }
  void FailPending(const absl::Status& status, Origin origin);
  void WantWork();  // asks for DoWork on the loop

  // The strand is held, on the loop.
  void OnConnectOp();
  void OnShutdownOp();
  void OnDrainOver() { drain_over_ = true, DoWork(); }
  void OnLingerTimer() { EndLingering(lingering_.TakeDue(strand_.loop().now())); }
  void OnTimersOp();
  void DoWork();          // closes what is broken or drained, dials what is missing
  bool MustDial() const;  // a connection is missing, and nothing is under way to get one
  void Dial();
  void OnDialDone(absl::StatusOr<std::unique_ptr<net::ByteStream>> stream);
  void OnDialResultOp();
  void OnDialTimeout();
  void OnBackoffOver();
  void DialFailed(absl::Status status);
  // The connection that took new exchanges is gone: dials the next one, at once unless this happens
  // again and again.
  void Succeed(bool lived, absl::Status why);
  void DropDial();
  void CloseConnection(std::unique_ptr<Connection> connection, const absl::Status& status);
  void MaybeFinishShutdown();
  // A host that only left is no reason for a call to end: it goes to another.
  Origin ShutdownOrigin() const {
    return how_ == How::kDrain ? Origin::kConnection : Origin::kLocal;
  }

  const net::Address address_;
  const HostSetup setup_;
  int32_t first_stream_id_;  // of the next connection
  event::Strand strand_;
  event::TimerHeap timers_;
  base::Random random_;
  Backoff backoff_;

  LoopOp<&HostPool::OnConnectOp> connect_op_;
  LoopOp<&HostPool::OnShutdownOp> shutdown_op_;
  LoopOp<&HostPool::OnDrainOver> end_drain_op_;
  LoopOp<&HostPool::OnTimersOp> timers_op_;
  LoopOp<&HostPool::DoWork> work_op_;
  LoopOp<&HostPool::OnDialResultOp> dial_result_op_;
  HostTimer<&HostPool::OnDialTimeout> dial_timer_;
  HostTimer<&HostPool::OnBackoffOver> backoff_timer_;
  HostTimer<&HostPool::OnDrainOver> drain_timer_;
  HostTimer<&HostPool::OnLingerTimer> linger_timer_;

  base::IntrusiveList<Exchange> pending_;     // calls
  base::IntrusiveList<Exchange> background_;  // likewise, beside them
  Lingering lingering_;
  std::unique_ptr<Connection> current_;                // takes new exchanges
  std::unique_ptr<Connection> starting_;               // waits for the first SETTINGS
  std::vector<std::unique_ptr<Connection>> draining_;  // ends what runs
  std::unique_ptr<Connector> connector_;
  absl::StatusOr<std::unique_ptr<net::ByteStream>> dial_result_;

  base::MonoTime current_since_{};
  bool current_lived_ = false;  // long enough, or of use
  int short_lives_ = 0;         // connections in a row that were neither

  std::atomic<bool> connect_asked_{false};
  bool wanted_ = false;  // somebody asked for a connection: lost ones are replaced
  bool work_queued_ = false;
  bool timers_queued_ = false;  // the loop's thread only
  bool drain_over_ = false;
  base::MonoDuration keepalive_interval_;
  bool shutting_down_ = false;
  How how_ = How::kNow;
  absl::Status shutdown_why_;
  absl::Status end_drain_why_;  // OK: only time ends a drain
  absl::AnyInvocable<void() &&> shutdown_done_;
};

}  // namespace weft::inline v0::pool

#endif  // WEFT_LIB_POOL_HOST_POOL_H_
