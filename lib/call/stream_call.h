// StreamCall: a call whose bodies flow piece by piece. What Stream does, and what sources and sinks
// are pumped through.
//
//   Write ─▶ out_ (64 KiB, then the writer waits) ─▶ ReadBody ─▶ session
//   session ─▶ OnData ─▶ in_ (one stream window) ─▶ Read ─▶ Consume: the peer may send as much
//
// What was sent is kept until the answer begins or 256 KiB are passed (or all calls of the channel
// keep 64 MiB), so that another attempt can begin anew. Each attempt has a place of its own in it;
// the first that has an answer to show, or that goes beyond what is kept, is the only one from then
// on (Commit).
#ifndef WEFT_LIB_CALL_STREAM_CALL_H_
#define WEFT_LIB_CALL_STREAM_CALL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ref.h"
#include "call/call.h"
#include "call/callback_group.h"
#include "call/pending_result.h"
#include "weft/stream.h"

namespace weft::inline v0::call {

// Whose the request body is, where it can be had again from its start.
class BodyOwner : public base::RefCounted {
 public:
  // The bytes of the next round are wanted; those of the last one are not any more. Runs where the
  // call's callbacks run, perhaps when the round is over, or the call.
  virtual void OnBodyWantedAgain() = 0;
};

class StreamCall final : public Call {
 public:
  using HeadResult = absl::StatusOr<ResponseHead>;
  using ReadResult = std::optional<std::string>;

  StreamCall(std::shared_ptr<Target> target, Request request, const CallOptions& options,
             bool end_of_request);

  // Before Start: nothing of the body is kept here, `owner` gives it again. It must live as long as
  // Head or Read have a result to give.
  void SetBodyOwner(BodyOwner* owner) { body_owner_ = owner; }
  // How often the body was wanted again.
  int body_round() const;

  // Once, first. The caller holds a reference.
  void Start() { Begin(); }

  // Each gives its result exactly once: to a blocked thread within the call or later, to a callback
  // always later.
  void Head(PendingResult<HeadResult> to);
  void Read(PendingResult<ReadResult> to);
  // `round`: whose bytes these are; ABORTED where it is over.
  void Write(std::string_view bytes, PendingResult<absl::Status> to, int round = 0);
  absl::Status WritesDone(Headers trailers, int round = 0);
  void Finish(PendingResult<absl::Status> to);

  // As Cancel, but the call ends with `status`.
  void Abort(absl::Status status);
  CallbackGroup& callbacks() { return callbacks_; }
  std::optional<ResponseHead> head() const;
  Headers trailers() const;
  CallInfo info() const;

 private:
  // Call
  http::BodyPiece ReadBody(Attempt& attempt, char* to, size_t size) override;
  bool has_body() const override { return has_body_; }
  void OnHead(Attempt& attempt) override;
  void OnData(Attempt& attempt, std::string_view bytes) override;
  std::optional<http::Answer> AnswerOf(const Attempt& attempt) const override;
  bool CanRewind() const override;
  void Rewind() override;
  void OnCallEnd(Attempt* attempt, absl::Status status, event::WakeBatch& wakes) override;
  bool Holds(const Attempt& attempt, size_t more) const;
  // Whoever reads gets what there is of the answer. False: another attempt's is the call's.
  bool Show(Attempt& attempt, event::WakeBatch& wakes);
  void TakeAnswer(Attempt& attempt);  // with io_mutex_

  // Wakes the thread, or lets the callback run on the loop or executor. No lock held.
  template <class Result>
  void Deliver(PendingResult<Result> to, Result result, event::WakeBatch* wakes);
  // With io_mutex_.
  void ForgetSent(const Attempt& attempt);  // the only one
  bool KeepSent();                          // false: it is more than may be kept
  size_t unsent() const { return forgotten_ + out_.size() - sent_; }

  const bool has_body_;
  BodyOwner* body_owner_ = nullptr;
  CallbackGroup callbacks_;

  mutable std::mutex io_mutex_;  // guards the rest; nothing is called with it held
  // The request.
  std::string out_;       // what was not sent, behind what may have to be sent again
  size_t forgotten_ = 0;  // bytes of the body that were before it
  size_t sent_ = 0;       // by the attempt that has sent most, or the one that was committed
  bool settled_ = false;  // one was
  int body_round_ = 0;
  size_t kept_ = 0;  // counted in Target::kept_for_replay
  bool writes_done_ = false;
  PendingResult<absl::Status> writer_;
  // The response.
  std::optional<ResponseHead> head_;
  std::deque<std::string> in_;
  uint64_t received_ = 0;
  bool discard_ = false;  // nobody reads any more
  Headers trailers_;
  PendingResult<HeadResult> head_reader_;
  PendingResult<ReadResult> reader_;
  // The end.
  bool ended_ = false;
  absl::Status status_;
  absl::Status abort_;
  PendingResult<absl::Status> finisher_;
};

}  // namespace weft::inline v0::call

#endif  // WEFT_LIB_CALL_STREAM_CALL_H_
