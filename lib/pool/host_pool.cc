#include "pool/host_pool.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace weft::inline v0::pool {
namespace {

// A connection that lived less than this and answered nothing was of no use. The second of them in
// a row counts as a dial that failed: a host that accepts and hangs up must not be dialled in a
// tight loop.
constexpr base::MonoDuration kShortLife = std::chrono::seconds(1);

}  // namespace

HostPool::HostPool(const net::Address& address, HostSetup setup)
    : Host(address.text()),
      Alarm(*setup.loop),
      address_(address),
      setup_(std::move(setup)),
      first_stream_id_(setup_.first_stream_id),
      strand_(*setup_.loop, *this),
      random_(setup_.seed),
      backoff_(setup_.options->reconnect_base, setup_.options->reconnect_max),
      connect_op_(*this),
      shutdown_op_(*this),
      end_drain_op_(*this),
      timers_op_(*this),
      work_op_(*this),
      dial_result_op_(*this),
      dial_timer_(*this),
      backoff_timer_(*this),
      drain_timer_(*this),
      linger_timer_(*this),
      dial_result_(absl::UnknownError("")),
      keepalive_interval_(absl::ToChronoNanoseconds(setup_.options->keepalive_interval)) {}

HostPool::~HostPool() = default;

// ---- exchanges ----

void HostPool::Enqueue(Exchange& exchange) {
  exchange.state_ = Exchange::State::kPending;
  absl::Status refusal;
  Origin origin = Origin::kLocal;
  if (shutting_down_) {
    refusal = shutdown_why_;
    origin = ShutdownOrigin();
  } else if (exchange.cancelled_early_) {
    refusal = absl::CancelledError("cancelled");
  } else if (state() == HostState::kBackoff) {
    refusal = last_error();
    origin = Origin::kConnection;
  } else if (exchange.role_ == Exchange::Role::kCall &&
             pending_.size() >= setup_.options->max_pending_per_host) {
    refusal = absl::ResourceExhaustedError(absl::StrCat(
        "has ", pending_.size(), " calls waiting for a stream already (max_pending_per_host)"));
  }
  if (!refusal.ok()) {
    exchange.Finish({std::move(refusal), origin, Processed::kNotSent});
    return;
  }
  exchange.ArmDue();
  ListOf(exchange).push_back(&exchange);
}

void HostPool::Leave(Exchange& exchange) { ListOf(exchange).erase(&exchange); }

void HostPool::Linger(base::MonoTime deadline) {
  if (shutting_down_) {
    Exit();
    return;
  }
  lingering_.Add(strand_.loop().clock().Now(), deadline);
  timers_.Arm(&linger_timer_, lingering_.next());
}

void HostPool::EndLingering(size_t count) {
  for (; count > 0; --count) Exit();
  timers_.Arm(&linger_timer_, lingering_.next());
}

// What runs beside calls goes first: it leaves them a stream, and is little.
void HostPool::OpenPending() {
  OpenFrom(background_, Exchange::Role::kBackground);
  OpenFrom(pending_, Exchange::Role::kCall);
}

void HostPool::OpenFrom(base::IntrusiveList<Exchange>& list, Exchange::Role role) {
  while (!list.empty() && current_ != nullptr && current_->CanOpen(role)) {
    Exchange* const exchange = list.pop_front();
    exchange->state_ = Exchange::State::kOpen;
    current_->Open(*exchange);
    exchange->ArmIdle();
  }
}

void HostPool::FailPending(const absl::Status& status, Origin origin) {
  // Only those that wait now: what their ends submit is another turn's business.
  for (base::IntrusiveList<Exchange>* list : {&background_, &pending_}) {
    for (size_t n = list->size(); n > 0; --n) {
      if (Exchange* const exchange = list->pop_front())
        exchange->Finish({status, origin, Processed::kNotSent});
    }
  }
}

void HostPool::Flush() {
  OpenPending();
  if (current_ != nullptr) {
    current_->Flush();
    OpenPending();  // what the size of the batch held back
  }
  if (MustDial()) WantWork();
  if (starting_ != nullptr) starting_->Flush();
  for (const auto& connection : draining_) {
    connection->Flush();
    if (connection->open_streams() == 0) WantWork();
  }
  EnsureBy(timers_.next());
}

// ---- work on the loop ----

void HostPool::WantWork() {
  if (std::exchange(work_queued_, true)) return;
  strand_.Submit(&work_op_);
}

