// Call: what the user asked for, from the first pick to the one result. It makes attempts; its
// subclasses turn what attempts receive into a response or a stream.
//
//                  pick: queue
//   kPicking ─────────────────────▶ kWaiting
//    │  ▲  ▲                           │
//    │  │  └─ host set or state changed, or the pause is over ─┐
//    │  │                              │                       │
//    │  └── the last attempt ended,    ▼                       │
//    │      to be repeated at once (kPicking)             kBackingOff
//    ▼      │                                                  ▲
//   kAttempting ── the last one ended, to be repeated later ───┘
//    │  │  ▲
//    │  └──┘ a hedge is due: one more attempt, beside those that run; one of several ended badly
//    │
//    └── an attempt was answered, or the last one ended ──▶ kEnded ◀── pick: fail, deadline, Cancel
//                                                                      (from every state)
//
// How the end of an attempt moves it (Judge in call_retry.cc):
//
//   | end of an attempt                     | others run (hedges)      | it was the last one      |
//   |---------------------------------------|--------------------------|--------------------------|
//   | good, or not to be bettered           | kEnded; they are         | kEnded                   |
//   |                                       | abandoned                |                          |
//   | refused because of its host's load    | another one at once      | another one at once      |
//   | nothing of it was processed           | another one at once      | another one at once, or  |
//   |                                       |                          | where that has not       |
//   |                                       |                          | helped, after a pause    |
//   | to be repeated                        | the next hedge at once   | another one after a      |
//   |                                       |                          | pause                    |
//   | the same, with a pushback             | the next hedge then      | another one then         |
//   | the same, and no more are allowed     | nothing: they go on      | kEnded                   |
//
// Threads: without hedges one at a time moves a call: the thread that begins it, then whoever holds
// the strand of the attempt's host, or the cluster's loop while it waits. The attempts of a hedged
// call run on strands of their own, at the same time: what they receive is in each Attempt alone,
// and the words below that all of them, and Cancel, must agree on are guarded by `mutex_`. Losers
// may go on for a while after the end (pool::Exchange::Abandon): they keep the call, and nothing
// else of the user's, alive.
//
// References: whoever moves the call has one, which a running attempt holds in its place.
//
// What is repeated is policy::RetryPolicy's to say (weft/retry_options.h has the rules), when to
// hedge policy::HedgePolicy's (weft/hedge_options.h), and what both may cost the budget's; never
// after something of an answer has been handed to the user.
#ifndef WEFT_LIB_CALL_CALL_H_
#define WEFT_LIB_CALL_CALL_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "base/ref.h"
#include "base/time.h"
#include "call/attempt.h"
#include "call/target.h"
#include "cluster/cluster.h"
#include "event/wait_table.h"
#include "http/answer_code.h"
#include "policy/hedge_policy.h"
#include "policy/retry_policy.h"
#include "weft/call_options.h"
#include "weft/request.h"
#include "weft/response.h"

namespace weft::inline v0::call {

class Call : public base::RefCounted, private cluster::PickWaiter {
 public:
  // Any thread, any time, any number of times.
  void Cancel();

  Target& target() const { return *target_; }

 protected:
  Call(std::shared_ptr<Target> target, Request request, const CallOptions& options);
  ~Call() override;

  // Once. Checks the request, then picks. OnCallEnd may be called before it returns. The caller
  // holds a reference.
  void Begin();

  // What subclasses make of it. All with the strand of the attempt's host held, so for each attempt
  // one at a time.
  virtual http::BodyPiece ReadBody(Attempt& attempt, char* to, size_t size) = 0;
  virtual bool has_body() const = 0;
  virtual const Headers& request_trailers() const { return request_.trailers; }
  virtual void OnHead(Attempt& attempt) = 0;
  virtual void OnData(Attempt& attempt, std::string_view bytes) = 0;
  // What may be looked at, and perhaps bettered, of the answer of an attempt that has ended:
  // nothing where some of it was handed out. With mutex_.
  virtual std::optional<http::Answer> AnswerOf(const Attempt& attempt) const = 0;
  // Whether an attempt can be begun from the start of the body. Any thread.
  virtual bool CanRewind() const = 0;
  // An attempt is about to start, after another one.
  virtual void Rewind() {}
  // Exactly once, last; the status has its payload. `attempt`: whose end it is; null: none's.
  // Whoever sleeps is to be woken through `wakes`. Runs no user code.
  virtual void OnCallEnd(Attempt* attempt, absl::Status status, event::WakeBatch& wakes) = 0;

