// Exchange: one attempt of a call at one host, as the pool sees it.
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

  Exchange() : start_op_(*this), signal_op_(*this), deadline_timer_(*this), idle_timer_(*this) {}

  // Any thread
  // ------------------------------------------------------------------------------------------------
  // First: where, and how long. `idle_timeout` zero: none.
  void Bind(HostPool& host, base::MonoTime now, base::MonoTime deadline,
            base::MonoDuration idle_timeout);
  // Once. OnExchangeEnd comes at `deadline` at the latest, and may come before Start returns.
  void Start();
  // After Bind. OnExchangeEnd(CANCELLED) follows, unless the end was faster.
  void Cancel() { Signal(kCancel); }
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
  enum SignalBit : uint32_t { kCancel = 1, kResume = 2, kConsume = 4 };

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
  void OnDeadline();
  void OnIdleTimer();
  void ArmIdle();
  // Leaves the list or the connection, telling the peer; then ends with `status`, which arose here.
  void EndLocally(absl::Status status);
  // Whatever the reason: disarms, calls OnExchangeEnd.
  void Finish(http::StreamEnd end);
  Processed ProcessedSoFar() const;

  HostPool* host_ = nullptr;
  base::MonoTime deadline_ = base::kNever;
  base::MonoDuration idle_timeout_{0};
  StartOp start_op_;
  SignalOp signal_op_;
  std::atomic<uint32_t> signals_{0};
  std::atomic<size_t> consumed_{0};

  // The strand's.
  State state_ = State::kNew;
  Connection* connection_ = nullptr;    // kOpen
  http::OpenStream* stream_ = nullptr;  // kOpen
  base::MonoTime started_at_{};
  bool cancelled_early_ = false;  // by a Cancel that overtook Start
  bool progress_ = false;         // since the idle timer was armed
  MemberTimer<&Exchange::OnDeadline> deadline_timer_;
  MemberTimer<&Exchange::OnIdleTimer> idle_timer_;
};

}  // namespace weft::inline v0::pool

#endif  // WEFT_LIB_POOL_EXCHANGE_H_