void HostPool::DoWork() {
  work_queued_ = false;
  if (current_ != nullptr && !current_->broken().ok()) {
    const absl::Status status = current_->broken();
    const bool lived = current_->completed() > 0 || current_lived_;
    setup_.counters->connections_lost.Add();
    CloseConnection(std::move(current_), status);
    if (!shutting_down_) Succeed(lived, status);
  }
  if (starting_ != nullptr && !starting_->broken().ok()) DialFailed(starting_->broken());
  for (size_t i = 0; i < draining_.size();) {
    Connection& connection = *draining_[i];
    const bool idle = connection.open_streams() == 0;
    if (!idle && connection.broken().ok() && !drain_over_) {
      ++i;
      continue;
    }
    absl::Status status = connection.broken();
    if (!status.ok() && !idle) setup_.counters->connections_lost.Add();
    if (status.ok() && drain_over_) status = end_drain_why_;
    if (status.ok()) status = absl::UnavailableError("did not end within the drain timeout");
    std::unique_ptr<Connection> closing = std::move(draining_[i]);
    draining_.erase(draining_.begin() + static_cast<ptrdiff_t>(i));
    CloseConnection(std::move(closing), status);
  }
  if (draining_.empty()) {
    drain_over_ = false;
    timers_.Disarm(&drain_timer_);
  }
  if (shutting_down_) {
    MaybeFinishShutdown();
    return;
  }
  if (MustDial()) Dial();
}

bool HostPool::MustDial() const {
  const bool under_way = connector_ != nullptr || starting_ != nullptr || backoff_timer_.armed();
  if (under_way || shutting_down_) return false;
  return current_ != nullptr ? current_->NearingEnd() : wanted_ || !pending_.empty();
}

void HostPool::CloseConnection(std::unique_ptr<Connection> connection, const absl::Status& status) {
  connection->Close(status);
  strand_.loop().DeleteLater(std::move(connection));
}

void HostPool::Connect() {
  if (connect_asked_.exchange(true, std::memory_order_relaxed)) return;
  const auto keep = base::Ref<HostPool>::Share(this);
  strand_.Submit(&connect_op_);
}

void HostPool::OnConnectOp() {
  wanted_ = true;
  DoWork();
}

// ---- dialling ----

void HostPool::Dial() {
  if (connector_ != nullptr || starting_ != nullptr) return;
  timers_.Disarm(&backoff_timer_);
  setup_.counters->dials.Add();
  timers_.Arm(&dial_timer_, base::After(strand_.loop().now(), setup_.options->connect_timeout));
  connector_ = std::make_unique<Connector>(strand_.loop(), address_, setup_.connector,
                                           [this](auto stream) { OnDialDone(std::move(stream)); });
  if (current_ == nullptr) SetState(HostState::kConnecting, last_error());
}

// On the loop, the strand not held.
void HostPool::OnDialDone(absl::StatusOr<std::unique_ptr<net::ByteStream>> stream) {
  dial_result_ = std::move(stream);
  strand_.RunOnLoop(&dial_result_op_);
}

void HostPool::OnDialResultOp() {
  absl::StatusOr<std::unique_ptr<net::ByteStream>> stream = std::move(dial_result_);
  dial_result_ = absl::UnknownError("");
  if (connector_ == nullptr) return;  // given up meanwhile
  if (stream.ok()) SetConnectTime(connector_->connect_time());
  strand_.loop().DeleteLater(std::move(connector_));
  if (!stream.ok()) {
    DialFailed(stream.status());
    return;
  }
  const ConnectionSetup setup{.owner = this,
                              .strand = &strand_,
                              .timers = &timers_,
                              .read_buffer = setup_.read_buffer,
                              .counters = setup_.counters,
                              .options = setup_.options,
                              .keepalive_interval = keepalive_interval_,
                              .first_stream_id = std::exchange(first_stream_id_, 1),
                              .tls = setup_.connector.tls != nullptr};
  starting_ = std::make_unique<Connection>(setup, *std::move(stream), strand_.loop().now());
}

void HostPool::OnReady(Connection& connection) {
  WEFT_DCHECK(starting_.get() == &connection);
  timers_.Disarm(&dial_timer_);
  setup_.counters->connections_opened.Add();
  if (current_ != nullptr) {  // its stream ids run out: this is the successor
    current_->Drain();
    draining_.push_back(std::move(current_));
  }
  current_ = std::move(starting_);
  current_since_ = strand_.loop().now();
  SetState(HostState::kReady);
}