  // The answer of `attempt` begins to be handed out, or it alone can have the body: the others are
  // abandoned, and it is not repeated. False: another one was before it, or the call has ended.
  // With its strand held.
  bool Commit(Attempt& attempt);
  // Whether an answer of plain HTTP with that code may be followed by another attempt.
  bool MayBeBettered(absl::StatusCode code) const {
    return idempotent_ && retry().IsRetryable(code);
  }
  // Whether its host says that it refused the attempt, unprocessed, because of its load: believed
  // only where it was allowed to. With its strand held, or after its end.
  bool SaysBounced(const Attempt& attempt) const;
  // Of the attempt that was committed something came. With its strand held.
  void OnFirstAnswer(const Attempt& attempt);
  // Runs `operation` on each attempt that has not ended.
  template <class Operation>
  void ForEachRunning(Operation&& operation) {
    for (Attempt* const attempt : Running()) operation(*attempt);
  }
  // On the one that was committed, if it has not ended.
  template <class Operation>
  void WithCommitted(Operation&& operation) {
    Attempt* attempt;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      attempt = state_ == State::kAttempting ? committed_ : nullptr;
    }
    if (attempt != nullptr) operation(*attempt);
  }

  Request& request() { return request_; }
  const CallOptions& options() const { return options_; }
  size_t max_response_bytes() const { return max_response_bytes_; }
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
  using Attempts = absl::InlinedVector<Attempt*, 4>;
  using Losers = std::vector<Attempt*>;  // mostly none

  enum class Next : uint8_t { kNothing, kEnd, kPick, kBackOff, kHedge, kRepeatBeside, kLook };
  struct Step {
    Next next = Next::kNothing;
    base::MonoDuration wait{0};                          // with kBackOff
    AttemptInfo::Why why = AttemptInfo::Why::kByItself;  // with kRepeatBeside
    Losers losers = {};                                  // with kEnd
  };

  // call.cc: the way to an attempt, and the end.
  // What holds for this call of its options, the service config and the channel.
  absl::Status ApplyConfig();
  void Pick();
  // cluster::PickWaiter
  void OnPickAgain() override;
  void OnWaitOver(absl::Status why) override;
  void Keep() override { Retain(); }
  void Drop() override { Release(); }
  void StopWaitingIfCancelled();
  // False: the call was cancelled, or has ended. The attempt takes over a reference.
  bool StartAttempt(const cluster::Choice& on, AttemptInfo::Why why);
  http::RequestHead MakeHead(Attempt& attempt, bool tls) const;
  std::vector<const HostView*> Tried() const;
  PickFacts Facts(const std::vector<const HostView*>& tried) const;
  Attempts Running() const;
  Attempts RunningLocked() const;
  // Unless it has ended; while no attempt runs. `attempt`: whose end it is, if it is one's. Gives
  // back the reference of whoever moves the call.
  void End(http::StreamEnd end, Attempt* attempt = nullptr);
  // With mutex_. They are to be abandoned without it.
  Losers GiveUpOthers(const Attempt& winner, base::MonoTime now);
  // The state is kEnded.
  void Finish(http::StreamEnd end, Attempt* attempt, const Losers& losers, event::WakeBatch& wakes);

  // call_outcome.cc: what an attempt that has ended, or lost, says of its host. With mutex_.
  cluster::Outcome OutcomeOf(const Attempt& attempt) const;
  cluster::Outcome::Kind KindOf(const Attempt& attempt) const;
  cluster::Outcome::Kind KindOfLocalEnd(const Attempt& attempt) const;

  // call_report.cc: what is told of it.
  absl::Status Describe(http::StreamEnd end) const;
  AttemptLog Log() const;
  AttemptInfo LogOf(const Attempt& attempt) const;

