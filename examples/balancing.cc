// How calls are shared among five servers while one of them gets slow, and another one fails, is
// ejected, and comes back slowly. examples/run starts them:
//   balancing [--own] static:127.0.0.1:8001,…,127.0.0.1:8005
//
// With --own the balancer is the one of own_balancer.h.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "own_balancer.h"
#include "weft/weft.h"

namespace {

constexpr size_t kHosts = 5;
constexpr size_t kThreads = 8;
constexpr auto kPause = std::chrono::milliseconds(2);  // of a thread between two calls
constexpr absl::Duration kTick = absl::Seconds(1);
constexpr absl::Duration kPatience = absl::Seconds(10);

weft::ChannelOptions Options(bool own) {
  weft::ChannelOptions options;
  if (own) {
    options.balancer = [](uint64_t) { return std::make_unique<OwnBalancer>(); };
  } else {
    // Draws by weight only, so that one sees what it is while a host starts slowly.
    options.balancer = weft::LeastRequest();
  }
  // All of these have defaults that are ten times as long: this is to be watched.
  options.outlier.base_ejection_time = absl::Seconds(3);
  options.outlier.max_ejection_time_jitter = absl::ZeroDuration();
  options.slow_start.window = absl::Seconds(5);
  // A status of 500 counts as UNKNOWN. GET is idempotent, so another host is asked.
  options.retry.retryable = {absl::StatusCode::kUnknown};
  return options;
}

// Calls all the time, and counts who answers.
class Load {
 public:
  Load(weft::Channel& channel, const std::vector<weft::HostInfo>& hosts) : channel_(channel) {
    for (const weft::HostInfo& host : hosts) answered_[host.endpoint.address] = 0;
    for (size_t i = 0; i < kThreads; ++i) threads_.emplace_back([this] { CallThem(); });
  }
  ~Load() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

  uint64_t answered(const std::string& host) const { return answered_.at(host); }
  uint64_t failed() const { return failed_; }

 private:
  void CallThem() {
    while (!stop_) {
      const auto answer = channel_.Call(weft::Request::Get("/balancing"));
      if (answer.ok()) ++answered_.at(answer->info.host);
      if (!answer.ok() || answer->status != 200) ++failed_;
      std::this_thread::sleep_for(kPause);
    }
  }

  weft::Channel& channel_;
  std::map<std::string, std::atomic<uint64_t>> answered_;  // its keys stay the same
  std::atomic<uint64_t> failed_ = 0;
  std::atomic<bool> stop_ = false;
  std::vector<std::thread> threads_;
};

std::string StateOf(const weft::HostInfo& host) {
  if (host.ejected) return "ejected: " + host.why_ejected;
  std::string state(weft::HostStateName(host.state));
  if (host.weight < host.endpoint.weight) state += ", starts slowly";
  return state;
}

// The table: drawn in place, again and again, on a terminal; elsewhere once, when a phase ends.
class Table {
 public:
  Table(weft::Channel& channel, const Load& load)
      : channel_(channel), load_(load), live_(isatty(STDOUT_FILENO) != 0) {}

  using Condition = std::function<bool(const std::vector<weft::HostInfo>&)>;
  // Watches the hosts for so long, and then until `done`. False: that did not come.
  bool Watch(const std::string& phase, absl::Duration at_least, const Condition& done = {}) {
    std::printf("\n== %s\n", phase.c_str());
    const absl::Time start = absl::Now();
    for (bool first = true;; first = false) {
      const std::vector<weft::HostInfo> hosts = Tick();
      const absl::Duration took = absl::Now() - start;
      const bool over = took >= at_least && (!done || done(hosts));
      if (live_ && !first) std::printf("\x1b[%zuA", hosts.size() + 1);
      if (live_ || over) Draw(hosts);
      if (over || took > at_least + kPatience) return over;
    }
  }

 private:
  // What is known of the hosts, with the calls that they answered within a tick.
  std::vector<weft::HostInfo> Tick() {
    std::map<std::string, uint64_t> before;
    std::vector<weft::HostInfo> hosts = channel_.Hosts();
    for (const weft::HostInfo& host : hosts)
      before[host.endpoint.address] = load_.answered(host.endpoint.address);
    absl::SleepFor(kTick);
    hosts = channel_.Hosts();
    all_ = 0;
    for (const weft::HostInfo& host : hosts) {
      const std::string& address = host.endpoint.address;
      all_ += answered_[address] = load_.answered(address) - before[address];
    }
    return hosts;
  }

