#include "pool/exchange.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "pool/connection.h"
#include "pool/host_pool.h"

namespace weft::inline v0::pool {

void Exchange::Bind(HostPool& host, base::MonoTime now, base::MonoTime deadline,
                    base::MonoDuration idle_timeout, base::MonoTime look_at) {
  host_ = &host;
  started_at_ = now;
  deadline_ = deadline;
  idle_timeout_ = idle_timeout;
  look_at_ = look_at;
}

void Exchange::Start() {
  // The exchange may end, and with it the last other reference to its host, while this thread
  // drives the strand.
  const auto keep = base::Ref<HostPool>::Share(host_);
  if (role_ == Role::kCall) host_->Enter();
  host_->strand().Submit(&start_op_);
}

void Exchange::StartOp::Run() { exchange_.host_->Enqueue(exchange_); }

void Exchange::Signal(SignalBit bit) {
  if (signals_.fetch_or(bit, std::memory_order_acq_rel) != 0) return;  // linked already
  Keep();
  const auto keep = base::Ref<HostPool>::Share(host_);
  host_->strand().Submit(&signal_op_);
}

void Exchange::LookAt(base::MonoTime at) {
  base::MonoTime asked = look_asked_.load(std::memory_order_relaxed);
  while (at < asked && !look_asked_.compare_exchange_weak(asked, at, std::memory_order_relaxed)) {
  }
  Signal(kLook);
}

void Exchange::OnSignal() {
  const uint32_t bits = signals_.exchange(0, std::memory_order_acq_rel);
  const size_t consumed = consumed_.exchange(0, std::memory_order_relaxed);
  if (state_ == State::kOpen && consumed > 0) connection_->Consume(*this, consumed);
  if (state_ == State::kOpen && (bits & kResume) != 0) connection_->ResumeBody(*this);
  if ((bits & (kCancel | kAbandon)) != 0) {
    if (state_ == State::kNew) {
      cancelled_early_ = true;
    } else if (state_ != State::kEnded) {
      if ((bits & kCancel) != 0) {
        EndLocally(absl::CancelledError("cancelled"));
      } else {
        EndAbandoned();
      }
    }
  }
  if ((bits & kLook) != 0) {
    look_at_ = std::min(look_at_, look_asked_.exchange(base::kNever, std::memory_order_relaxed));
    if (state_ == State::kPending || state_ == State::kOpen) ArmDue();
  }
  Drop();
}

void Exchange::ConsumeNow(size_t bytes) {
  if (state_ == State::kOpen) connection_->Consume(*this, bytes);
}

void Exchange::Fail(absl::Status status) {
  if (state_ != State::kEnded) EndLocally(std::move(status));
}

Processed Exchange::ProcessedSoFar() const {
  if (state_ != State::kOpen) return Processed::kNotSent;
  return connection_->HeadSent(*this) ? Processed::kMaybeProcessed : Processed::kNotSent;
}

void Exchange::EndLocally(absl::Status status, Origin origin) {
  http::StreamEnd end{std::move(status), origin, ProcessedSoFar()};
  if (state_ == State::kPending) host_->Leave(*this);
  if (state_ == State::kOpen) connection_->Reset(*this, http::ResetReason::kCancelled);
  Finish(std::move(end));
}

void Exchange::OnEnd(http::StreamEnd end) {
  connection_->OnExchangeEnded(end.status.ok());
  Finish(std::move(end));
}

void Exchange::EndAbandoned() {
  WEFT_DCHECK(role_ == Role::kCall);
  http::StreamEnd end{absl::CancelledError("another attempt was answered first"), Origin::kLocal,
                      ProcessedSoFar()};
  if (state_ == State::kPending) host_->Leave(*this);
  const bool drains = state_ == State::kOpen && connection_->Abandon(*this, *host_);
  if (!drains) host_->Linger(deadline_);
  Disconnect();
  OnExchangeEnd(std::move(end));
}

void Exchange::Finish(http::StreamEnd end) {
  if (role_ == Role::kCall) host_->Exit();
  Disconnect();
  OnExchangeEnd(std::move(end));
}

void Exchange::Disconnect() {
  WEFT_DCHECK(state_ != State::kEnded);
  if (state_ == State::kOpen) connection_->Forget(*this);
  state_ = State::kEnded;
  connection_ = nullptr;
  stream_ = nullptr;
  host_->timers_.Disarm(&due_timer_);
  host_->timers_.Disarm(&idle_timer_);
}

void Exchange::ArmDue() { host_->timers_.Arm(&due_timer_, std::min(look_at_, deadline_)); }

void Exchange::OnDue() {
  if (state_ == State::kEnded) return;
  const base::MonoTime now = host_->strand().loop().now();
  if (deadline_ <= now) {
    EndLocally(absl::DeadlineExceededError("the deadline passed"));
    return;
  }
  Keep();  // OnLook may end the exchange
  const base::MonoTime next = OnLook();
  if (state_ != State::kEnded) {
    // Later than now: the heap runs on to that.
    look_at_ = std::max(next, now + base::MonoDuration(1));
    ArmDue();
  }
  Drop();
}

void Exchange::ArmIdle() {
  if (idle_timeout_ == base::MonoDuration::zero()) return;
  progress_ = false;
  host_->timers_.Arm(&idle_timer_,
                     base::After(host_->strand().loop().clock().Now(), idle_timeout_));
}

void Exchange::OnIdleTimer() {
  if (state_ != State::kOpen) return;
  if (progress_) {
    ArmIdle();  // coarse: fires between one and two timeouts after the last byte
    return;
  }
  EndLocally(absl::DeadlineExceededError("no byte moved within the idle timeout"));
}

}  // namespace weft::inline v0::pool
