// UnaryCall: a whole request, a whole response; for a callback or for a thread that waits.
#ifndef WEFT_LIB_CALL_UNARY_CALL_H_
#define WEFT_LIB_CALL_UNARY_CALL_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "call/call.h"
#include "call/callback_gate.h"
#include "call/controlled.h"
#include "event/loop.h"
#include "event/wait_table.h"
#include "weft/call_handle.h"

namespace weft::inline v0::call {

class UnaryCall final : public Call, public Controlled, private event::Task {
 public:
  UnaryCall(std::shared_ptr<Target> target, Request request, const CallOptions& options)
      : Call(std::move(target), std::move(request), options) {}

  // One of the two, once. The caller holds a reference.
  void Start(ResponseCallback done);
  // The result is then waited for with Wait.
  void StartForWait();
  // Once. Blocks until the end; not on a loop thread.
  absl::StatusOr<Response> Wait();

  // Controlled
  void CancelCall() override { Cancel(); }
  void CloseCallbacks() override { gate_.Close(); }
  void ReleaseHandle() override { Release(); }

 private:
  // Call
  http::BodyPiece ReadBody(Attempt& attempt, char* to, size_t size) override;
  bool has_body() const override { return has_body_; }
  void OnHead(Attempt& attempt) override;
  void OnData(Attempt& attempt, std::string_view bytes) override;
  std::optional<http::Answer> AnswerOf(const Attempt& attempt) const override;
  bool CanRewind() const override { return true; }
  void OnCallEnd(Attempt* attempt, absl::Status status, event::WakeBatch& wakes) override;
  // event::Task: the end, on the loop.
  void Run() override;
  void Drop() override { Release(); }

  void Deliver();
  absl::StatusOr<Response> TakeResult();

  bool has_body_ = false;
  Attempt* answered_ = nullptr;  // with an OK status: whose answer is the response
  absl::Status status_;
  ResponseCallback done_;
  CallbackGate gate_;
  bool waited_for_ = false;
  std::atomic<bool> taken_{false};
  event::Waiter waiter_;
};

}  // namespace weft::inline v0::call

#endif  // WEFT_LIB_CALL_UNARY_CALL_H_
