#include "weft/call_handle.h"

#include <utility>

#include "call/controlled.h"

namespace weft::inline v0 {

CallHandle& CallHandle::operator=(CallHandle&& other) noexcept {
  if (this != &other) {
    Reset();
    call_ = std::exchange(other.call_, nullptr);
  }
  return *this;
}

void CallHandle::Cancel() {
  if (call_ != nullptr) call_->CancelCall();
}

void CallHandle::Detach() {
  if (call::Controlled* const call = std::exchange(call_, nullptr)) call->ReleaseHandle();
}

void CallHandle::Reset() {
  call::Controlled* const call = std::exchange(call_, nullptr);
  if (call == nullptr) return;
  call->CloseCallbacks();
  call->CancelCall();
  call->ReleaseHandle();
}

}  // namespace weft::inline v0
