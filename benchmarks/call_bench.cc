// call_bench: unary calls over one channel to a gRPC-speaking echo server (POST /bench.Echo/Call
// over h2c), measured from outside the library: latency, CPU of the whole process and context
// switches per call.
//
//   call_bench --mode=sync|async --conc=N --port=P [--secs=2] [--warm=0.5] [--resp=64] [--req=64]
//   [--loops=0]
//
// sync: N threads that block; async: N calls outstanding, each started again from the callback of
// the one before. Every answer is checked: status 200, grpc-status 0 and a body of the length asked
// for. Ends with one line of JSON.
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "latency_histogram.h"
#include "weft/weft.h"

namespace {

using Clock = std::chrono::steady_clock;

// The message {int32 resp_size = 1; bytes payload = 2} in protobuf's wire format, behind gRPC's
// five-byte prefix.
std::string EchoMessage(uint32_t resp_size, size_t payload) {
  std::string message;
  const auto varint = [&message](uint64_t value) {
    for (; value >= 0x80; value >>= 7) message.push_back(static_cast<char>(value | 0x80));
    message.push_back(static_cast<char>(value));
  };
  if (resp_size > 0) {
    message.push_back(0x08);
    varint(resp_size);
  }
  if (payload > 0) {
    message.push_back(0x12);
    varint(payload);
    message.append(payload, 'x');
  }
  std::string framed(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8)
    framed.push_back(static_cast<char>(message.size() >> shift));
  return framed + message;
}

enum class Phase { kWarm, kMeasure, kStop };

struct Bench {
  std::shared_ptr<weft::Channel> channel;
  std::string request_body;
  size_t response_bytes;
  std::atomic<Phase> phase{Phase::kWarm};
  std::atomic<uint64_t> errors{0};
  std::atomic<int> running{0};

  weft::Request MakeRequest() const {
    return weft::Request::Post(
        "/bench.Echo/Call", request_body,
        {{"te", "trailers"}, {"content-type", "application/grpc"}, {"grpc-timeout", "5S"}});
  }
  weft::CallOptions Options() const { return {.timeout = absl::Seconds(5)}; }

  void Record(weft::bench::LatencyHistogram& histogram, Clock::time_point start,
              const absl::StatusOr<weft::Response>& response) {
    if (phase.load(std::memory_order_relaxed) != Phase::kMeasure) return;
    const bool good = response.ok() && response->status == 200 &&
                      response->trailers["grpc-status"] == "0" &&
                      response->body.size() == response_bytes;
    if (!good) {
      if (errors.fetch_add(1) == 0 && !response.ok())
        std::fprintf(stderr, "%s\n", response.status().ToString().c_str());
      return;
    }
    histogram.Add(Clock::now() - start);
  }
};

// One call at a time, for ever: the next begins in the callback of the last.
class Chain {
 public:
  Chain(Bench& bench) : bench_(bench) {}  // NOLINT(google-explicit-constructor)
  void Next() {
    if (bench_.phase.load(std::memory_order_relaxed) == Phase::kStop) {
      bench_.running.fetch_sub(1);
      return;
    }
    start_ = Clock::now();
    bench_.channel
        ->Start(bench_.MakeRequest(), bench_.Options(),
                [this](absl::StatusOr<weft::Response> response) {
                  bench_.Record(histogram, start_, response);
                  Next();
                })
        .Detach();
  }
  weft::bench::LatencyHistogram histogram;

 private:
  Bench& bench_;
  Clock::time_point start_;
};

double Seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> args = {{"mode", "sync"}, {"conc", "1"},   {"port", "7002"},
                                             {"secs", "2"},    {"warm", "0.5"}, {"resp", "64"},
                                             {"req", "64"},    {"loops", "0"}};
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const size_t equals = arg.find('=');
    if (arg.rfind("--", 0) != 0 || equals == std::string::npos ||
        !args.count(arg.substr(2, equals - 2))) {
      std::fprintf(stderr, "unknown argument %s; see the top of call_bench.cc\n", arg.c_str());
      return 2;
    }
    args[arg.substr(2, equals - 2)] = arg.substr(equals + 1);
  }
  const int conc = std::atoi(args["conc"].c_str());
  const auto resp = static_cast<uint32_t>(std::atoi(args["resp"].c_str()));

  auto factory = weft::ChannelFactory::Create({.loops = std::atoi(args["loops"].c_str())});
  if (!factory.ok()) {
    std::fprintf(stderr, "%s\n", factory.status().ToString().c_str());
    return 1;
  }
  Bench bench;
  bench.channel = (*factory)->GetChannel("127.0.0.1:" + args["port"]).value();
  bench.request_body = EchoMessage(resp, static_cast<size_t>(std::atoi(args["req"].c_str())));
  bench.response_bytes = EchoMessage(0, resp).size();
  bench.running = conc;

  std::vector<std::unique_ptr<Chain>> chains;
  std::vector<std::thread> threads;
  for (int i = 0; i < conc; ++i) {
    chains.push_back(std::make_unique<Chain>(bench));
    if (args["mode"] == "async") {
      chains.back()->Next();
    } else {
      threads.emplace_back([&bench, &chain = *chains.back()] {
        while (bench.phase.load(std::memory_order_relaxed) != Phase::kStop) {
          const Clock::time_point start = Clock::now();
          bench.Record(chain.histogram, start,
                       bench.channel->Call(bench.MakeRequest(), bench.Options()));
        }
        bench.running.fetch_sub(1);
      });
    }
  }

  std::this_thread::sleep_for(std::chrono::duration<double>(std::atof(args["warm"].c_str())));
  rusage before;
  rusage after;
  getrusage(RUSAGE_SELF, &before);
  const Clock::time_point begin = Clock::now();
  bench.phase = Phase::kMeasure;
  std::this_thread::sleep_for(std::chrono::duration<double>(std::atof(args["secs"].c_str())));
  bench.phase = Phase::kStop;
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  getrusage(RUSAGE_SELF, &after);
  for (std::thread& thread : threads) thread.join();
  while (bench.running.load() > 0) std::this_thread::yield();

  weft::bench::LatencyHistogram all;
  for (const auto& chain : chains) all.Merge(chain->histogram);
  const double calls = static_cast<double>(all.count() > 0 ? all.count() : 1);
  const double user_us = (Seconds(after.ru_utime) - Seconds(before.ru_utime)) * 1e6 / calls;
  const double sys_us = (Seconds(after.ru_stime) - Seconds(before.ru_stime)) * 1e6 / calls;
  const double switches =
      static_cast<double>(after.ru_nvcsw - before.ru_nvcsw + after.ru_nivcsw - before.ru_nivcsw);
  std::printf(
      "{\"name\":\"weft\",\"conc\":%d,\"n\":%llu,\"errors\":%llu,\"rps\":%.0f,\"p50\":%.1f,\"p99\":"
      "%.1f,\"p999\":%.1f,"
      "\"user_us\":%.3f,\"sys_us\":%.3f,\"cpu_us\":%.3f,\"csw\":%.3f,\"rss_mb\":%.1f}\n",
      conc, static_cast<unsigned long long>(all.count()),
      static_cast<unsigned long long>(bench.errors.load()),
      static_cast<double>(all.count()) / seconds, all.QuantileMicros(.5), all.QuantileMicros(.99),
      all.QuantileMicros(.999), user_us, sys_us, user_us + sys_us, switches / calls,
      static_cast<double>(after.ru_maxrss) / 1024.0);
  return bench.errors.load() == 0 ? 0 : 1;
}