  void Draw(const std::vector<weft::HostInfo>& hosts) {
    constexpr const char* kToEndOfLine = "\x1b[K";
    const char* const end = live_ ? kToEndOfLine : "";
    // A line that is too long for the terminal would be two.
    const int most = live_ ? 40 : 400;
    std::printf("%-21s %8s  %-20s %9s %11s %7s  %s%s\n", "host", "share", "", "in flight",
                "latency", "weight", "state", end);
    for (const weft::HostInfo& host : hosts) {
      const std::string& address = host.endpoint.address;
      const double share = static_cast<double>(answered_[address]) /
                           static_cast<double>(std::max<uint64_t>(all_, 1));
      const std::string bar(static_cast<size_t>(40 * std::min(share, 0.5)), '#');
      std::printf("%-21s %6.1f %%  %-20s %9u %8.2f ms %7.2f  %.*s%s\n", address.c_str(),
                  100 * share, bar.c_str(), host.in_flight,
                  absl::ToDoubleMilliseconds(host.latency), host.weight, most,
                  StateOf(host).c_str(), end);
    }
    std::fflush(stdout);
  }

  weft::Channel& channel_;
  const Load& load_;
  const bool live_;
  std::map<std::string, uint64_t> answered_;  // within the last tick
  uint64_t all_ = 0;
};

// Has a server behave in another way from now on (examples/server.mjs).
absl::Status Become(weft::ChannelFactory& factory, const std::string& host,
                    const std::string& how) {
  auto channel = factory.GetChannel(host);
  if (!channel.ok()) return channel.status();
  return (*channel)->Call(weft::Request::Get("/become/" + how)).status();
}

int Fail(const std::string& why) {
  std::fprintf(stderr, "balancing: %s\n", why.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool own = argc > 1 && std::string_view(argv[1]) == "--own";
  const std::string target = argc > 1 + own ? argv[1 + own] : "";
  auto factory = weft::ChannelFactory::Create();
  if (!factory.ok()) return Fail(factory.status().ToString());
  auto channel = (*factory)->GetChannel(target, Options(own));
  if (!channel.ok()) return Fail(channel.status().ToString());
  const absl::Status ready = (*channel)->WaitForReady(absl::Seconds(5));
  if (!ready.ok()) return Fail(ready.ToString());
  const std::vector<weft::HostInfo> hosts = (*channel)->Hosts();
  if (hosts.size() != kHosts) return Fail("the target should be five servers");

  const std::string slow = hosts[1].endpoint.address;
  const std::string bad = hosts[3].endpoint.address;
  const auto is_ejected = [](const std::vector<weft::HostInfo>& now) { return now[3].ejected; };
  const auto is_back = [](const std::vector<weft::HostInfo>& now) { return !now[3].ejected; };
  const auto has_its_weight = [](const std::vector<weft::HostInfo>& now) {
    return now[3].weight == now[3].endpoint.weight;
  };

  absl::Status became = absl::OkStatus();
  const auto become = [&](const std::string& host, const std::string& how) {
    became.Update(Become(**factory, host, how));
  };
  const Load load(**channel, hosts);
  Table table(**channel, load);
  const absl::Duration moment = absl::Seconds(2);

  bool as_it_should = table.Watch("All is well", moment);
  become(slow, "slow/200");
  as_it_should &= table.Watch(slow + " answers 200 ms late", moment);
  become(slow, "well");
  as_it_should &= table.Watch(slow + " is well again", moment);
  become(bad, "failing");
  as_it_should &= table.Watch(bad + " answers with a status of 500", kTick, is_ejected);
  become(bad, "well");
  as_it_should &= table.Watch(bad + " is well; its time is over", kTick, is_back);
  as_it_should &= table.Watch(bad + " gets little at first", kTick);
  as_it_should &= table.Watch(bad + " has its share again", moment, has_its_weight);

  if (!became.ok()) return Fail(became.ToString());
  if (!as_it_should) return Fail("a server was not ejected, or did not come back");
  const weft::FactoryStats stats = (*factory)->Stats();
  uint64_t answered = 0;
  for (const weft::HostInfo& host : hosts) answered += load.answered(host.endpoint.address);
  std::printf("\n%llu calls were answered, %llu failed; %llu retries, %llu ejections.\n",
              static_cast<unsigned long long>(answered),
              static_cast<unsigned long long>(load.failed()),
              static_cast<unsigned long long>(stats.retries),
              static_cast<unsigned long long>(stats.ejections));
  return 0;
}
