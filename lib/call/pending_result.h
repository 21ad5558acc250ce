// PendingResult: somebody who waits for one result of a stream: a thread, or a callback.
#ifndef WEFT_LIB_CALL_PENDING_RESULT_H_
#define WEFT_LIB_CALL_PENDING_RESULT_H_

#include <optional>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "event/wait_table.h"

namespace weft::inline v0::call {

// A thread that waits; on its stack.
template <class Result>
struct BlockedFor {
  event::Waiter waiter;
  std::optional<Result> result;
};

// Where a result is to go: exactly one of the two, or to nobody.
template <class Result>
class PendingResult {
 public:
  using Callback = absl::AnyInvocable<void(Result) &&>;

  PendingResult() = default;
  explicit PendingResult(BlockedFor<Result>* blocked) : blocked_(blocked) {}
  explicit PendingResult(Callback callback) : callback_(std::move(callback)) {}
  PendingResult(PendingResult&& other) noexcept
      : blocked_(std::exchange(other.blocked_, nullptr)),
        callback_(std::exchange(other.callback_, nullptr)) {}
  PendingResult& operator=(PendingResult&& other) noexcept {
    blocked_ = std::exchange(other.blocked_, nullptr);
    callback_ = std::exchange(other.callback_, nullptr);
    return *this;
  }

  explicit operator bool() const { return blocked_ != nullptr || callback_ != nullptr; }

  // Gives the result to a thread that waits and returns nothing, or returns the callback that is to
  // have it.
  Callback Deliver(Result& result, event::WakeBatch& wakes) && {
    if (BlockedFor<Result>* const blocked = std::exchange(blocked_, nullptr)) {
      blocked->result.emplace(std::move(result));
      blocked->waiter.Complete(wakes);
    }
    return std::exchange(callback_, nullptr);
  }

 private:
  BlockedFor<Result>* blocked_ = nullptr;
  Callback callback_;
};

}  // namespace weft::inline v0::call

#endif  // WEFT_LIB_CALL_PENDING_RESULT_H_
