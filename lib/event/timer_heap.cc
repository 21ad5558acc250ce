#include "event/timer_heap.h"

#include <algorithm>

namespace weft::inline v0::event {
namespace {

constexpr size_t kArity = 4;

}  // namespace

void TimerHeap::Arm(Timer* timer, base::MonoTime at) {
  if (at == base::kNever) {
    Disarm(timer);
    return;
  }
  if (!timer->armed()) {
    timer->at_ = at;
    heap_.push_back(timer);
    timer->index_ = heap_.size() - 1;
    SiftUp(timer->index_);
    return;
  }
  const bool earlier = at < timer->at_;
  timer->at_ = at;
  if (earlier) {
    SiftUp(timer->index_);
  } else {
    SiftDown(timer->index_);
  }
}

void TimerHeap::Disarm(Timer* timer) {
  if (!timer->armed()) return;
  const size_t index = timer->index_;
  WEFT_DCHECK(index < heap_.size() && heap_[index] == timer);
  timer->index_ = Timer::kNotArmed;
  Timer* last = heap_.back();
  heap_.pop_back();
  if (last == timer) return;
  Place(index, last);
  SiftUp(index);
  SiftDown(last->index_);
}

void TimerHeap::Clear() {
  for (Timer* timer : heap_) {
    timer->index_ = Timer::kNotArmed;
  }
  heap_.clear();
}

void TimerHeap::RunDue(base::MonoTime now) {
  while (!heap_.empty() && heap_.front()->at_ <= now) {
    Timer* timer = heap_.front();
    Disarm(timer);
    timer->OnTimer();
  }
}

void TimerHeap::Place(size_t index, Timer* timer) {
  heap_[index] = timer;
  timer->index_ = index;
}

void TimerHeap::SiftUp(size_t index) {
  Timer* const timer = heap_[index];
  while (index > 0) {
    const size_t parent = (index - 1) / kArity;
    if (heap_[parent]->at_ <= timer->at_) break;
    Place(index, heap_[parent]);
    index = parent;
  }
  Place(index, timer);
}

void TimerHeap::SiftDown(size_t index) {
  Timer* const timer = heap_[index];
  for (;;) {
    const size_t first = index * kArity + 1;
    if (first >= heap_.size()) break;
    const size_t end = std::min(first + kArity, heap_.size());
    size_t least = first;
    for (size_t child = first + 1; child < end; ++child) {
      if (heap_[child]->at_ < heap_[least]->at_) least = child;
    }
    if (timer->at_ <= heap_[least]->at_) break;
    Place(index, heap_[least]);
    index = least;
  }
  Place(index, timer);
}

}  // namespace weft::inline v0::event
