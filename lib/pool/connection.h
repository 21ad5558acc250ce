// Connection: a byte stream and the session on it. Everything here happens with the host's strand
// held.
//
//   the loop: edge ─▶ ReadOp: read ▶ feed the session ▶ wake callers ─┐
//                       ▲ once more, as long as it is productive      │
//                       └───────────────────────────────────────────┐ ▼
//   any holder: Open, Reset, Consume … ─▶ session ─▶ end of the batch: Flush (one write)
//
// It never closes itself: it tells its owner that it is broken, and the owner closes it on the
// loop.
#ifndef WEFT_LIB_POOL_CONNECTION_H_
#define WEFT_LIB_POOL_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/intrusive_list.h"
#include "base/time.h"
#include "cluster/host.h"
#include "event/loop.h"
#include "event/strand.h"
#include "event/timer_heap.h"
#include "http/session.h"
#include "net/byte_stream.h"
#include "pool/exchange.h"
#include "pool/keepalive.h"
#include "pool/reset_budget.h"
#include "telemetry/counters.h"
#include "weft/channel_factory.h"

namespace weft::inline v0::pool {

// One thread's receive buffer: lent to the connection that reads.
using ReadBuffer = std::vector<char>;

class Connection;

// Called with the strand held.
class ConnectionOwner {
 public:
  // The peer's first SETTINGS arrived: it speaks HTTP/2.
  virtual void OnReady(Connection& connection) = 0;
  // It takes nothing new any more. `too_many_pings`: the peer complained of keepalive.
  virtual void OnDraining(Connection& connection, bool too_many_pings) = 0;
  // It is of no use; Close it, on the loop's thread, not within this call.
  virtual void OnBroken(Connection& connection) = 0;

 protected:
  ~ConnectionOwner() = default;
};

struct ConnectionSetup {
  ConnectionOwner* owner;
  event::Strand* strand;
  event::TimerHeap* timers;
  ReadBuffer* read_buffer;
  telemetry::Counters* counters;
  const ConnectionOptions* options;
  base::MonoDuration keepalive_interval;
  int32_t first_stream_id = 1;
  bool tls;
};

class Connection final : public event::Deferred,
                         private http::SessionOwner,
                         private net::ReadyWatcher {
 public:
  // On the loop's thread. Reading begins with the first edge.
  Connection(const ConnectionSetup& setup, std::unique_ptr<net::ByteStream> stream,
             base::MonoTime now);
  ~Connection() override;

  bool ready() const { return ready_; }  // SETTINGS came
  bool draining() const { return draining_; }
  const absl::Status& broken() const { return broken_; }  // OK: it is not
  size_t open_streams() const { return session_->open_streams(); }
  uint64_t completed() const { return completed_; }  // exchanges that ended with an answer
  // Whether an exchange may be opened now.
  bool CanOpen(Exchange::Role role) const;
  // Whether stream ids run out soon, so that a successor should be dialled.
  bool NearingEnd() const { return session_->nearing_end(); }

  void Open(Exchange& exchange);
  void Reset(Exchange& exchange, http::ResetReason reason);
  // For one that nobody wants any more: resets it, or drains it where the reset budget is used up.
  // Returns whether it drains; then that counts as in flight at `host`, and not the exchange.
  bool Abandon(Exchange& exchange, cluster::Host& host);
  void ResumeBody(Exchange& exchange) { session_->ResumeBody(exchange.stream_); }
  void Consume(Exchange& exchange, size_t bytes) { session_->Consume(exchange.stream_, bytes); }
  bool HeadSent(const Exchange& exchange) const;
  void OnExchangeEnded(bool answered) { completed_ += answered ? 1 : 0; }
  // It is not open any more.
  void Forget(Exchange& exchange) {
    if (exchange.linked()) background_.erase(&exchange);
  }

  // Takes nothing new from now on, and ends what runs beside calls.
  void Drain();
  // Collects and writes what there is. Any thread that holds the strand.
  void Flush();
  // On the loop's thread, not from within an event of this connection: ends every exchange with
  // `status`, says GOAWAY where that is still possible, closes the stream. To be deleted with
  // DeleteLater.
  void Close(const absl::Status& status);

 private:
  class ReadOp final : public event::Op {
   public:
    explicit ReadOp(Connection& connection) : Op(Where::kLoopOnly), connection_(connection) {}
    void Run() override { connection_.OnReadOp(); }

   private:
    Connection& connection_;
  };
  class CheckTimer final : public event::Timer {
   public:
    explicit CheckTimer(Connection& connection) : connection_(connection) {}
    void OnTimer() override { connection_.OnCheck(); }

   private:
    Connection& connection_;
  };

  class ResumeTimer final : public event::Timer {
   public:
    explicit ResumeTimer(Connection& connection) : connection_(connection) {}
    void OnTimer() override { connection_.OnReady(true, false); }

   private:
    Connection& connection_;
  };

  // net::ReadyWatcher, on the loop's thread, the strand not held.
  void OnReady(bool readable, bool writable) override;
  // http::SessionOwner
  void OnSettings() override;
  void OnGoaway(uint32_t code, std::string_view debug) override;
  void OnPingAck(uint64_t) override {}  // any byte is a sign of life
  void OnReset() override;

  // Calls, losers that drain among them.
  size_t open_calls() const { return session_->open_streams() - background_.size(); }
  void OnReadOp();
  // True: bytes came, and more may be there.
  bool ReadOnce();
  void OnCheck();  // keepalive and the SETTINGS acknowledgement
  void ArmCheck();
  void Break(absl::Status status);

  const ConnectionSetup setup_;
  std::unique_ptr<net::ByteStream> stream_;
  std::unique_ptr<http::Session> session_;
  Keepalive keepalive_;
  ResetBudget reset_budget_;
  base::IntrusiveList<Exchange> background_;  // those that are open
  const base::MonoTime opened_at_;

  bool ready_ = false;
  bool draining_ = false;
  bool closed_ = false;
  absl::Status broken_;
  uint64_t completed_ = 0;

  // Written and not yet taken by the transport: out_[out_taken_ …].
  std::string out_;
  size_t out_taken_ = 0;
  uint64_t bytes_written_ = 0;
  bool write_blocked_ = false;

  // The loop's thread.
  ReadOp read_op_;
  CheckTimer check_timer_;    // in the strand's heap
  ResumeTimer resume_timer_;  // in the loop's: more to read than one turn takes
  bool read_op_queued_ = false;
  bool readable_ = false;
  bool writable_ = false;
  int rounds_ = 0;
};

}  // namespace weft::inline v0::pool

#endif  // WEFT_LIB_POOL_CONNECTION_H_
