#include "weft/call_handle.h"

#include <utility>

#include "call/controlled.h"
#include "event/loop.h"

namespace weft::inline v0 {

CallHandle& CallHandle::operator=(CallHandle&& other) noexcept {
  if (this != &other) {
    Reset();
    call_ = std::exchange(other.call_, nullptr);
  }
  return *this;
}

void CallHandle::Cancel() {
  event::WeftCode weft;
  if (call_ != nullptr) call_->CancelCall();
}

void CallHandle::Detach() {
  event::WeftCode weft;
  if (call::Controlled* const call = std::exchange(call_, nullptr)) call->ReleaseHandle();
}

void CallHandle::Reset() {
  call::Controlled* const call = std::exchange(call_, nullptr);
  if (call == nullptr) return;
  event::WeftCode weft;
  call->CloseCallbacks();
  call->CancelCall();
  call->ReleaseHandle();
}

}  // namespace weft::inline v0
