#include "event/alarm.h"

namespace weft::inline v0::event {

class Alarm::Kick final : public Task {
 public:
  explicit Kick(Alarm* alarm) : alarm_(alarm) {}
  void Run() override {
    if (alarm_ == nullptr) {
      delete this;
    } else {
      alarm_->OnKick();
    }
  }
  void Drop() override {
    if (alarm_ == nullptr) {
      delete this;
    } else {
      alarm_->posted_.store(false, std::memory_order_relaxed);
    }
  }
  // The alarm stops while this is posted: it frees itself when its turn comes.
  void Orphan() { alarm_ = nullptr; }

 private:
  Alarm* alarm_;
};

// The caller and OnAlarm exclude each other by the strand or lock, so a time found in `by_` here is
// one whose OnAlarm will still see what the caller put in place.
void Alarm::EnsureBy(base::MonoTime at) {
  if (at >= by_.load(std::memory_order_acquire)) return;
  by_.store(at, std::memory_order_release);
  if (loop_.IsCurrent()) {
    loop_.Arm(this, at);
    return;
  }
  // Where it is posted already, OnKick, which clears the flag first, finds the new time.
  if (posted_.exchange(true, std::memory_order_acq_rel)) return;
  if (kick_ == nullptr) kick_ = new Kick(this);
  loop_.Post(kick_);
}

void Alarm::Stop() {
  loop_.Disarm(this);
  by_.store(base::kNever, std::memory_order_relaxed);
  if (posted_.exchange(false, std::memory_order_acquire)) {
    kick_->Orphan();
  } else {
    delete kick_;
  }
  kick_ = nullptr;
}

void Alarm::OnTimer() {
  by_.exchange(base::kNever, std::memory_order_acq_rel);
  OnAlarm();
}

void Alarm::OnKick() {
  posted_.exchange(false, std::memory_order_acq_rel);
  const base::MonoTime by = by_.load(std::memory_order_acquire);
  if (by != base::kNever) loop_.Arm(this, by);  // kNever: OnAlarm ran meanwhile
}

}  // namespace weft::inline v0::event
