// Five servers of which one gets slow, one fails, and one is killed and started again, under calls
// that go on all the time: no call fails, and each server has the share that it should. And a
// client that was stopped for a while: it blames nobody for the answers that it did not read.
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "peers/client.h"
#include "support/catch.h"

namespace weft::inline v0::testing {
namespace {

constexpr size_t kServers = 5;
constexpr int kThreads = 16;
constexpr uint64_t kSample = 1000;  // answers

// What is to be waited for here has defaults of many seconds.
ChannelOptions QuickOptions() {
  ChannelOptions options{.timeout = absl::Seconds(30), .balancer = LeastRequest()};
  // A status of 500 is repeated elsewhere.
  options.retry.retryable = {absl::StatusCode::kUnknown};
  options.outlier.interval = absl::Seconds(1);
  options.outlier.base_ejection_time = absl::Seconds(2);
  options.outlier.max_ejection_time_jitter = absl::ZeroDuration();
  options.slow_start.window = absl::Seconds(2);
  return options;
}

class Five {
 public:
  Five() {
    for (Peer& server : servers_) server = StartNode();
  }

  std::string target() const {
    std::string target = "static:";
    for (const Peer& server : servers_)
      absl::StrAppend(&target, target.back() == ':' ? "" : ",", server.target);
    return target;
  }
  const std::string& address(size_t i) const { return servers_[i].target; }
  void Become(size_t i, const std::string& how) {
    CHECK(servers_[i].process->Ask("become " + how).find("became ") == 0);
  }
  void Kill(size_t i) {
    servers_[i].process->Kill(SIGKILL);
    servers_[i].process->Wait();
  }
  void Signal(int signal) {
    for (Peer& server : servers_) server.process->Kill(signal);
  }
  void StartAgain(size_t i) {
    const uint16_t port = servers_[i].port;
    servers_[i].process.reset();
    servers_[i] = StartNode({.port = port});
  }

 private:
  std::array<Peer, kServers> servers_;
};

// Calls that may be repeated, until the end of the scope, and who answered them.
class Traffic {
 public:
  explicit Traffic(Channel& channel) : channel_(channel) {
    for (int i = 0; i < kThreads; ++i) threads_.emplace_back([this, i] { CallThem(i); });
  }
  ~Traffic() { Stop(); }
  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  using Answers = std::map<std::string, uint64_t>;  // by host
  Answers answers() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return answers_;
  }
  // Of the next so many answers, the host's share, 0 … 1.
  double NextShare(const std::string& host) const {
    const Answers before = answers();
    Answers now;
    CHECK(Eventually([&] { return Sum(now = answers()) >= Sum(before) + kSample; },
                     absl::Seconds(60)));
    return static_cast<double>(Count(now, host) - Count(before, host)) /
           static_cast<double>(Sum(now) - Sum(before));
  }
  std::string problem() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return problem_;
  }

 private:
  static uint64_t Sum(const Answers& answers) {
    uint64_t sum = 0;
    for (const auto& [host, count] : answers) sum += count;
    return sum;
  }
  static uint64_t Count(const Answers& answers, const std::string& host) {
    const auto found = answers.find(host);
    return found == answers.end() ? 0 : found->second;
  }

  void CallThem(int number) {
    for (int i = 0; !stop_; ++i) {
      const std::string id = absl::StrCat(number, "-", i);
      const auto answer = channel_.Call(Request::Get("/echo", {{"x-id", id}}));
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!answer.ok()) {
        problem_ = answer.status().ToString();
      } else if (answer->status != 200 || answer->body != id) {
        problem_ = absl::StrCat("status ", answer->status, ", ", id, ": ", answer->body);
      } else {
        ++answers_[answer->info.host];
      }
    }
  }

  Channel& channel_;
  std::atomic<bool> stop_ = false;
  mutable std::mutex mutex_;
  Answers answers_;
  std::string problem_;
  std::vector<std::thread> threads_;
};

// Connected, and neither ejected nor starting slowly.
bool HasItsShare(const HostInfo& host) {
  return host.state == HostState::kReady && host.weight == host.endpoint.weight;
}

// A fifth each; but servers of a busy machine are not all as fast.
constexpr double kLeast = 0.05;

}  // namespace

