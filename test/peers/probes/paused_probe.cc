// A client that is stopped and goes on while its calls run: paused_probe <target>
//
// Calls /echo from many threads. For each line on standard input it says how it went so far, in one
// line: "answered=<n> failed=<n> late=<n> ejections=<n>", of which late are the calls whose
// deadline was noticed well after it had passed. Ends with its input.
#include <atomic>
#include <cstdio>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "weft/weft.h"

namespace {

// So many that at each host more are in flight than failures in a row eject it.
constexpr int kThreads = 32;
constexpr absl::Duration kTimeout = absl::Seconds(2);
constexpr absl::Duration kLate = absl::Milliseconds(500);

int Fail(const absl::Status& status) {
  std::printf("%s\n", status.ToString().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  auto factory = weft::ChannelFactory::Create();
  if (!factory.ok()) return Fail(factory.status());
  auto channel = (*factory)->GetChannel(argc > 1 ? argv[1] : "", {.timeout = kTimeout});
  if (!channel.ok()) return Fail(channel.status());
  const absl::Status ready = (*channel)->WaitForReady(absl::Seconds(10));
  if (!ready.ok()) return Fail(ready);

  std::atomic<bool> stop = false;
  std::atomic<int> answered = 0;
  std::atomic<int> failed = 0;
  std::atomic<int> late = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        const absl::Time start = absl::Now();
        const auto answer = (*channel)->Call(weft::Request::Get("/echo", {{"x-id", "1"}}));
        ++(answer.ok() ? answered : failed);
        if (!answer.ok() && absl::Now() - start > kTimeout + kLate) ++late;
      }
    });
  }
  for (std::string line; std::getline(std::cin, line);) {
    const auto ejections = static_cast<unsigned long long>((*factory)->Stats().ejections);
    std::printf("answered=%d failed=%d late=%d ejections=%llu\n", answered.load(), failed.load(),
                late.load(), ejections);
    std::fflush(stdout);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  return 0;
}
