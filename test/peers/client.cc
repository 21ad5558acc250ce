#include "peers/client.h"

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "support/catch.h"
#include "support/h2_frames.h"

namespace weft::inline v0::testing {
namespace {

size_t CountEntries(const char* folder) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

// What the threads of a load write to, under one lock: it is taken once a thread, and for failures.
struct Tally {
  std::mutex mutex;
  std::condition_variable changed;
  int running = 0;
  LoadReport report;
};

void Worker(Channel& channel, const Load& load, int number, Tally& tally) {
  LoadReport mine;
  std::string last_connection;
  for (int i = 0; i < load.calls || (load.until != nullptr && !*load.until); ++i) {
    const std::string id = absl::StrCat(number, "-", i % load.ids_per_thread);
    const absl::StatusOr<Response> response = channel.Call(load.request(id), load.options);
    std::string problem;
    if (!response.ok()) {
      ++mine.failed;
      problem = response.status().ToString();
    } else if (response->status != 200) {
      ++mine.failed;
      problem = absl::StrCat("status ", response->status);
    } else if (const std::string echoed = load.id(*response); echoed != id) {
      ++mine.crossed;
      problem = absl::StrCat("asked with ", id, ", answered with \"", echoed, "\"");
    } else {
      ++mine.answered;
      const std::string_view connection = response->headers["x-connection"];
      if (connection != last_connection) {
        last_connection = std::string(connection);
        mine.connections.insert(last_connection);
      }
    }
    if (mine.problem.empty()) mine.problem = problem;
  }
  std::lock_guard<std::mutex> lock(tally.mutex);
  tally.report.answered += mine.answered;
  tally.report.failed += mine.failed;
  tally.report.crossed += mine.crossed;
  if (tally.report.problem.empty()) tally.report.problem = mine.problem;
  tally.report.connections.merge(mine.connections);
  --tally.running;
  tally.changed.notify_all();
}

}  // namespace

Client MakeClient(std::string_view target, const ChannelOptions& channel,
                  const ChannelFactory::Options& options) {
  Client client;
  auto factory = ChannelFactory::Create(options);
  if (!factory.ok()) throw std::runtime_error(factory.status().ToString());
  client.factory = *std::move(factory);
  auto made = client.factory->GetChannel(target, channel);
  if (!made.ok()) throw std::runtime_error(made.status().ToString());
  client.channel = *std::move(made);
  return client;
}

Holdings CountHoldings() {
  // Sanitizers start a thread of their own with the first one.
  [[maybe_unused]] static const bool had_a_thread = [] {
    std::thread([] {}).join();
    return true;
  }();
  return {.descriptors = CountEntries("/proc/self/fd"), .threads = CountEntries("/proc/self/task")};
}

void CheckBack(const Holdings& before) {
  Holdings now;
  CHECK(Eventually([&] {
    now = CountHoldings();
    return now.descriptors == before.descriptors && now.threads == before.threads;
  }));
  CHECK(now.descriptors == before.descriptors);
  CHECK(now.threads == before.threads);
}

void CheckEnd(Client& client, const Holdings& before) {
  // Attempts are taken from the count after the answer was given to the caller.
  CHECK(Eventually(
      [&] { return client.channel->DebugString().find("in flight 0") != std::string::npos; }));
  INFO(client.channel->DebugString());
  const absl::Time start = absl::Now();
  client.channel.reset();
  client.factory.reset();
  CHECK(absl::Now() - start < absl::Seconds(10));
  CheckBack(before);
}

size_t CountConnections(uint16_t port) {
  size_t count = 0;
  // A server that listens on IPv6 as well has its connections of IPv4 in the second.
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream lines(table);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      // "  0: 0100007F:1F90 0100007F:C0DE 01 …": own address, the other's, state; 01 is
      // ESTABLISHED.
      std::istringstream words(line);
      std::string number;
      std::string local;
      std::string remote;
      std::string state;
      words >> number >> local >> remote >> state;
      const size_t colon = local.find(':');
      if (colon == std::string::npos || state != "01") continue;
      if (std::stoul(local.substr(colon + 1), nullptr, 16) == port) ++count;
    }
  }
  return count;
}

size_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  size_t total = 0;
  size_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

int CallsPerThread() {
  if (const char* calls = std::getenv("WEFT_PEER_CALLS"); calls != nullptr) {  // NOLINT
    return std::max(1, std::atoi(calls));
  }
  return kSanitized ? 200 : 10000;
}

LoadReport Run(Channel& channel, uint16_t port, const Load& load) {
  Tally tally;
  tally.running = load.threads;
  const absl::Time start = absl::Now();
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(load.threads));
  for (int i = 0; i < load.threads; ++i) {
    threads.emplace_back([&, i] { Worker(channel, load, i, tally); });
  }
  {
    std::unique_lock<std::mutex> lock(tally.mutex);
    size_t most = 0;
    while (!tally.changed.wait_for(lock, std::chrono::milliseconds(20),
                                   [&] { return tally.running == 0; })) {
      lock.unlock();
      if (port != 0) most = std::max(most, CountConnections(port));
      lock.lock();
    }
    tally.report.most_connections = most;
  }
  for (std::thread& thread : threads) thread.join();
  tally.report.took = absl::Now() - start;
  return std::move(tally.report);
}

Load EchoLoad() {
  Load load;
  load.request = [](const std::string& id) { return Request::Get("/echo", {{"x-id", id}}); };
  load.id = [](const Response& response) {
    // Both must be of this call: the header block and the data came in frames of their own.
    if (response.headers["x-id"] == response.body) return response.body;
    return absl::StrCat("header ", std::string(response.headers["x-id"]), ", body ", response.body);
  };
  return load;
}

Load GrpcLoad() {
  Load load;
  load.request = [](const std::string& id) {
    return Request::Post("/bench.Echo/Call", GrpcMessage(ProtoMessage(id)),
                         {{"content-type", "application/grpc"}, {"te", "trailers"}});
  };
  load.id = [](const Response& response) -> std::string {
    if (response.trailers["grpc-status"] != "0") {
      return absl::StrCat("grpc-status ", std::string(response.trailers["grpc-status"]));
    }
    constexpr size_t kPrefix = 7;  // gRPC's five bytes and protobuf's two
    return response.body.size() < kPrefix ? "too short" : response.body.substr(kPrefix);
  };
  return load;
}

std::string ProtoMessage(std::string_view payload) {
  std::string message = "\x0a";
  for (size_t size = payload.size();; size >>= 7) {
    message.push_back(static_cast<char>((size & 127) | (size >= 128 ? 128 : 0)));
    if (size < 128) break;
  }
  return message.append(payload);
}

std::string PatternBytes(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>((i * 31 + (i >> 8)) & 255);
  return bytes;
}

}  // namespace weft::inline v0::testing