TEST_CASE("Of five servers one gets slow, one fails, one is killed, and no call does") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  Five five;
  const NothingLeft nothing_left;
  const Client client = MakeClient(five.target(), QuickOptions());
  const auto info = [&](size_t i) { return client.channel->Hosts()[i]; };
  REQUIRE(client.channel->WaitForReady(kProcessPatience).ok());
  Traffic traffic(*client.channel);
  for (size_t i = 0; i < kServers; ++i) {
    CHECK(Eventually([&] { return HasItsShare(info(i)); }));
    CHECK(traffic.NextShare(five.address(i)) > kLeast);
  }

  five.Become(0, "slow 1000");
  CHECK(traffic.NextShare(five.address(0)) < kLeast);
  five.Become(0, "well");
  CHECK(Eventually([&] { return traffic.NextShare(five.address(0)) > kLeast; }));

  five.Become(1, "failing");
  CHECK(Eventually([&] { return info(1).ejected; }));
  CHECK_FALSE(info(1).why_ejected.empty());
  CHECK(info(1).weight == 0);
  five.Become(1, "well");
  CHECK(Eventually([&] { return !info(1).ejected; }));
  CHECK(Eventually([&] { return HasItsShare(info(1)); }));
  CHECK(traffic.NextShare(five.address(1)) > kLeast);

  five.Kill(2);
  CHECK(Eventually([&] { return info(2).state == HostState::kBackoff; }));
  CHECK(traffic.NextShare(five.address(2)) < kLeast);
  five.StartAgain(2);
  CHECK(Eventually([&] { return HasItsShare(info(2)); }));
  CHECK(traffic.NextShare(five.address(2)) > kLeast);

  traffic.Stop();
  INFO(client.channel->DebugString());
  CHECK(traffic.problem().empty());
  const FactoryStats stats = client.factory->Stats();
  CHECK(stats.ejections > 0);
  CHECK(stats.retries_refused_by_budget == 0);
}

TEST_CASE("Of five servers one tells probes that it has much to do, and gets few calls") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  Five five;
  const NothingLeft nothing_left;
  const Client client = MakeClient(
      five.target(),
      {.timeout = absl::Seconds(30), .balancer = FreshLoad(), .load_probes = {.path = "/load"}});
  REQUIRE(client.channel->WaitForReady(kProcessPatience).ok());
  Traffic traffic(*client.channel);
  for (size_t i = 0; i < kServers; ++i)
    CHECK(Eventually([&] { return traffic.NextShare(five.address(i)) > kLeast; }));
  five.Become(0, "busy 50");
  CHECK(Eventually([&] { return traffic.NextShare(five.address(0)) < kLeast; }));
  five.Become(0, "well");
  CHECK(Eventually([&] { return traffic.NextShare(five.address(0)) > kLeast; }));
  traffic.Stop();
  INFO(client.channel->DebugString());
  CHECK(traffic.problem().empty());
  const FactoryStats stats = client.factory->Stats();
  CHECK(stats.load_probes > 0);
  CHECK(stats.load_probes_failed * 10 < stats.load_probes);  // late on a busy machine
  for (const HostInfo& host : client.channel->Hosts()) CHECK(host.in_flight == 0);
}

namespace {

int Number(const std::string& stats, const std::string& name) {
  const size_t at = stats.find(name + "=");
  REQUIRE(at != std::string::npos);
  return std::atoi(stats.c_str() + at + name.size() + 1);
}

bool IsStopped(const Process& process) {
  const std::string stat = ReadFile(absl::StrCat("/proc/", process.pid(), "/stat"));
  return stat.find(") T ") != std::string::npos;
}

// The client, and with `servers_too` these, are stopped while calls run, for longer than their
// timeout.
void StopAndGoOn(bool servers_too) {
  Five five;
  for (size_t i = 0; i < kServers; ++i) five.Become(i, "slow 20");
  Process client({.args = {PausedProbe(), five.target()}});
  CHECK(Eventually([&] { return Number(client.Ask("stats"), "answered") > 1000; }));
  const std::string before = client.Ask("stats");
  if (servers_too) five.Signal(SIGSTOP);
  client.Kill(SIGSTOP);
  CHECK(Eventually([&] { return IsStopped(client); }));
  absl::SleepFor(absl::Seconds(3));  // nobody can say what a stopped process waits for
  client.Kill(SIGCONT);
  if (servers_too) five.Signal(SIGCONT);

  const int answered = Number(client.Ask("stats"), "answered");
  std::string after;
  CHECK(Eventually(
      [&] { return Number(after = client.Ask("stats"), "answered") > answered + 1000; }));
  CAPTURE(before, after);
  if (servers_too) CHECK(Number(after, "late") > 0);
  CHECK(Number(after, "ejections") == 0);
}

}  // namespace

TEST_CASE("A client that was stopped while calls ran ejects nobody") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  StopAndGoOn(/*servers_too=*/false);
}

TEST_CASE("A client that was stopped with its servers ejects nobody for the answers it missed") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  StopAndGoOn(/*servers_too=*/true);
}

}  // namespace weft::inline v0::testing
