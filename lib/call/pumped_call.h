// PumpedCall: a request whose body comes from a BodySource, or whose response body goes to a
// BodySink: a StreamCall, and two pumps that move one piece after the other. Each step runs where
// the call's callbacks run, and begins only when the one before it is over.
#ifndef WEFT_LIB_CALL_PUMPED_CALL_H_
#define WEFT_LIB_CALL_PUMPED_CALL_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "base/ref.h"
#include "call/controlled.h"
#include "call/stream_call.h"
#include "weft/body.h"
#include "weft/call_handle.h"

namespace weft::inline v0::call {

class PumpedCall final : public BodyOwner, public Controlled {
 public:
  // `sink` null: the body is put together, at most max_response_bytes of it.
  PumpedCall(std::shared_ptr<Target> target, Request request, const CallOptions& options,
             BodySink* sink);

  // Once. The caller holds a reference.
  void Start(ResponseCallback done);

  // Controlled
  void CancelCall() override { stream_->Cancel(); }
  void CloseCallbacks() override { stream_->callbacks().Close(); }
  void ReleaseHandle() override { Release(); }

 private:
  // The source, the sink or a limit ended the call; it ends with that even where the exchange
  // itself has ended well.
  void Fail(absl::Status status);
  absl::Status failure();
  // BodyOwner
  void OnBodyWantedAgain() override;
  // The request: Write ▶ written ▶ Write ▶ …, in rounds: from the source's start again where the
  // call is tried again.
  void PumpRound();
  void PumpOut(int round);
  void OnRoundOver(int round);
  // The response: head ▶ Read ▶ piece ▶ Read ▶ …  ▶ Finish
  void OnHead(absl::StatusOr<ResponseHead> head);
  void PumpIn();
  void OnPiece(std::optional<std::string> piece);
  void OnFinished(absl::Status status);

  const base::Ref<StreamCall> stream_;
  const std::shared_ptr<BodySource> source_;
  BodySink* const sink_;
  const size_t max_response_bytes_;
  ResponseCallback done_;
  Response response_;
  // Both pumps may run at the same time, on an executor of several threads.
  std::mutex mutex_;
  absl::Status failure_;
  bool pumping_out_ = false;
  int last_round_ = 0;  // that was begun
};

}  // namespace weft::inline v0::call

#endif  // WEFT_LIB_CALL_PUMPED_CALL_H_
