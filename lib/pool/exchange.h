// Exchange: one attempt of a call at one host, or something beside calls, as the pool sees it.
//
//          Start
//   kNew ─────────▶ kPending ────────────▶ kOpen ──────────▶ kEnded
//                   waits for a            on a connection   OnExchangeEnd was called,
//                   connection or stream                     exactly once
//
// The events (StreamUser's and OnExchangeEnd) come with the host's strand held: they must not block
// or run user code.
#ifndef WEFT_LIB_POOL_EXCHANGE_H_
#define WEFT_LIB_POOL_EXCHANGE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "base/intrusive_list.h"
#include "base/ref.h"
#include "base/time.h"
#include "event/strand.h"
#include "event/timer_heap.h"
#include "http/session.h"

namespace weft::inline v0::pool {

class Connection;
class HostPool;

class Exchange : public http::StreamUser, public base::ListNode<Exchange> {
 public:
  enum class State : uint8_t { kNew, kPending, kOpen, kEnded };

  enum class Role : uint8_t {
    kCall,
    // Health checks, probes of load: not counted as in flight. It has no connection dialled, but
    // waits for one; is opened only where a stream is left for calls; and keeps no connection from
    // ending: where that takes nothing new any more, it ends with UNAVAILABLE of
    // Origin::kConnection.
    kBackground,
  };

  explicit Exchange(Role role = Role::kCall)
      : role_(role), start_op_(*this), signal_op_(*this), due_timer_(*this), idle_timer_(*this) {}

  // Any thread
  // ------------------------------------------------------------------------------------------------
  // First: where, and how long. `idle_timeout` zero: none. `look_at`: when OnLook is called first.
  void Bind(HostPool& host, base::MonoTime now, base::MonoTime deadline,
            base::MonoDuration idle_timeout, base::MonoTime look_at = base::kNever);
  // Once. The host counts a call as in flight from here on. OnExchangeEnd comes at `deadline` at
  // the latest, and may come before Start returns.
  void Start();
  // After Bind. OnExchangeEnd(CANCELLED) follows, unless the end was faster.
  void Cancel() { Signal(kCancel); }
  // As Cancel, for a call of which another attempt was answered first: nobody wants this one. Its
  // stream is reset if the connection's reset budget has that much, else drained (LoserDrain). The
  // host goes on counting it as in flight for a while (Lingering), or until it has drained.
  void Abandon() { Signal(kAbandon); }
  // OnLook is called at `at` at the latest, unless the exchange has ended by then.
  void LookAt(base::MonoTime at);
  void LookNow() { LookAt(base::MonoTime()); }
  // There is more for ReadBody.
  void ResumeBody() { Signal(kResume); }
  // The user took that many bytes of OnData.
  void Consume(size_t bytes) {
    consumed_.fetch_add(bytes, std::memory_order_relaxed);
    Signal(kConsume);
  }

  HostPool* host() const { return host_; }

  // The strand is held
  // ---------------------------------------------------------------------------------------- From
  // an event: returns the window at once.
  void ConsumeNow(size_t bytes);
  // From an event: ends the exchange on our own account; OnExchangeEnd follows within the call.
  void Fail(absl::Status status);

 protected:
  ~Exchange() = default;

  // Exactly once after Start, last. The exchange may be destroyed once Drop was called as often as
  // Keep.
  virtual void OnExchangeEnd(http::StreamEnd end) = 0;
  // On the loop, with the strand held, at `look_at` and whenever LookAt says, but not at the
  // deadline or after the end. Returns when it is to be called again. May Fail this exchange.
  virtual base::MonoTime OnLook() { return base::kNever; }
  // To be called by OnHead, OnData, OnTrailers and a ReadBody that moved something: the idle
  // timeout begins anew.
  void Touch() { progress_ = true; }

  // The request, asked for when the exchange is given to a connection.
  virtual http::RequestHead RequestHeadFor(bool tls) = 0;
  // Keep the object alive while the pool is to signal it.
  virtual void Keep() = 0;
  virtual void Drop() = 0;

 private:
  friend class Connection;
  friend class HostPool;
  enum SignalBit : uint32_t { kCancel = 1, kResume = 2, kConsume = 4, kAbandon = 8, kLook = 16 };

  class StartOp final : public event::Op {
   public:
    explicit StartOp(Exchange& exchange) : exchange_(exchange) {}
    void Run() override;

   private:
    Exchange& exchange_;
  };
  class SignalOp final : public event::Op {
   public:
    explicit SignalOp(Exchange& exchange) : exchange_(exchange) {}
    void Run() override { exchange_.OnSignal(); }

   private:
    Exchange& exchange_;
  };
  template <void (Exchange::*Due)()>
  class MemberTimer final : public event::Timer {
   public:
    explicit MemberTimer(Exchange& exchange) : exchange_(exchange) {}
    void OnTimer() override { (exchange_.*Due)(); }

   private:
    Exchange& exchange_;
  };

  void Signal(SignalBit bit);
  void OnSignal();
  void OnEnd(http::StreamEnd end) final;
  // The deadline, or the time to look; one timer, so that looking costs calls nothing that do not.
  void ArmDue();
  void OnDue();
  void OnIdleTimer();
  void ArmIdle();
  // Leaves the list or the connection, telling the peer; then ends with `status`, which arose here.
  void EndLocally(absl::Status status, Origin origin = Origin::kLocal);
  void EndAbandoned();
  // Whatever the reason: disarms, leaves the host, calls OnExchangeEnd.
  void Finish(http::StreamEnd end);
  void Disconnect();
  Processed ProcessedSoFar() const;

  const Role role_;
  HostPool* host_ = nullptr;
  base::MonoTime deadline_ = base::kNever;
  base::MonoDuration idle_timeout_{0};
  base::MonoTime look_at_ = base::kNever;  // the strand's once started
  StartOp start_op_;
  SignalOp signal_op_;
  std::atomic<uint32_t> signals_{0};
  std::atomic<size_t> consumed_{0};
  std::atomic<base::MonoTime> look_asked_{base::kNever};

  // The strand's.
  State state_ = State::kNew;
  Connection* connection_ = nullptr;    // kOpen
  http::OpenStream* stream_ = nullptr;  // kOpen
  base::MonoTime started_at_{};
  bool cancelled_early_ = false;  // by a Cancel that overtook Start
  bool progress_ = false;         // since the idle timer was armed
  MemberTimer<&Exchange::OnDue> due_timer_;
  MemberTimer<&Exchange::OnIdleTimer> idle_timer_;
};

}  // namespace weft::inline v0::pool

#endif  // WEFT_LIB_POOL_EXCHANGE_H_
