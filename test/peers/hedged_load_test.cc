// Hedged and retried calls from many threads while one server of three is killed, or stands still:
// no call fails, and what is done beside the calls stays within the budget.
#include <atomic>
#include <csignal>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "peers/client.h"
#include "support/catch.h"

namespace weft::inline v0::testing {
namespace {

constexpr int kServers = 3;
constexpr int kThreads = 8;

// Of the three, the first is slow for every fifth number.
class Trio {
 public:
  Trio() {
    for (int i = 0; i < kServers; ++i) servers_.push_back(StartNode({.slow = i == 0 ? 0 : -1}));
  }
  std::string target() const {
    return absl::StrCat("static:", servers_[0].target, ",", servers_[1].target, ",",
                        servers_[2].target);
  }
  Process& process(int i) { return *servers_[static_cast<size_t>(i)].process; }
  void StartAgain(int i) {
    Peer& server = servers_[static_cast<size_t>(i)];
    const uint16_t port = server.port;
    server.process.reset();
    server = StartNode({.port = port});
  }

 private:
  std::vector<Peer> servers_;
};

// GETs, one after the other in each thread, until it is stopped.
class Traffic {
 public:
  explicit Traffic(Channel& channel) : channel_(channel) {
    for (int i = 0; i < kThreads; ++i) threads_.emplace_back([this, i] { Worker(i); });
  }
  ~Traffic() { Stop(); }
  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  bool WaitForAnswers(uint64_t more) {
    const uint64_t wanted = answered + more;
    return Eventually([&] { return answered >= wanted; }, absl::Seconds(60));
  }
  std::string failure() {
    std::lock_guard<std::mutex> lock(mutex_);
    return failure_;
  }

  std::atomic<uint64_t> answered = 0;
  std::atomic<uint64_t> failed = 0;

 private:
  void Worker(int thread) {
    for (int i = 0; !stop_; ++i) {
      const std::string id = absl::StrCat(thread, "-", i);
      const auto response =
          channel_.Call(Request::Get(absl::StrCat("/nth/", i), {{"x-id", id}}), {});
      if (response.ok() && response->status == 200 && response->body == id) {
        answered.fetch_add(1);
        continue;
      }
      failed.fetch_add(1);
      std::lock_guard<std::mutex> lock(mutex_);
      failure_ = response.ok() ? absl::StrCat("status ", response->status, " for ", id)
                               : response.status().ToString();
    }
  }

  Channel& channel_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::string failure_;
  std::vector<std::thread> threads_;
};

ChannelOptions Hedged(HedgeOptions hedge) {
  return {
      .timeout = absl::Seconds(30),
      .retry = {.retryable = {absl::StatusCode::kUnavailable}, .attempt_timeout = absl::Seconds(1)},
      .hedge = hedge};
}

void CheckBudget(const FactoryStats& stats, uint64_t calls) {
  INFO("calls " << calls << ", hedges " << stats.hedges << ", retries " << stats.retries);
  CHECK(stats.hedges > 0);
  CHECK(stats.hedges <= calls / 10 + kThreads);
  // The reserve of ten windows, which is more than any run takes.
  CHECK(stats.hedges + stats.retries <= calls / 5 + 1000);
}

const HedgeOptions kKinds[] = {
    {.when = HedgeOptions::When::kAfterDelay, .delay = absl::Milliseconds(10)},
    {.when = HedgeOptions::When::kAdaptive},
};

// What `trouble` does to the servers, no call notices.
void CheckUnderLoad(const std::function<void(Trio&, Traffic&)>& trouble) {
  const HedgeOptions& hedge = GENERATE(from_range(std::begin(kKinds), std::end(kKinds)));
  Trio trio;
  const Holdings before = CountHoldings();
  Client client = MakeClient(trio.target(), Hedged(hedge));
  Traffic traffic(*client.channel);
  CHECK(traffic.WaitForAnswers(1000));
  trouble(trio, traffic);
  traffic.Stop();
  INFO(traffic.failure());
  CHECK(traffic.failed == 0);
  CheckBudget(client.factory->Stats(), traffic.answered);
  CheckEnd(client, before);
}

TEST_CASE("hedged calls go on while one of three servers is killed and comes back") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  CheckUnderLoad([](Trio& trio, Traffic& traffic) {
    for (int i = kServers - 1; i >= 0; --i) {
      trio.process(i).Kill(SIGKILL);
      trio.process(i).Wait();
      CHECK(traffic.WaitForAnswers(500));
      trio.StartAgain(i);
      CHECK(traffic.WaitForAnswers(500));
    }
  });
}

TEST_CASE("hedged calls go on while one of three servers stands still") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  CheckUnderLoad([](Trio& trio, Traffic& traffic) {
    trio.process(1).Kill(SIGSTOP);
    // Each of its calls goes on elsewhere: by a hedge, or after the attempt's second.
    CHECK(traffic.WaitForAnswers(200));
    trio.process(1).Kill(SIGCONT);
    CHECK(traffic.WaitForAnswers(1000));
  });
}

}  // namespace
}  // namespace weft::inline v0::testing
