#include "registry/poll.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/time.h"

namespace weft::inline v0::registry {

// What the Poll and the loop share. The function is the sign of life: the destructor takes it away,
// and the loop, which asks for it before each step, then does nothing more.
//
// A timer must not die armed, and only the loop may disarm it. So the Poll, when it is destroyed
// elsewhere, sends its reference to the loop in a closure that does nothing: be it run, or dropped
// at the loop's end, the last reference goes there, and disarms.
class Poll::Core final : public event::Timer, public std::enable_shared_from_this<Core> {
 public:
  using Look = absl::AnyInvocable<void()>;

  static std::shared_ptr<Core> Make(event::Loop& loop, absl::Duration interval) {
    return std::shared_ptr<Core>(new Core(loop, interval), &Core::Dispose);
  }

  event::Loop& loop() { return loop_; }

  // Any thread.
  void SetLook(std::shared_ptr<Look> look) {
    std::lock_guard<std::mutex> lock(mutex_);
    look_.swap(look);
  }

  // The loop's thread.
  void OnTimer() override {
    // The look may destroy the Poll.
    const std::shared_ptr<Core> until_return = shared_from_this();
    if (const std::shared_ptr<Look> look = GetLook()) (*look)();
    if (GetLook() != nullptr) loop_.Arm(this, base::After(loop_.now(), interval_));
  }

 private:
  Core(event::Loop& loop, absl::Duration interval)
      : loop_(loop), interval_(std::max(interval, absl::Milliseconds(1))) {}
  ~Core() = default;
  static void Dispose(Core* core) {
    if (core->loop_.IsCurrent()) core->loop_.Disarm(core);
    // Should a loop be gone in spite of all, memory is the smaller loss than a timer that it knows.
    if (!core->armed()) delete core;
  }

  std::shared_ptr<Look> GetLook() {
    std::lock_guard<std::mutex> lock(mutex_);
    return look_;
  }

  event::Loop& loop_;
  const absl::Duration interval_;
  std::mutex mutex_;
  std::shared_ptr<Look> look_;
};

Poll::Poll(event::Loop& loop, absl::Duration interval) : core_(Core::Make(loop, interval)) {}

Poll::~Poll() {
  core_->SetLook(nullptr);
  event::Loop& loop = core_->loop();
  if (!loop.IsCurrent()) loop.PostFunction([core = std::move(core_)] {});
}

void Poll::Start(absl::AnyInvocable<void()> look) {
  core_->SetLook(std::make_shared<Core::Look>(std::move(look)));
  core_->loop().PostFunction([core = core_] { core->OnTimer(); });
}

}  // namespace weft::inline v0::registry
