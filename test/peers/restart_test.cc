// One server of three goes away and comes back under load: killed, or in order (GOAWAY). What may
// be repeated never fails; what may not be is never done twice (scenarios S1 and S2).
#include <atomic>
#include <csignal>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "peers/client.h"
#include "support/catch.h"

namespace weft::inline v0::testing {
namespace {

constexpr int kServers = 3;
constexpr int kThreads = 8;  // for GET, and as many for POST
constexpr int kRounds = 4;

// Three servers, each with a log of what it processed, that survives it.
class Trio {
 public:
  Trio() {
    for (int i = 0; i < kServers; ++i) servers_.push_back(StartNode({.log = Log(i)}));
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
    server = StartNode({.port = port, .log = Log(i)});
  }
  // How often each id was processed, by any of them.
  std::map<std::string, int> Processed() const {
    std::map<std::string, int> times;
    for (int i = 0; i < kServers; ++i) {
      std::istringstream log(ReadFile(Log(i)));
      for (std::string id; std::getline(log, id);) ++times[id];
    }
    return times;
  }

 private:
  std::string Log(int i) const { return folder_.File(absl::StrCat("log", i)); }

  TempDir folder_;
  std::vector<Peer> servers_;
};

// Calls that go on until they are told to stop.
class Traffic {
 public:
  explicit Traffic(Channel& channel, CallOptions options = {.timeout = absl::Seconds(30)})
      : channel_(channel), options_(std::move(options)) {
    for (int i = 0; i < kThreads; ++i) {
      threads_.emplace_back([this, i] { Worker(i, "GET", "/echo", gets_); });
      threads_.emplace_back([this, i] { Worker(i, "POST", "/post", posts_); });
    }
  }
  ~Traffic() { Stop(); }
  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  struct Part {
    std::atomic<uint64_t> answered = 0;
    std::atomic<uint64_t> crossed = 0;
    // By `mutex_`.
    std::set<std::string> ids_answered = {};
    std::map<std::string, absl::Status> failed = {};
  };
  Part& gets() { return gets_; }
  Part& posts() { return posts_; }

  // Until that many more calls of each kind were answered: the time that a scenario takes is
  // counted in those.
  bool WaitForAnswers(uint64_t more) {
    const uint64_t gets = gets_.answered + more;
    const uint64_t posts = posts_.answered + more;
    return Eventually([&] { return gets_.answered >= gets && posts_.answered >= posts; },
                      absl::Seconds(60));
  }

 private:
  void Worker(int number, const char* method, const char* path, Part& part) {
    for (int i = 0; !stop_; ++i) {
      const std::string id = absl::StrCat(method, number, "-", i);
      Request request = Request::Get(path, {{"x-id", id}});
      request.method = method;
      const auto response = channel_.Call(std::move(request), options_);
      const bool ok = response.ok() && response->status == 200;
      if (ok && response->body != id) part.crossed.fetch_add(1);
      {
        std::lock_guard<std::mutex> lock(mutex_);
        if (ok) {
          part.ids_answered.insert(id);
        } else {
          part.failed[id] = response.ok() ? absl::UnknownError("status") : response.status();
        }
      }
      if (ok) part.answered.fetch_add(1);
    }
  }

