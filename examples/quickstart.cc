// The four ways to call, then 64 threads that share one connection to each host. examples/run
// starts servers for it:  quickstart static:127.0.0.1:8001,127.0.0.1:8002
#include <algorithm>
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "weft/weft.h"

namespace {

using Answer = absl::StatusOr<weft::Response>;
constexpr size_t kThreads = 64;
constexpr size_t kCallsPerThread = 200;

// An error says who was called, how often, for how long, and whether it may have been processed.
int Fail(const absl::Status& error) {
  std::fprintf(stderr, "quickstart: %s\n", error.ToString().c_str());
  return 1;
}

void Show(const char* how, const Answer& answer) {
  if (!answer.ok()) std::exit(Fail(answer.status()));
  std::printf("%-10s %d  %s", how, answer->status, answer->body.c_str());
}

// The smallest coroutine type that has a result. Weft works with any.
struct Task {
  struct promise_type {
    std::promise<Answer> answer;
    Task get_return_object() { return {answer.get_future()}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_value(Answer value) { answer.set_value(std::move(value)); }
    void unhandled_exception() { std::abort(); }
  };
  std::future<Answer> answer;
};

Task CallFromCoroutine(weft::Channel& channel) {
  co_return co_await channel.Async(weft::Request::Get("/coroutine"));
}

void CallManyTimes(weft::Channel& channel, size_t thread, std::vector<weft::CallInfo>& answered) {
  for (size_t i = 0; i < kCallsPerThread; ++i) {
    const std::string id = std::to_string(thread) + "/" + std::to_string(i);
    const Answer answer = channel.Call(weft::Request::Get("/many", {{"x-id", id}}));
    if (!answer.ok()) Fail(answer.status());
    if (answer.ok() && answer->headers["x-id"] == id) answered.push_back(answer->info);
  }
}

}  // namespace

int main(int argc, char** argv) {
  // One factory per process: it owns the connections. Channels are cheap handles that share them.
  auto factory = weft::ChannelFactory::Create();
  if (!factory.ok()) return Fail(factory.status());
  auto opened = (*factory)->GetChannel(argc > 1 ? argv[1] : "");
  if (!opened.ok()) return Fail(opened.status());
  weft::Channel& channel = **opened;

  // Calls wait for a connection by themselves; this is for those who want the first to be fast.
  const absl::Status ready = channel.WaitForReady(absl::Seconds(10));
  if (!ready.ok()) return Fail(ready);

  Show("blocking", channel.Call(weft::Request::Get("/blocking"), {.timeout = absl::Seconds(5)}));

  std::promise<Answer> promise;
  const weft::CallHandle call = channel.Start(  // destroying the handle would cancel the call
      weft::Request::Get("/callback"), {},
      [&promise](Answer answer) { promise.set_value(std::move(answer)); });
  Show("callback", promise.get_future().get());
  Show("coroutine", CallFromCoroutine(channel).answer.get());

  weft::Stream stream = channel.Open(weft::Request::Post("/echo"));
  for (const char* piece : {"stream     ", "out and back, ", "piece by piece\n"}) {
    if (!stream.Write(piece).ok()) break;  // Finish says why
    if (auto echo = stream.Read()) std::printf("%s", echo->c_str());
  }
  if (const absl::Status end = stream.Finish(); !end.ok()) return Fail(end);

  std::vector<std::vector<weft::CallInfo>> answered(kThreads);
  std::vector<std::thread> threads;
  const absl::Time start = absl::Now();
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] { CallManyTimes(channel, i, answered[i]); });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = absl::ToDoubleSeconds(absl::Now() - start);

  std::vector<double> ms;
  std::map<std::string, int> calls;
  for (const auto& infos : answered) {
    for (const auto& info : infos) {
      ms.push_back(absl::ToDoubleMilliseconds(info.took));
      ++calls[info.host];
    }
  }
  std::sort(ms.begin(), ms.end());
  std::printf("\n%zu threads made %zu calls, %zu were answered: %.0f a second\n", kThreads,
              kThreads * kCallsPerThread, ms.size(), static_cast<double>(ms.size()) / seconds);
  if (ms.size() < kThreads * kCallsPerThread) return 1;
  std::printf("latency: p50 %.2f ms, p99 %.2f ms, max %.2f ms\n\n", ms[ms.size() / 2],
              ms[ms.size() * 99 / 100], ms.back());

  // Another channel of the same factory to one of the hosts uses the connection that is there.
  for (const auto& [host, count] : calls) {
    const Answer stats = (*factory)->GetChannel(host).value()->Call(weft::Request::Get("/stats"));
    if (!stats.ok()) return Fail(stats.status());
    std::printf("%s took %d of them; it says: %s", host.c_str(), count, stats->body.c_str());
  }
}
