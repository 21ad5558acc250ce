#include "event/strand.h"

#include <sched.h>

#include <utility>

#include "base/check.h"

namespace weft::inline v0::event {
namespace {

// How long the loop tries for a strand that another thread drives before it asks for a hand-over: a
// drive takes a few microseconds, a hand-over a wake-up.
constexpr int kAcquireSpins = 64;
constexpr int kAcquireYields = 2;

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

void Strand::OpList::Push(Op* op) {
  op->next_ = nullptr;
  if (head == nullptr) {
    head = op;
  } else {
    tail->next_ = op;
  }
  tail = op;
}

void Strand::OpList::PushFront(Op* op) {
  op->next_ = head;
  if (head == nullptr) tail = op;
  head = op;
}

Op* Strand::OpList::Pop() {
  Op* op = head;
  if (op != nullptr) head = op->next_;
  return op;
}

void Strand::OpList::Append(OpList& other) {
  if (other.empty()) return;
  if (head == nullptr) {
    head = other.head;
  } else {
    tail->next_ = other.head;
  }
  tail = other.tail;
  other.head = nullptr;
}

bool Strand::Link(Op* newest, Op* oldest) {
  uintptr_t head = head_.load(std::memory_order_relaxed);
  for (;;) {
    oldest->next_ = head == kIdle ? nullptr : reinterpret_cast<Op*>(head);
    if (head_.compare_exchange_weak(head, reinterpret_cast<uintptr_t>(newest),
                                    std::memory_order_seq_cst, std::memory_order_relaxed)) {
      return head == kIdle;
    }
  }
}

bool Strand::TryAcquire() {
  for (int i = 0; i < kAcquireSpins + kAcquireYields; ++i) {
    uintptr_t idle = kIdle;
    if (head_.compare_exchange_strong(idle, 0, std::memory_order_seq_cst,
                                      std::memory_order_relaxed))
      return true;
    if (i < kAcquireSpins) {
      Pause();
    } else {
      sched_yield();
    }
  }
  return false;
}

bool Strand::TryRelease() {
  uintptr_t empty = 0;
  return head_.compare_exchange_strong(empty, kIdle, std::memory_order_seq_cst,
                                       std::memory_order_relaxed);
}

void Strand::TakeLinked() {
  Op* newest = reinterpret_cast<Op*>(head_.exchange(0, std::memory_order_acquire));
  OpList taken;
  while (newest != nullptr) {
    Op* const op = newest;
    newest = op->next_;
    taken.PushFront(op);
  }
  ready_.Append(taken);
}

void Strand::Submit(Op* op) {
  if (loop_.IsCurrent()) {
    local_.Push(op);
    if (!held_by_loop_ && !turn_end_queued_) {
      turn_end_queued_ = true;
      body_.Keep();
      loop_.AtTurnEnd(&turn_end_);
    }
    return;
  }
  if (Link(op, op)) Drive();
}

void Strand::RunOnLoop(Op* op) {
  WEFT_DCHECK(loop_.IsCurrent());
  if (held_by_loop_) {  // asked for by an operation that runs right now
    local_.Push(op);
    return;
  }
  if (TryAcquire()) {
    ready_.Push(op);
    Drive();
  } else if (Link(op, op)) {
    Drive();
  }
}

void Strand::DriveLocal() {
  turn_end_queued_ = false;
  if (local_.empty()) return;  // a hold later in the turn took them along
  if (TryAcquire()) {
    Drive();
    return;
  }
  // Somebody else drives: it may take these too.
  OpList reversed;
  Op* const oldest = local_.head;
  while (Op* op = local_.Pop()) reversed.PushFront(op);
  if (Link(reversed.head, oldest)) Drive();
}

void Strand::Drive() {
  const bool on_loop = loop_.IsCurrent();
  int budget = kDriveBudget;
  if (on_loop) held_by_loop_ = true;
  for (;;) {
    TakeLinked();
    if (on_loop) ready_.Append(local_);
    while (Op* op = ready_.Pop()) {
      if (!on_loop && (op->where_ == Op::Where::kLoopOnly || budget-- <= 0)) {
        ready_.PushFront(op);
        body_.Flush();
        HandOver();
        return;
      }
      op->Run();
    }
    body_.Flush();
    wakes_.Wake();
    if (on_loop && !local_.empty()) continue;
    if (!ready_.empty()) continue;
    if (on_loop) held_by_loop_ = false;
    if (TryRelease()) return;
    if (on_loop) held_by_loop_ = true;
  }
}

void Strand::HandOver() {
  wakes_.Wake();
  body_.Keep();
  loop_.Post(this);
}

void Strand::Run() {
  Body& body = body_;
  Drive();
  body.Drop();  // this may be gone
}

void Strand::TurnEnd::Run() {
  Body& body = strand_.body_;
  strand_.DriveLocal();
  body.Drop();
}

void Strand::WakeCallers() {
  if (wakes_.Wake() >= 2) sched_yield();
}

}  // namespace weft::inline v0::event