  // call_retry.cc: what follows the end of an attempt. Judge, and what it calls, with mutex_; what
  // another attempt takes has been paid when it says that there is one.
  void OnAttemptEnd(Attempt& attempt, http::StreamEnd end);
  Step Judge(const Attempt& attempt, const policy::AttemptEnd& what);
  Step EndFor(const char* why);
  int RepeatsByItself() const;
  Step RepeatByItself();
  Step RepeatBeside();
  Step Retry(base::MonoDuration wait);
  Step HedgeInstead(base::MonoDuration wait, bool pushed_back);
  void Enter(Step& step, base::MonoTime now);
  void Go(const Step& step, Attempt& attempt, event::WakeBatch& wakes);
  void GoOnWithout(Attempt& attempt, event::WakeBatch& wakes);
  // Whether there may be another attempt, as far as the bodies go.
  bool MayBeginAnew() const { return committed_ == nullptr && CanRewind(); }
  void MarkTimeout(Attempt& attempt) const;
  absl::StatusCode CodeOf(const Attempt& attempt) const;
  policy::AttemptEnd Classify(const Attempt& attempt) const;
  void Count(policy::RetryThrottle& throttle, const Attempt& attempt,
             const policy::AttemptEnd& what) const;
  void BackOff(base::MonoDuration wait);
  const policy::RetryPolicy& retry() const {
    if (method_ != nullptr && method_->retry.has_value()) return *method_->retry;
    if (method_ != nullptr && method_->hedging.has_value()) return method_->hedging->after;
    return target_->retry;
  }
  policy::RetryThrottle* Throttle() const {
    return config_ != nullptr ? config_->throttle.get() : nullptr;
  }

  // call_bounce.cc: attempts that their host refused because of its load. With mutex_.
  bool MayBounce() const;  // without
  void MarkBounce(Attempt& attempt);
  Step RepeatBounced();

  // call_hedge.cc: attempts beside attempts.
  void ArmHedge();
  base::MonoTime NextHedge(const Attempt& attempt, base::MonoTime from) const;
  bool MayHedge() const;  // with mutex_
  // When to look again.
  base::MonoTime OnLook(Attempt& attempt);
  // The caller has set `starting_`, and goes on without where this is false: no host, or not
  // allowed.
  bool StartBeside(AttemptInfo::Why why);
  cluster::Choice PickForHedge(const std::vector<const HostView*>& tried, base::MonoTime now) const;
  void LookAgain(base::MonoTime now);
  bool PayForHedge(base::MonoTime now);
  // Heeded once, when the first answer came or none will. By the attempt that was committed, or
  // after the end.
  void TellHedgePolicy(const Attempt* attempt, const absl::Status& end, base::MonoTime now);
  // Of its headers or trailers: what its host says of its load, if it does.
  void TakeReport(Attempt& attempt, const Headers& fields);

  const std::shared_ptr<Target> target_;
  Request request_;
  const CallOptions options_;
  const uint64_t hash_key_;
  std::shared_ptr<const CallConfig> config_;
  const policy::MethodConfig* method_ = nullptr;  // of config_
  policy::HedgePolicy* hedge_ = nullptr;          // null: this call is not hedged
  int hedge_max_ = 0;                             // attempts, up to which it is
  base::MonoDuration hedge_delay_{0};
  int max_attempts_ = 1;
  bool idempotent_ = false;
  bool wait_for_ready_ = false;
  size_t max_response_bytes_ = 0;
  base::MonoTime started_;
  base::MonoTime deadline_;
  base::MonoTime ended_;

  std::atomic<event::Loop*> loop_;

  mutable std::mutex mutex_;
  State state_ = State::kPicking;
  bool cancelled_ = false;
  absl::InlinedVector<std::unique_ptr<Attempt>, 2> attempts_;
  int running_ = 0;               // without losers that go on for a while
  bool stopped_ = false;          // a host asked for no other attempt
  bool starting_ = false;         // somebody is about to start one more, beside those that run
  Attempt* committed_ = nullptr;  // its answer is being handed out
  Attempt* last_ended_ = nullptr;
  AttemptInfo::Why why_ = AttemptInfo::Why::kFirst;  // the next attempt is started
  int counted_attempts_ = 1;  // made or decided on, without those that were repeated by themselves
  bool refused_before_ = false;
  bool waited_ = false;                        // for a host
  Processed processed_ = Processed::kNotSent;  // the worst of all attempts
  base::MonoTime hedge_at_ = base::kNever;     // the next one is due
  bool told_ = false;                          // the policy of hedges, how it went
  int looks_ = 0;                              // for a host that has room for it
  std::atomic<int> bounces_{0};                // written with mutex_
  const char* why_no_more_ = "";
};

}  // namespace weft::inline v0::call

#endif  // WEFT_LIB_CALL_CALL_H_