void HostPool::OnDraining(Connection& connection, bool too_many_pings) {
  if (too_many_pings) keepalive_interval_ *= 2;
  if (starting_.get() == &connection)
    return;  // DoWork finds it: a host that greets with GOAWAY cannot be used
  if (current_.get() == &connection) {
    const bool lived =
        connection.completed() > 0 || strand_.loop().now() - current_since_ >= kShortLife;
    draining_.push_back(std::move(current_));
    timers_.Arm(&drain_timer_, base::After(strand_.loop().now(), setup_.options->drain_timeout));
    if (shutting_down_) return;
    Succeed(lived, absl::UnavailableError("ended the connection (GOAWAY)"));
  }
  WantWork();
}

void HostPool::OnBroken(Connection& connection) {
  if (current_.get() == &connection) {
    current_lived_ = strand_.loop().clock().Now() - current_since_ >= kShortLife;
  }
  WantWork();
}

void HostPool::OnDialTimeout() {
  DialFailed(absl::UnavailableError(absl::StrCat(
      starting_ != nullptr ? "sent no HTTP/2 SETTINGS" : "did not answer",
      " within the connect timeout of ", absl::FormatDuration(setup_.options->connect_timeout))));
}

void HostPool::DropDial() {
  timers_.Disarm(&dial_timer_);
  if (connector_ != nullptr) strand_.loop().DeleteLater(std::move(connector_));
  if (starting_ != nullptr)
    CloseConnection(std::move(starting_), absl::UnavailableError("was given up"));
}

void HostPool::DialFailed(absl::Status status) {
  setup_.counters->dial_failures.Add();
  DropDial();
  timers_.Arm(&backoff_timer_, base::After(strand_.loop().now(), backoff_.Next(random_)));
  if (current_ != nullptr) return;  // a successor failed; the old one still serves
  SetState(HostState::kBackoff, status);
  FailPending(status, Origin::kConnection);
}

void HostPool::Succeed(bool lived, absl::Status why) {
  if (lived) {
    backoff_.Reset();
    short_lives_ = 0;
  } else if (++short_lives_ > 1) {
    DialFailed(std::move(why));
    return;
  }
  SetState(HostState::kConnecting, std::move(why));
  Dial();
}

void HostPool::OnBackoffOver() {
  if (shutting_down_) return;
  if (current_ == nullptr) SetState(HostState::kIdle, last_error());
  DoWork();
}

// ---- time ----

void HostPool::OnAlarm() {
  if (std::exchange(timers_queued_, true)) return;
  strand_.RunOnLoop(&timers_op_);
}

void HostPool::OnTimersOp() {
  timers_queued_ = false;
  timers_.RunDue(strand_.loop().now());
}

// ---- the end ----

void HostPool::Shutdown(How how, absl::Status why, absl::AnyInvocable<void() &&> closed) {
  // Written before the operation is linked, read when it runs.
  how_ = how;
  shutdown_why_ = std::move(why);
  shutdown_done_ = std::move(closed);
  const auto keep = base::Ref<HostPool>::Share(this);
  strand_.Submit(&shutdown_op_);
}

void HostPool::EndDrain(absl::Status why) {
  // Written before the operation is linked, read when it runs.
  end_drain_why_ = std::move(why);
  SetCallError(end_drain_why_, {.origin = Origin::kLocal});
  const auto keep = base::Ref<HostPool>::Share(this);
  strand_.Submit(&end_drain_op_);
}

void HostPool::OnShutdownOp() {
  shutting_down_ = true;
  wanted_ = false;
  DropDial();
  timers_.Disarm(&backoff_timer_);
  SetState(HostState::kClosed, shutdown_why_);
  FailPending(shutdown_why_, ShutdownOrigin());
  EndLingering(lingering_.TakeAll());
  if (current_ != nullptr) {
    current_->Drain();
    draining_.push_back(std::move(current_));
  }
  if (how_ == How::kNow) {
    absl::Status why = shutdown_why_;
    SetCallError(why, {.origin = Origin::kLocal});  // not the connection's doing
    for (auto& connection : std::exchange(draining_, {})) {
      CloseConnection(std::move(connection), why);
    }
  } else if (!draining_.empty()) {
    timers_.Arm(&drain_timer_, base::After(strand_.loop().now(), setup_.options->drain_timeout));
  }
  DoWork();
}

void HostPool::MaybeFinishShutdown() {
  if (!draining_.empty() || shutdown_done_ == nullptr) return;
  timers_.Disarm(&drain_timer_);
  Stop();
  strand_.loop().PostFunction(std::move(shutdown_done_));
  shutdown_done_ = nullptr;
}

}  // namespace weft::inline v0::pool
