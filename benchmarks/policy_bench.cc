// policy_bench: what it costs a call that retries and hedges are armed, while none is needed: CPU
// of the whole process per call on two channels of one factory, over the same connection. One
// retries by three codes, hedges adaptively and has an attempt timeout; the other has Weft's
// defaults.
//
//   policy_bench [--rounds=15] [--secs=0.4] [--workers=0] [--port=0]
//                [--cases=sync:1,sync:8,sync:64,async:16,async:128]
//
// A round measures both, one right after the other, the first in turn; the table shows the medians
// of all rounds, and of the ratios within a round. Port 0: an echo server of its own. --workers=16:
// its answers say how many of 16 workers are busy, which the policy takes in.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "arguments.h"
#include "bench_client.h"
#include "closed_loop.h"
#include "echo_call.h"
#include "echo_server.h"

namespace {

using weft::bench::EchoCaller;
using weft::bench::Measured;

constexpr uint32_t kPayload = 64;

weft::ChannelOptions Armed() {
  weft::ChannelOptions options;
  options.retry.retryable = {absl::StatusCode::kUnavailable, absl::StatusCode::kResourceExhausted,
                             absl::StatusCode::kAborted};
  options.retry.attempt_timeout = absl::Seconds(2);
  options.hedge.when = weft::HedgeOptions::When::kAdaptive;
  return options;
}

double Quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}
double Median(const std::vector<double>& values) { return Quantile(values, 0.5); }

class Comparison {
 public:
  Comparison(weft::Channel& none, weft::Channel& armed, const weft::bench::Arguments& args)
      : none_(none), armed_(armed), args_(args) {}

  // `name`: sync:N or async:N. False: some call failed.
  bool Run(const std::string& name) {
    const bool async = name.starts_with("async:");
    const int conc = std::max(std::atoi(name.c_str() + name.find(':') + 1), 1);
    std::vector<double> none_us;
    std::vector<double> armed_us;
    std::vector<double> ratios;
    uint64_t errors = 0;
    for (int round = 0; round < args_.Int("rounds"); ++round) {
      const bool none_first = round % 2 == 0;
      const Measured first = Measure(none_first ? none_ : armed_, async, conc);
      const Measured second = Measure(none_first ? armed_ : none_, async, conc);
      none_us.push_back((none_first ? first : second).cpu_us());
      armed_us.push_back((none_first ? second : first).cpu_us());
      ratios.push_back(armed_us.back() / none_us.back());
      errors += first.errors + second.errors;
    }
    std::printf("%-10s %9.2f %9.2f %9.3f    %.3f … %.3f\n", name.c_str(), Median(none_us),
                Median(armed_us), Median(ratios), Quantile(ratios, .25), Quantile(ratios, .75));
    std::fflush(stdout);
    return errors == 0;
  }

 private:
  Measured Measure(weft::Channel& channel, bool async, int conc) const {
    weft::bench::ClosedLoop<EchoCaller> loop(
        {.async = async, .conc = conc, .warm_seconds = 0.1, .seconds = args_.Real("secs")}, [&] {
          return EchoCaller{&channel, &request_, response_bytes_, /*idempotent=*/true};
        });
    return loop.Run();
  }

  weft::Channel& none_;
  weft::Channel& armed_;
  const weft::bench::Arguments& args_;
  const std::string request_ = weft::bench::EchoMessage(kPayload, kPayload);
  const size_t response_bytes_ = weft::bench::EchoMessage(0, kPayload).size();
};

}  // namespace

int main(int argc, char** argv) {
  using weft::bench::OrEnd;
  const weft::bench::Arguments args(argc, argv,
                                    {{"rounds", "15"},
                                     {"secs", "0.4"},
                                     {"workers", "0"},
                                     {"port", "0"},
                                     {"cases", "sync:1,sync:8,sync:64,async:16,async:128"}});
  std::optional<weft::bench::EchoServer> server;
  std::string address = "127.0.0.1:" + args.Text("port");
  if (args.Int("port") == 0) {
    server.emplace(weft::bench::EchoServerOptions{.workers = args.Int("workers")});
    address = server->address();
  }
  const auto factory = OrEnd(weft::ChannelFactory::Create());
  const auto none = OrEnd(factory->GetChannel(address));
  const auto armed = OrEnd(factory->GetChannel(address, Armed()));

  std::printf("CPU µs per call  none     armed   armed ÷ none, and its quartiles\n");
  Comparison comparison(*none, *armed, args);
  bool good = true;
  std::istringstream cases(args.Text("cases"));
  for (std::string name; std::getline(cases, name, ',');) good &= comparison.Run(name);
  const weft::FactoryStats stats = factory->Stats();
  std::printf("retries %llu, hedges %llu, connections %llu\n",
              static_cast<unsigned long long>(stats.retries),
              static_cast<unsigned long long>(stats.hedges),
              static_cast<unsigned long long>(stats.connections_opened));
  return good ? 0 : 1;
}
