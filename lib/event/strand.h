// Strand: how any number of threads share one connection (or anything that is not thread-safe)
// without a lock.
//
// Any thread links an operation into a lock-free list. The thread that finds the strand idle holds
// it from then on and drives it: it runs all operations that are linked, its own and others', then
// lets the body send what came of them in one write, and lets go only when nothing new was linked.
// Everybody else only links and leaves.
//
//   Submit ── CAS: was it idle? ── no ──▶ linked, return
//                    │ yes: held now
//                    ▼
//        ┌─▶ take all ▶ run each ▶ Flush (one write) ─┐
//        └────────── something new was linked ◀───────┤
//                                 CAS(empty → idle) ◀─┘  let go
//
// - An uncontended operation is carried out by its own thread: no hand-off, no wake-up. Contended
//   ones are batched.
// - No operation is lost: one that was linked before the letting-go CAS makes it fail, one that
//   comes after finds the strand idle.
// - The loop holds the strand through its turn (reading, waking callers, and what those submit
//   meanwhile), so that an answer to many callers leads to one write of their next requests. User
//   callbacks run after the turn's work, when no strand is held; what they submit is kept in a
//   plain list and sent at the end of the loop's turn.
// - Operations marked kLoopOnly (readiness, timers, closing) run on the loop's thread: a driver
//   that meets one, or that has driven kDriveBudget operations for others, hands the strand, still
//   held, to the loop.
#ifndef WEFT_LIB_EVENT_STRAND_H_
#define WEFT_LIB_EVENT_STRAND_H_

#include <atomic>
#include <cstdint>

#include "event/loop.h"
#include "event/wait_table.h"

namespace weft::inline v0::event {

// Embedded in its owner. From the moment Run is entered it may be submitted again or destroyed.
class Op {
 public:
  enum class Where : uint8_t { kAnyThread, kLoopOnly };
  explicit Op(Where where = Where::kAnyThread) : where_(where) {}
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;
  // The strand is held. Must not block or run user code.
  virtual void Run() = 0;

 protected:
  ~Op() = default;

 private:
  friend class Strand;
  Op* next_ = nullptr;
  const Where where_;
};

class Strand final : private Task {
 public:
  static constexpr int kDriveBudget = 256;

  // What the strand protects.
  class Body {
   public:
    // After each batch of operations, held: send what they produced. May leave more work for a
    // Submit of its own.
    virtual void Flush() = 0;
    // While the strand is queued on its loop (handed over, or for the end of the turn), the loop
    // holds on to what it is a part of.
    virtual void Keep() = 0;
    virtual void Drop() = 0;

   protected:
    ~Body() = default;
  };

  // Both outlive the strand.
  Strand(Loop& loop, Body& body) : loop_(loop), body_(body), turn_end_(*this) {}
  // Nothing may be linked or held.
  ~Strand() = default;

  // Any thread. Runs `op` now, or later on the thread that holds the strand; on the loop's thread
  // at the end of the turn, or of the present hold.
  void Submit(Op* op);
  // On the loop's thread, outside this strand: runs `op` now if the strand can be had, otherwise
  // once its holder has handed it over.
  void RunOnLoop(Op* op);

  Loop& loop() const { return loop_; }
  // Held: callers to wake when the batch is through (before Flush), or at once by WakeCallers.
  WakeBatch& wakes() { return wakes_; }
  // Held, on the loop's thread: wakes them now; where that was two or more, gives them the time to
  // submit what they do next, so that it joins this turn's batch.
  void WakeCallers();

 private:
  // FIFO of linked operations.
  struct OpList {
    Op* head = nullptr;
    Op* tail = nullptr;
    bool empty() const { return head == nullptr; }
    void Push(Op* op);
    void PushFront(Op* op);
    Op* Pop();
    void Append(OpList& other);
  };
  class TurnEnd final : public Task {
   public:
    explicit TurnEnd(Strand& strand) : strand_(strand) {}
    void Run() override;
    void Drop() override { strand_.body_.Drop(); }

   private:
    Strand& strand_;
  };

  static constexpr uintptr_t kIdle = 1;  // `head_` of a strand that nobody holds

  // Links a chain of operations in the reverse order of running; true: the strand was idle and is
  // now held by the caller.
  bool Link(Op* newest, Op* oldest);
  bool TryAcquire();
  bool TryRelease();
  // Held. Runs everything, then lets go (or hands over to the loop).
  void Drive();
  void TakeLinked();
  void HandOver();
  void DriveLocal();
  // The loop takes over a strand that was handed to it.
  void Run() override;
  void Drop() override { body_.Drop(); }

  Loop& loop_;
  Body& body_;
  alignas(64) std::atomic<uintptr_t> head_{kIdle};
  // The rest is the holder's.
  alignas(64) OpList ready_;
  WakeBatch wakes_;
  // The loop thread's, held or not.
  OpList local_;
  bool held_by_loop_ = false;
  bool turn_end_queued_ = false;
  TurnEnd turn_end_;
};

}  // namespace weft::inline v0::event

#endif  // WEFT_LIB_EVENT_STRAND_H_
