// StreamCall: a call whose bodies flow piece by piece. What Stream does, and what sources and sinks
// are pumped through.
//
//   Write ─▶ out_ (64 KiB, then the writer waits) ─▶ ReadBody ─▶ session
//   session ─▶ OnData ─▶ in_ (one stream window) ─▶ Read ─▶ Consume: the peer may send as much
//
// What was sent is kept until the answer begins or 256 KiB are passed, so that an attempt that was
// not processed can be repeated.
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
#include "call/call.h"
#include "call/callback_group.h"
#include "call/pending_result.h"
#include "weft/stream.h"

namespace weft::inline v0::call {

class StreamCall final : public Call {
 public:
  using HeadResult = absl::StatusOr<ResponseHead>;
  using ReadResult = std::optional<std::string>;

  StreamCall(std::shared_ptr<Target> target, Request request, const CallOptions& options,
             bool end_of_request);

  // Once, first. The caller holds a reference.
  void Start() { Begin(); }

  // Each gives its result exactly once: to a blocked thread within the call or later, to a callback
  // always later.
  void Head(PendingResult<HeadResult> to);
  void Read(PendingResult<ReadResult> to);
  void Write(std::string_view bytes, PendingResult<absl::Status> to);
  absl::Status WritesDone(Headers trailers);
  void Finish(PendingResult<absl::Status> to);

  // As Cancel, but the call ends with `status`.
  void Abort(absl::Status status);
  CallbackGroup& callbacks() { return callbacks_; }
  std::optional<ResponseHead> head() const;
  Headers trailers() const;
  CallInfo info() const;

 private:
  // Call
  http::BodyPiece ReadBody(char* to, size_t size) override;
  bool has_body() const override { return has_body_; }
  void OnHead(Attempt& attempt, int status, Headers headers) override;
  void OnData(Attempt& attempt, std::string_view bytes) override;
  void OnTrailers(Headers trailers) override;
  std::optional<http::Answer> answer() const override;
  bool CanRewind() const override;
  void Rewind() override;
  void ReleaseHead(event::WakeBatch& wakes);
  void OnCallEnd(absl::Status status, event::WakeBatch& wakes) override;

  // Wakes the thread, or lets the callback run on the loop or executor. No lock held.
  template <class Result>
  void Deliver(PendingResult<Result> to, Result result, event::WakeBatch* wakes);
  void ForgetSent();  // with io_mutex_
  size_t unsent() const { return out_.size() - out_sent_; }

  const bool has_body_;
  CallbackGroup callbacks_;
  std::optional<ResponseHead> held_head_;  // the attempt's, which nobody has seen yet

  mutable std::mutex io_mutex_;  // guards the rest; nothing is called with it held
  // The request.
  std::string out_;  // what was not sent, behind what may have to be sent again
  size_t out_sent_ = 0;
  bool forgot_ = false;  // bytes that were sent are not in out_ any more
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
