// CallHandle: the life of a call that was started with a callback.
#ifndef WEFT_CALL_HANDLE_H_
#define WEFT_CALL_HANDLE_H_

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "weft/response.h"

namespace weft::inline v0 {

namespace call {
class Controlled;
}  // namespace call
namespace channel {
class ChannelImpl;
}  // namespace channel

// Must not throw: an exception that leaves a callback ends the process.
using ResponseCallback = absl::AnyInvocable<void(absl::StatusOr<Response>) &&>;

// Destroying a handle cancels its call, and once the destructor has returned no callback of it runs
// any more: where the callback is running on another thread at that moment, the destructor waits
// for its end (hold no lock that the callback takes). Within the callback itself it returns at
// once. Movable; one thread at a time.
class CallHandle {
 public:
  CallHandle() = default;
  CallHandle(CallHandle&& other) noexcept : call_(other.call_) { other.call_ = nullptr; }
  CallHandle& operator=(CallHandle&& other) noexcept;
  CallHandle(const CallHandle&) = delete;
  CallHandle& operator=(const CallHandle&) = delete;
  ~CallHandle() { Reset(); }

  // Ends the call with CANCELLED; the callback still runs, with that or with an answer that was
  // faster. Any time, any number of times.
  void Cancel();
  // Lets the call run on by itself; the callback runs when it ends. Cancel() has no effect
  // afterwards.
  void Detach();
  // As the destructor does. The handle is empty afterwards.
  void Reset();

  explicit operator bool() const { return call_ != nullptr; }

 private:
  friend class Channel;
  explicit CallHandle(call::Controlled* call) : call_(call) {}  // takes over one reference
  call::Controlled* call_ = nullptr;
};

}  // namespace weft::inline v0

#endif  // WEFT_CALL_HANDLE_H_
