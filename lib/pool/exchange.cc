#include "pool/exchange.h"

#include <utility>

#include "base/check.h"
#include "pool/connection.h"
#include "pool/host_pool.h"

namespace weft::inline v0::pool {

void Exchange::Bind(HostPool& host, base::MonoTime now, base::MonoTime deadline,
                    base::MonoDuration idle_timeout) {
  host_ = &host;
  started_at_ = now;
  deadline_ = deadline;
  idle_timeout_ = idle_timeout;
}

void Exchange::Start() {
  // The exchange may end, and with it the last other reference to its host, while this thread
  // drives the strand.
  const auto keep = base::Ref<HostPool>::Share(host_);
  host_->strand().Submit(&start_op_);
}

void Exchange::StartOp::Run() { exchange_.host_->Enqueue(exchange_); }

void Exchange::Signal(SignalBit bit) {
  if (signals_.fetch_or(bit, std::memory_order_acq_rel) != 0) return;  // linked already
  Keep();
  const auto keep = base::Ref<HostPool>::Share(host_);
  host_->strand().Submit(&signal_op_);
}

void Exchange::OnSignal() {
  const uint32_t bits = signals_.exchange(0, std::memory_order_acq_rel);
  const size_t consumed = consumed_.exchange(0, std::memory_order_relaxed);
  if (state_ == State::kOpen && consumed > 0) connection_->Consume(*this, consumed);
  if (state_ == State::kOpen && (bits & kResume) != 0) connection_->ResumeBody(*this);
  if ((bits & kCancel) != 0) {
    if (state_ == State::kNew) {
      cancelled_early_ = true;
    } else if (state_ != State::kEnded) {
      EndLocally(absl::CancelledError("cancelled"));
    }
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

void Exchange::EndLocally(absl::Status status) {
  http::StreamEnd end{std::move(status), Origin::kLocal, ProcessedSoFar()};
  if (state_ == State::kPending) host_->Leave(*this);
  if (state_ == State::kOpen) connection_->Reset(*this, http::ResetReason::kCancelled);
  Finish(std::move(end));
}

void Exchange::OnEnd(http::StreamEnd end) {
  connection_->OnExchangeEnded(end.status.ok());
  Finish(std::move(end));
}

void Exchange::Finish(http::StreamEnd end) {
  WEFT_DCHECK(state_ != State::kEnded);
  state_ = State::kEnded;
  connection_ = nullptr;
  stream_ = nullptr;
  host_->timers_.Disarm(&deadline_timer_);
  host_->timers_.Disarm(&idle_timer_);
  OnExchangeEnd(std::move(end));
}

void Exchange::OnDeadline() {
  if (state_ != State::kEnded) EndLocally(absl::DeadlineExceededError("the deadline passed"));
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