  Channel& channel_;
  const CallOptions options_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  Part gets_;
  Part posts_;
  std::vector<std::thread> threads_;
};

std::string First(const std::map<std::string, absl::Status>& failed) {
  return failed.empty() ? "" : failed.begin()->first + ": " + failed.begin()->second.ToString();
}

// Nothing acknowledged is missing, nothing was done twice, no answer was another's.
void CheckOracle(Traffic& traffic, const Trio& trio) {
  CHECK(traffic.gets().crossed == 0);
  CHECK(traffic.posts().crossed == 0);
  const std::map<std::string, int> processed = trio.Processed();
  int doubles = 0;
  for (const auto& [id, times] : processed) doubles += times > 1 ? 1 : 0;
  CHECK(doubles == 0);
  int missing = 0;
  for (const std::string& id : traffic.posts().ids_answered)
    missing += processed.count(id) == 0 ? 1 : 0;
  CHECK(missing == 0);
  // An error that says "not processed" tells the truth.
  for (const auto& [id, status] : traffic.posts().failed) {
    const auto error = GetCallError(status);
    REQUIRE(error.has_value());
    if (error->processed != Processed::kMaybeProcessed) CHECK(processed.count(id) == 0);
  }
}

}  // namespace

TEST_CASE("One of three servers is killed and comes back, again and again") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  Trio trio;
  const NothingLeft nothing_left;
  Client client = MakeClient(trio.target());
  Traffic traffic(*client.channel);
  CHECK(traffic.WaitForAnswers(500));
  for (int i = 0; i < kRounds; ++i) {
    trio.process(i % kServers).Kill(SIGKILL);
    trio.process(i % kServers).Wait();
    CHECK(traffic.WaitForAnswers(300));  // on two
    trio.StartAgain(i % kServers);
    // It is used again.
    Process& process = trio.process(i % kServers);
    CHECK(
        Eventually([&] { return process.Ask("stats").find(" requests=0") == std::string::npos; }));
    CHECK(traffic.WaitForAnswers(300));
  }
  traffic.Stop();
  INFO(First(traffic.gets().failed));
  CHECK(traffic.gets().failed.empty());
  // At most what was in flight, and each says that nobody knows.
  INFO(First(traffic.posts().failed));
  CHECK(traffic.posts().failed.size() <= size_t{kRounds} * kThreads);
  for (const auto& [id, status] : traffic.posts().failed) {
    INFO(id << ": " << status);
    CHECK(absl::IsUnavailable(status));
    const auto error = GetCallError(status);
    CHECK((error.has_value() && error->origin == Origin::kConnection &&
           error->processed == Processed::kMaybeProcessed && !error->host.empty()));
  }
  CheckOracle(traffic, trio);
  CHECK(client.factory->Stats().retries_refused_by_budget == 0);
  CHECK(Eventually([&] {
    const std::string text = client.channel->DebugString();
    size_t idle = 0;
    for (size_t at = 0; (at = text.find("in flight 0", at)) != std::string::npos; ++at) ++idle;
    return idle == kServers;
  }));
}

TEST_CASE("One of three servers is closed in order and comes back, and nothing fails") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  Trio trio;
  const NothingLeft nothing_left;
  Client client = MakeClient(trio.target());
  Traffic traffic(*client.channel);
  CHECK(traffic.WaitForAnswers(500));
  for (int i = 0; i < kRounds; ++i) {
    CHECK(trio.process(i % kServers).Ask("close") == "closed");
    CHECK(trio.process(i % kServers).Wait() == 0);
    CHECK(traffic.WaitForAnswers(300));
    trio.StartAgain(i % kServers);
    Process& process = trio.process(i % kServers);
    CHECK(
        Eventually([&] { return process.Ask("stats").find(" requests=0") == std::string::npos; }));
    CHECK(traffic.WaitForAnswers(300));
  }
  traffic.Stop();
  INFO(First(traffic.gets().failed));
  CHECK(traffic.gets().failed.empty());
  INFO(First(traffic.posts().failed));
  CHECK(traffic.posts().failed.empty());
  CheckOracle(traffic, trio);
}

TEST_CASE("The only server is closed in order while calls wait for it to come back") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  TempDir folder;
  Peer node = StartNode({.log = folder.File("log")});
  const uint16_t port = node.port;
  const NothingLeft nothing_left;
  const Client client =
      MakeClient(node.target, {}, {.connection = {.reconnect_max = absl::Seconds(1)}});
  Traffic traffic(*client.channel, {.timeout = absl::Seconds(60), .wait_for_ready = true});
  CHECK(traffic.WaitForAnswers(200));
  for (int i = 0; i < 3; ++i) {
    CHECK(node.process->Ask("close") == "closed");
    node.process.reset();
    node = StartNode({.port = port, .log = folder.File("log")});
    CHECK(traffic.WaitForAnswers(200));
  }
  traffic.Stop();
  INFO(First(traffic.gets().failed));
  CHECK(traffic.gets().failed.empty());
  INFO(First(traffic.posts().failed));
  CHECK(traffic.posts().failed.empty());
  CHECK(traffic.gets().crossed + traffic.posts().crossed == 0);
}

}  // namespace weft::inline v0::testing
