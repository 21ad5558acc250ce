// The strand under many threads, and the hand-over to its loop.
#include "event/strand.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "event/epoll_loop.h"
#include "support/catch.h"

namespace weft::event {
namespace {

// Counts with plain variables what the strand is to protect.
class Counted final : public Strand::Body {
 public:
  explicit Counted(Loop& loop) : strand(loop, *this) {}
  void Flush() override { ++flushes; }
  void Keep() override { kept.fetch_add(1); }
  void Drop() override { kept.fetch_sub(1); }
  std::atomic<int> kept{0};
  Strand strand;
  uint64_t ran = 0;
  uint64_t flushes = 0;
  uint64_t ran_on_loop = 0;
  bool inside = false;
  bool overlapped = false;
};

class CountOp final : public Op {
 public:
  CountOp(Counted& body, Where where, std::atomic<uint64_t>& done)
      : Op(where), body_(body), where_(where), done_(done) {}
  void Run() override {
    if (body_.inside) body_.overlapped = true;
    body_.inside = true;
    ++body_.ran;
    if (where_ == Where::kLoopOnly && body_.strand.loop().IsCurrent()) ++body_.ran_on_loop;
    body_.inside = false;
    std::atomic<uint64_t>& done = done_;
    linked.store(false, std::memory_order_release);
    done.fetch_add(1, std::memory_order_release);
  }
  std::atomic<bool> linked{false};

 private:
  Counted& body_;
  const Where where_;
  std::atomic<uint64_t>& done_;
};

void WaitFor(const std::atomic<uint64_t>& done, uint64_t count) {
  while (done.load(std::memory_order_acquire) < count) std::this_thread::yield();
}

TEST_CASE("every operation of many threads runs once, one at a time, loop-only ones on the loop") {
  std::atomic<uint64_t> slow_turns{0};
  auto loop = EpollLoop::Start("test", &slow_turns).value();
  Counted body(*loop);
  constexpr int kThreads = 8;
  constexpr uint64_t kEach = 5000;
  std::atomic<uint64_t> done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::vector<std::unique_ptr<CountOp>> ops;
      for (uint64_t i = 0; i < kEach; ++i) {
        const auto where =
            (i + static_cast<uint64_t>(t)) % 50 == 0 ? Op::Where::kLoopOnly : Op::Where::kAnyThread;
        ops.push_back(std::make_unique<CountOp>(body, where, done));
        body.strand.Submit(ops.back().get());
      }
      WaitFor(done, kThreads * kEach);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::atomic<uint64_t> looked{0};
  // Read what the strand guards within the strand.
  struct Look final : Op {
    Look(Counted& b, std::atomic<uint64_t>& l) : body(b), looked(l) {}
    void Run() override {
      ran = body.ran;
      on_loop = body.ran_on_loop;
      overlapped = body.overlapped;
      looked.fetch_add(1, std::memory_order_release);
    }
    Counted& body;
    std::atomic<uint64_t>& looked;
    uint64_t ran = 0, on_loop = 0;
    bool overlapped = false;
  } look(body, looked);
  body.strand.Submit(&look);
  WaitFor(looked, 1);
  CHECK(look.ran == kThreads * kEach);
  CHECK(look.on_loop == kThreads * kEach / 50);
  CHECK_FALSE(look.overlapped);
  loop.reset();
}

TEST_CASE("an uncontended operation is run by its own thread, before Submit returns") {
  std::atomic<uint64_t> slow_turns{0};
  auto loop = EpollLoop::Start("test", &slow_turns).value();
  Counted body(*loop);
  std::atomic<uint64_t> done{0};
  CountOp op(body, Op::Where::kAnyThread, done);
  body.strand.Submit(&op);
  CHECK(done.load() == 1);
  CHECK(body.flushes == 1);
  loop.reset();
}

TEST_CASE("what an operation submits runs in the same hold, after it, with a flush of its own") {
  std::atomic<uint64_t> slow_turns{0};
  auto loop = EpollLoop::Start("test", &slow_turns).value();
  Counted body(*loop);
  std::atomic<uint64_t> done{0};
  CountOp second(body, Op::Where::kAnyThread, done);
  struct First final : Op {
    First(Counted& b, CountOp& s) : body(b), second(s) {}
    void Run() override {
      body.strand.Submit(&second);
      ran_inside = body.ran != 0;
    }
    Counted& body;
    CountOp& second;
    bool ran_inside = false;
  } first(body, second);
  body.strand.Submit(&first);
  CHECK_FALSE(first.ran_inside);
  CHECK(done.load() == 1);
  CHECK(body.flushes == 2);
  loop.reset();
}

TEST_CASE("operations submitted on the loop are one batch at the end of its turn") {
  std::atomic<uint64_t> slow_turns{0};
  auto loop = EpollLoop::Start("test", &slow_turns).value();
  Counted body(*loop);
  std::atomic<uint64_t> done{0};
  std::vector<std::unique_ptr<CountOp>> ops;
  for (int i = 0; i < 100; ++i)
    ops.push_back(std::make_unique<CountOp>(body, Op::Where::kAnyThread, done));
  std::atomic<uint64_t> ran_within{~uint64_t{0}};
  loop->PostFunction([&] {
    for (auto& op : ops) body.strand.Submit(op.get());
    ran_within = done.load();
  });
  WaitFor(done, 100);
  CHECK(ran_within.load() == 0);
  std::atomic<uint64_t> flushed{0};
  loop->PostFunction([&] { flushed = body.flushes; });
  while (flushed.load() == 0) std::this_thread::yield();
  CHECK(flushed.load() == 1);
  loop.reset();
}

TEST_CASE("a driver that has done its share hands the strand to the loop") {
  std::atomic<uint64_t> slow_turns{0};
  auto loop = EpollLoop::Start("test", &slow_turns).value();
  Counted body(*loop);
  std::atomic<uint64_t> done{0};
  std::vector<std::unique_ptr<CountOp>> ops;
  for (int i = 0; i < 2 * Strand::kDriveBudget; ++i)
    ops.push_back(std::make_unique<CountOp>(body, Op::Where::kAnyThread, done));
  // All are linked while this thread drives: the budget ends before they do.
  struct Feeder final : Op {
    Feeder(Counted& b, std::vector<std::unique_ptr<CountOp>>& o) : body(b), ops(o) {}
    void Run() override {
      for (auto& op : ops) body.strand.Submit(op.get());
    }
    Counted& body;
    std::vector<std::unique_ptr<CountOp>>& ops;
  } feeder(body, ops);
  body.strand.Submit(&feeder);
  WaitFor(done, ops.size());
  CHECK(done.load() == ops.size());
  loop.reset();
  CHECK(body.kept.load() == 0);
}

}  // namespace
}  // namespace weft::event
