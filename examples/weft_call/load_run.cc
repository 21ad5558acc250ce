#include "weft_call/load_run.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "weft_call/format.h"
#include "weft_call/report.h"
#include "weft_call/tally.h"

namespace weft_call {
namespace {

using Clock = std::chrono::steady_clock;

// Read by all callers, so more than a volatile flag; without a lock, so a handler may write it.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void StopOnInterrupt() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted.store(true, std::memory_order_relaxed); };
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

// What the callers of a run share.
class Run {
 public:
  Run(weft::Channel& channel, const Args& args) : channel_(channel), args_(args) {}

  weft::Channel& channel() { return channel_; }
  const weft::Request& request() const { return args_.request; }
  const weft::CallOptions& options() const { return args_.call; }

  // Whether there is one more call to make; then it is the caller's to make.
  bool Take() {
    return !interrupted.load(std::memory_order_relaxed) &&
           taken_.fetch_add(1, std::memory_order_relaxed) < args_.calls;
  }
  void CountEnded() { ended_.fetch_add(1, std::memory_order_relaxed); }

  // A caller begins before it takes its first call, and hands in what it saw.
  void Begin() {
    std::lock_guard<std::mutex> lock(mutex_);
    ++callers_;
  }
  void End(Tally&& tally) {
    std::lock_guard<std::mutex> lock(mutex_);
    tally_.Merge(std::move(tally));
    if (--callers_ == 0) over_.notify_one();
  }

  // Waits for all of them, and shows people how far they are.
  Tally Wait() {
    const bool shows = isatty(STDERR_FILENO) != 0 && !args_.silent;
    std::unique_lock<std::mutex> lock(mutex_);
    while (
        !over_.wait_for(lock, std::chrono::milliseconds(250), [this] { return callers_ == 0; })) {
      if (shows)
        std::fprintf(stderr, "\r%lld of %d calls ", static_cast<long long>(ended_), args_.calls);
    }
    if (shows) std::fprintf(stderr, "\r%40s\r", "");
    return std::move(tally_);
  }

 private:
  weft::Channel& channel_;
  const Args& args_;
  std::atomic<int64_t> taken_{0};
  std::atomic<int64_t> ended_{0};
  std::mutex mutex_;  // guards the rest
  std::condition_variable over_;
  int callers_ = 0;
  Tally tally_;
};

// A thread's way: one call after the other.
void CallUntilOver(Run& run) {
  Tally tally;
  while (run.Take()) {
    const Clock::time_point start = Clock::now();
    const auto answer = run.channel().Call(run.request(), run.options());
    tally.Add(answer, absl::FromChrono(Clock::now() - start));
    run.CountEnded();
  }
  run.End(std::move(tally));
}

// The way of callbacks: each starts the next call.
class Chain {
 public:
  explicit Chain(Run& run) : run_(run) {}

  void Next() {
    if (!run_.Take()) {
      run_.End(std::move(tally_));  // the chain may be gone now
      return;
    }
    start_ = Clock::now();
    run_.channel()
        .Start(run_.request(), run_.options(),
               [this](absl::StatusOr<weft::Response> answer) {
                 tally_.Add(answer, absl::FromChrono(Clock::now() - start_));
                 run_.CountEnded();
                 Next();
               })
        .Detach();
  }

 private:
  Run& run_;
  Clock::time_point start_;
  Tally tally_;
};

}  // namespace

int RunLoad(const weft::ChannelFactory& factory, weft::Channel& channel, const Args& args) {
  if (args.call.wait_for_ready) {
    const absl::Status ready =
        channel.WaitForReady(args.call.timeout.value_or(weft::kDefaultTimeout));
    if (!ready.ok()) {
      PrintError(ready);
      std::fputs(channel.DebugString().c_str(), stderr);
      return 1;
    }
  }
  StopOnInterrupt();

  Run run(channel, args);
  std::deque<Chain> chains;
  std::vector<std::thread> threads;
  run.Begin();  // for this function: nothing is over while it starts the callers
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < args.concurrent; ++i) {
    run.Begin();
    chains.emplace_back(run).Next();
  }
  for (int i = 0; i < args.threads; ++i) {
    run.Begin();
    try {
      threads.emplace_back([&run] { CallUntilOver(run); });
    } catch (const std::system_error& error) {
      std::fprintf(stderr, "weft_call: there are only %d threads to be had: %s\n", i, error.what());
      run.End(Tally());
      break;
    }
  }
  run.End(Tally());
  Tally tally = run.Wait();
  const absl::Duration took = absl::FromChrono(Clock::now() - start);
  for (std::thread& thread : threads) thread.join();

  const Report report = {args, tally, took, factory.Stats(),
                         interrupted.load(std::memory_order_relaxed)};
  std::fputs(args.json ? ReportJson(report).c_str() : ReportText(report).c_str(), stdout);
  if (args.verbose) std::fprintf(stderr, "%s", channel.DebugString().c_str());
  for (const auto& [kind, failures] : tally.failures()) PrintError(failures.example);
  return tally.failed() == 0 && tally.answered() > 0 ? 0 : 1;
}

}  // namespace weft_call
