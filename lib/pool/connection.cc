#include "pool/connection.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "http2/client_session.h"
#include "pool/loser_drain.h"

namespace weft::inline v0::pool {
namespace {

// Bodies are collected into batches of this size: one write each.
constexpr size_t kBatchBytes = size_t{256} << 10;
// Reads of one connection in one turn, so that a flood of one does not starve the loop's others.
constexpr int kMaxRounds = 16;
constexpr base::MonoDuration kSettingsTimeout = std::chrono::seconds(10);
constexpr uint32_t kSettingsTimeoutCode = 0x4;
constexpr uint32_t kEnhanceYourCalm = 0xb;
constexpr uint64_t kKeepalivePayload = 0x776566742d616c69;  // "weft-ali"
// What an idle connection may keep of its send buffer.
constexpr size_t kIdleBufferBytes = size_t{4} << 10;

http2::SessionOptions SessionOptionsFrom(const ConnectionSetup& setup) {
  const ConnectionOptions& options = *setup.options;
  http2::SessionOptions session;
  session.first_stream_id = setup.first_stream_id;
  session.stream_window = options.stream_window;
  session.connection_window = options.connection_window;
  session.max_stream_window = options.max_stream_window;
  session.max_connection_window = options.max_connection_window;
  session.max_header_list_bytes = options.max_header_list_bytes;
  return session;
}

}  // namespace

Connection::Connection(const ConnectionSetup& setup, std::unique_ptr<net::ByteStream> stream,
                       base::MonoTime now)
    : setup_(setup),
      stream_(std::move(stream)),
      session_(http2::NewClientSession(SessionOptionsFrom(setup), *this)),
      keepalive_(setup.keepalive_interval,
                 absl::ToChronoNanoseconds(setup.options->keepalive_timeout), now),
      reset_budget_(setup.options->reset_burst, setup.options->resets_per_second),
      opened_at_(now),
      read_op_(*this),
      check_timer_(*this),
      resume_timer_(*this) {
  ArmCheck();
  stream_->SetWatcher(this);
}

Connection::~Connection() { WEFT_DCHECK(closed_); }

bool Connection::CanOpen(Exchange::Role role) const {
  const size_t least = role == Exchange::Role::kCall ? 1 : 2;
  return ready_ && !draining_ && broken_.ok() && out_.size() - out_taken_ < kBatchBytes &&
         session_->capacity() >= least;
}

void Connection::Open(Exchange& exchange) {
  const bool is_call = exchange.role_ == Exchange::Role::kCall;
  if (is_call && open_calls() == 0) {
    keepalive_.OnFirstStream(exchange.started_at_);
    if (check_timer_.at() > keepalive_.next(true))
      setup_.timers->Arm(&check_timer_, keepalive_.next(true));
  }
  setup_.counters->streams_opened.Add();
  exchange.connection_ = this;
  exchange.stream_ = session_->Open(exchange, exchange.RequestHeadFor(setup_.tls));
  if (!is_call) background_.push_back(&exchange);
}

void Connection::Reset(Exchange& exchange, http::ResetReason reason) {
  session_->Reset(exchange.stream_, reason);
}

bool Connection::Abandon(Exchange& exchange, cluster::Host& host) {
  const base::MonoTime now = setup_.strand->loop().clock().Now();
  // A peer that has only a part of the request waits for the rest, which nobody would send: that is
  // reset in any case. One that has nothing of it does not see the reset.
  if (session_->RequestSent(exchange.stream_) != http::Sent::kAll || reset_budget_.Allows(now)) {
    Reset(exchange, http::ResetReason::kCancelled);
    return false;
  }
  setup_.counters->losers_drained.Add();
  const base::MonoTime until = exchange.deadline_ != base::kNever
                                   ? exchange.deadline_
                                   : base::After(now, setup_.options->drain_timeout);
  LoserDrain::Begin(*session_, exchange.stream_, host, *setup_.timers, until);
  return true;
}

void Connection::OnReset() {
  setup_.counters->resets_sent.Add();
  reset_budget_.Spend(setup_.strand->loop().clock().Now());
}

bool Connection::HeadSent(const Exchange& exchange) const {
  return session_->HeadSent(exchange.stream_, bytes_written_);
}

void Connection::Drain() {
  draining_ = true;
  while (Exchange* const exchange = background_.front()) {
    exchange->EndLocally(absl::UnavailableError("takes nothing new on this connection"),
                         Origin::kConnection);
  }
}

void Connection::Flush() {
  while (!closed_ && broken_.ok() && !write_blocked_) {
    if (out_taken_ == out_.size()) {
      out_.clear();
      out_taken_ = 0;
    }
    if (out_.size() - out_taken_ < kBatchBytes) session_->Collect(out_, out_taken_ + kBatchBytes);
    if (out_taken_ == out_.size()) break;
    const net::IoResult result = stream_->Write(std::string_view(out_).substr(out_taken_));
    switch (result.kind) {
      case net::IoResult::Kind::kOk:
        out_taken_ += result.bytes;
        bytes_written_ += result.bytes;
        if (out_taken_ >= kBatchBytes) {
          out_.erase(0, out_taken_);
          out_taken_ = 0;
        }
        if (out_taken_ == out_.size() && !session_->wants_to_send()) {
          out_.clear();
          out_taken_ = 0;
          if (out_.capacity() > kIdleBufferBytes && open_calls() == 0) out_.shrink_to_fit();
          return;
        }
        break;
      case net::IoResult::Kind::kBlocked:
        write_blocked_ = true;
        break;
      case net::IoResult::Kind::kEnd:
      case net::IoResult::Kind::kFailed:
        Break(result.status.ok() ? absl::UnavailableError("closed the connection") : result.status);
        break;
    }
  }
}

void Connection::OnReady(bool readable, bool writable) {
  readable_ |= readable;
  writable_ |= writable;
  if (read_op_queued_) return;
  read_op_queued_ = true;
  rounds_ = 0;
  setup_.strand->RunOnLoop(&read_op_);
}

void Connection::OnReadOp() {
  read_op_queued_ = false;
  if (closed_ || !broken_.ok()) return;
  if (std::exchange(writable_, false)) write_blocked_ = false;
  if (!readable_) return;
  const bool productive = ReadOnce();
  setup_.strand->WakeCallers();
  if (!productive || !broken_.ok()) return;
  // Once more after this batch was sent: what was asked for while the loop was awake may have been
  // answered already.
  if (!readable_ && session_->open_streams() == 0) return;
  readable_ = true;
  if (++rounds_ < kMaxRounds) {
    read_op_queued_ = true;
    setup_.strand->RunOnLoop(&read_op_);
  } else {
    // A nanosecond later: due in the loop's next turn, and not in this one.
    setup_.strand->loop().Arm(&resume_timer_, setup_.strand->loop().now() + base::MonoDuration(1));
  }
}

bool Connection::ReadOnce() {
  ReadBuffer& buffer = *setup_.read_buffer;
  const net::IoResult result = stream_->Read(buffer.data(), buffer.size());
  switch (result.kind) {
    case net::IoResult::Kind::kOk: {
      const base::MonoTime now = setup_.strand->loop().now();
      keepalive_.OnRead(now);
      if (result.drained) readable_ = false;
      absl::Status status = session_->Feed(std::string_view(buffer.data(), result.bytes), now);
      if (status.ok()) return true;
      setup_.counters->protocol_errors.Add();
      Flush();  // the GOAWAY that says why, as far as the transport takes it
      Break(std::move(status));
      return false;
    }
    case net::IoResult::Kind::kBlocked:
      readable_ = false;
      return false;
    case net::IoResult::Kind::kEnd:
      Break(absl::UnavailableError("closed the connection"));
      return false;
    case net::IoResult::Kind::kFailed:
      Break(result.status);
      return false;
  }
  return false;
}

void Connection::OnSettings() {
  if (ready_) return;
  ready_ = true;
  setup_.owner->OnReady(*this);
}

void Connection::OnGoaway(uint32_t code, std::string_view debug) {
  Drain();
  setup_.owner->OnDraining(*this, code == kEnhanceYourCalm && debug == "too_many_pings");
}

void Connection::OnCheck() {
  const base::MonoTime now = setup_.strand->loop().now();
  if (!session_->settings_acknowledged() && now >= opened_at_ + kSettingsTimeout) {
    setup_.counters->protocol_errors.Add();
    session_->Goaway(kSettingsTimeoutCode, "settings timeout");
    Flush();
    Break(absl::UnavailableError("did not acknowledge SETTINGS within 10 s"));
    return;
  }
  switch (keepalive_.Check(now, open_calls() > 0)) {
    case Keepalive::Action::kNothing:
      break;
    case Keepalive::Action::kPing:
      session_->Ping(kKeepalivePayload);
      break;
    case Keepalive::Action::kDead:
      setup_.counters->keepalive_timeouts.Add();
      Break(absl::UnavailableError("did not answer a keepalive PING"));
      return;
  }
  ArmCheck();
}

void Connection::ArmCheck() {
  base::MonoTime at = keepalive_.next(open_calls() > 0);
  if (!session_->settings_acknowledged()) at = std::min(at, opened_at_ + kSettingsTimeout);
  setup_.timers->Arm(&check_timer_, at);
}

void Connection::Break(absl::Status status) {
  if (!broken_.ok()) return;
  broken_ = std::move(status);
  setup_.owner->OnBroken(*this);
}

void Connection::Close(const absl::Status& status) {
  if (closed_) return;
  if (broken_.ok()) {
    session_->Goaway(0, "");
    Flush();
  }
  closed_ = true;
  setup_.timers->Disarm(&check_timer_);
  setup_.strand->loop().Disarm(&resume_timer_);
  stream_->SetWatcher(nullptr);
  session_->EndAll(status, bytes_written_);
}

}  // namespace weft::inline v0::pool
