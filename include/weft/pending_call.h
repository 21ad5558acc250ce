// PendingCall: a call that runs while its caller does something else, and is then waited for.
//
//   weft::PendingCall prices = shop->Begin(weft::Request::Get("/prices"));
//   weft::PendingCall stock = store->Begin(weft::Request::Get("/stock"));
//   absl::StatusOr<weft::Response> answer = prices.Wait();  // both run meanwhile
#ifndef WEFT_PENDING_CALL_H_
#define WEFT_PENDING_CALL_H_

#include "absl/status/statusor.h"
#include "weft/response.h"

namespace weft::inline v0 {

namespace call {
class UnaryCall;
}  // namespace call

// Movable. Destroying it cancels a call that was not waited for.
class PendingCall {
 public:
  PendingCall() = default;
  PendingCall(PendingCall&& other) noexcept : call_(other.call_) { other.call_ = nullptr; }
  PendingCall& operator=(PendingCall&& other) noexcept;
  PendingCall(const PendingCall&) = delete;
  PendingCall& operator=(const PendingCall&) = delete;
  ~PendingCall();

  // Waits for the answer, on any thread but a loop's, and gives it, once. FAILED_PRECONDITION
  // otherwise.
  absl::StatusOr<Response> Wait();
  // Ends the call with CANCELLED. Any thread, any number of times, while another one waits too.
  void Cancel();

  explicit operator bool() const { return call_ != nullptr; }

 private:
  friend class Channel;
  explicit PendingCall(call::UnaryCall* call) : call_(call) {}  // takes over one reference
  call::UnaryCall* call_ = nullptr;
};

}  // namespace weft::inline v0

#endif  // WEFT_PENDING_CALL_H_
