// Call: what the user asked for, from the first pick to the one result. It makes attempts; its
// subclasses turn what attempts receive into a response or a stream.
//
//                  pick: queue
//   kPicking ─────────────────────▶ kWaiting
//    │  ▲  ▲                           │
//    │  │  └─ host set or state changed, or the pause is over ─┐
//    │  │                              │                       │
//    │  └── attempt ended, to be       ▼                       │
//    │       repeated by itself    (kPicking)             kBackingOff
//    ▼      │                                                  ▲
//   kAttempting ── attempt ended, to be repeated after a pause ┘
//    │
//    └── attempt ended ──▶ kEnded ◀── pick: fail, deadline, Cancel (from every state)
//
// Who moves it: the thread that begins the call, then whoever holds the strand of the present
// attempt's host, or the cluster's loop while it waits. `mutex_` guards the few words that Cancel,
// which comes from anywhere, must agree on with them.
//
// What is repeated is policy::RetryPolicy's to say (weft/retry_options.h has the rules), and the
// budget's; never after something of an answer has been handed to the user.
#ifndef WEFT_LIB_CALL_CALL_H_
#define WEFT_LIB_CALL_CALL_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "base/ref.h"
#include "base/time.h"
#include "call/attempt_head.h"
#include "call/target.h"
#include "cluster/cluster.h"
#include "event/wait_table.h"
#include "http/answer_code.h"
#include "policy/retry_policy.h"
#include "pool/exchange.h"
#include "pool/host_pool.h"
#include "weft/attempt_log.h"
#include "weft/call_options.h"
#include "weft/request.h"
#include "weft/response.h"

namespace weft::inline v0::call {

class Call;

// One try of a call on one host.
class Attempt final : public pool::Exchange {
 public:
  explicit Attempt(Call& call) : call_(call) {}

  base::Ref<pool::HostPool> host;  // kept until the call ends
  AttemptHead head;
  int http_status = 0;  // 0: no answer (yet)

  // http::StreamUser
  http::BodyPiece ReadBody(char* to, size_t size) override;
  const Headers* RequestTrailers() override;
  void OnHead(int status, Headers headers) override;
  void OnData(std::string_view bytes) override;
  void OnTrailers(Headers trailers) override;

 private:
  // pool::Exchange
  http::RequestHead RequestHeadFor(bool tls) override;
  void OnExchangeEnd(http::StreamEnd end) override;
  void Keep() override;
  void Drop() override;

  Call& call_;
};

class Call : public base::RefCounted, private cluster::PickWaiter {
 public:
  // Any thread, any time, any number of times.
  void Cancel();

  const Target& target() const { return *target_; }

 protected:
  Call(std::shared_ptr<Target> target, Request request, const CallOptions& options);
  ~Call() override;

  // Once. Checks the request, then picks. OnCallEnd may be called before it returns. The caller
  // holds a reference.
  void Begin();

  // What subclasses make of it. All with the strand of the attempt's host held; one at a time.
  virtual http::BodyPiece ReadBody(char* to, size_t size) = 0;
  virtual bool has_body() const = 0;
  virtual const Headers& request_trailers() const { return request_.trailers; }
  virtual void OnHead(Attempt& attempt, int status, Headers headers) = 0;
  virtual void OnData(Attempt& attempt, std::string_view bytes) = 0;
  virtual void OnTrailers(Headers trailers) = 0;
  // The answer of the attempt that has just come to its end, unless something of it was handed out.
  virtual std::optional<http::Answer> answer() const = 0;
  // Whether the body can be begun anew, and what was received forgotten.
  virtual bool CanRewind() const = 0;
  virtual void Rewind() = 0;
  // Exactly once, last; the status has its payload. Whoever sleeps is to be woken through `wakes`.
  // Runs no user code.
  virtual void OnCallEnd(absl::Status status, event::WakeBatch& wakes) = 0;

  // Runs `operation` on the present attempt, if there is one that has not ended.
  template <class Operation>
  void WithAttempt(Operation&& operation) {
    Attempt* attempt;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (state_ != State::kAttempting) return;
      attempt = attempts_.back().get();
    }
    operation(*attempt);
  }

  Request& request() { return request_; }
  const CallOptions& options() const { return options_; }
  // After OnCallEnd.
  CallInfo Info() const;
  // Where callbacks are to run: the loop of the last host, or of the cluster. Any thread.
  event::Loop& loop() const { return *loop_.load(std::memory_order_acquire); }
  // Runs it there, or on a thread of its own where there is no loop (in a forked child, where every
  // call fails).
  void PostCallback(absl::AnyInvocable<void() &&> callback);

 private:
  friend class Attempt;
  enum class State : uint8_t { kPicking, kWaiting, kBackingOff, kAttempting, kEnded };

  // cluster::PickWaiter
  void OnPickAgain() override;
  void OnWaitOver(absl::Status why) override;
  void Keep() override { Retain(); }
  void Drop() override { Release(); }

  // What the service config has for this call goes into the options.
  absl::Status ApplyConfig();
  const policy::RetryPolicy& retry() const {
    return method_ != nullptr && method_->retry.has_value() ? *method_->retry : target_->retry;
  }
  policy::RetryThrottle* Throttle() const {
    return config_ != nullptr ? config_->throttle.get() : nullptr;
  }
  void Pick();
  void StartAttempt(base::Ref<cluster::Host> host);
  void OnAttemptEnd(Attempt& attempt, http::StreamEnd end);
  // Whether to try again after that end, and what that takes has been paid; the pause goes to
  // `wait`.
  bool MayRepeat(const http::StreamEnd& end, bool timed_out, base::MonoDuration& wait);
  void Log(const Attempt& attempt, const http::StreamEnd& end);
  // False.
  bool NoMore(const char* why);
  policy::AttemptEnd Classify(const http::StreamEnd& end, bool timed_out) const;
  void BackOff(base::MonoDuration wait);
  void StopWaitingIfCancelled();
  // Ends the call unless it has ended.
  void End(http::StreamEnd end, event::WakeBatch* wakes);
  absl::Status Describe(http::StreamEnd end, base::MonoTime now) const;
  http::RequestHead MakeHead(Attempt& attempt, bool tls) const;

  const std::shared_ptr<Target> target_;
  Request request_;
  CallOptions options_;  // and what the service config adds
  std::shared_ptr<const CallConfig> config_;
  const policy::MethodConfig* method_ = nullptr;  // of config_
  bool idempotent_ = false;
  bool refused_before_ = false;
  bool repeats_ = false;  // the attempt before, whose answer is kept until the next one starts
  AttemptInfo::Why why_ = AttemptInfo::Why::kFirst;  // the present attempt was started
  int counted_attempts_ = 1;                   // without those that were repeated by themselves
  bool waited_ = false;                        // for a host
  http::StreamEnd last_end_;                   // of the attempt before, where the call is repeated
  Processed processed_ = Processed::kNotSent;  // the worst of all attempts
  base::MonoTime started_;
  base::MonoTime deadline_;
  base::MonoTime attempt_deadline_;
  base::MonoTime last_attempt_started_;
  base::MonoTime ended_;

  std::atomic<event::Loop*> loop_;

  mutable std::mutex mutex_;
  State state_ = State::kPicking;
  bool cancelled_ = false;
  absl::InlinedVector<std::unique_ptr<Attempt>, 2> attempts_;
};

}  // namespace weft::inline v0::call

#endif  // WEFT_LIB_CALL_CALL_H_
