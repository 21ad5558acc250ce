// The end of a client whose calls are under way: each callback exactly once, or not at all where
// the handle went; descriptors and threads are given back (fault 50).
#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "peers/client.h"
#include "support/catch.h"

namespace weft::inline v0::testing {
namespace {

constexpr int kCalls = 500;
const CallOptions kPatient = {.timeout = absl::Seconds(60)};

struct Outcomes {
  std::atomic<int> cancelled = 0;
  std::atomic<int> other = 0;

  ResponseCallback Count() {
    return [this](absl::StatusOr<Response> response) {
      const bool is_cancelled = absl::IsCancelled(response.status());
      if (!is_cancelled) {
        std::lock_guard<std::mutex> lock(mutex);
        last_other = response.status();
      }
      (is_cancelled ? cancelled : other).fetch_add(1);
    };
  }
  absl::Status LastOther() {
    std::lock_guard<std::mutex> lock(mutex);
    return last_other;
  }

  std::mutex mutex;
  absl::Status last_other;
  int all() const { return cancelled.load() + other.load(); }
};

std::vector<CallHandle> StartCalls(Channel& channel, Outcomes& outcomes, int calls = kCalls) {
  std::vector<CallHandle> handles;
  for (int i = 0; i < calls; ++i) {
    handles.push_back(channel.Start(Request::Get("/never"), kPatient, outcomes.Count()));
  }
  return handles;
}

template <class Predicate>
size_t CountIf(const std::vector<absl::Status>& statuses, Predicate predicate) {
  return static_cast<size_t>(std::count_if(statuses.begin(), statuses.end(), predicate));
}

}  // namespace

TEST_CASE("Destroying the factory cancels what is in flight, each call once") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  for (const Security security : {Security::kPlain, Security::kTls}) {
    const Peer node = StartNode({.security = security});
    const Holdings before = CountHoldings();
    Outcomes outcomes;
    std::vector<absl::Status> blocked(16);
    std::vector<std::thread> threads;
    Client client = MakeClient(node);
    std::vector<CallHandle> handles = StartCalls(*client.channel, outcomes);
    for (absl::Status& status : blocked) {
      threads.emplace_back([&status, channel = client.channel] {
        status = channel->Call(Request::Post("/never"), kPatient).status();
      });
    }
    CHECK(node.process->Ask("await 516") == "reached 516");
    CHECK(outcomes.all() == 0);

    const absl::Time start = absl::Now();
    client.factory.reset();
    CHECK(absl::Now() - start < absl::Seconds(10));
    for (std::thread& thread : threads) thread.join();
    CHECK(Eventually([&] { return outcomes.all() == kCalls; }));
    INFO(blocked[0]);
    CHECK(CountIf(blocked, [](const absl::Status& s) { return absl::IsCancelled(s); }) == 16);
    CHECK(CountIf(blocked, [](const absl::Status& s) {
            return GetCallError(s).value().processed == Processed::kMaybeProcessed;
          }) == 16);
    CHECK(CountIf(blocked, [](const absl::Status& s) {
            return GetCallError(s).value().origin == Origin::kLocal;
          }) == 16);
    // The channel outlives its factory, and says so.
    CHECK(absl::IsCancelled(client.channel->Call(Request::Get("/echo")).status()));
    handles.clear();
    client.channel.reset();
    CheckBack(before);
    CHECK(outcomes.cancelled == kCalls);
    CHECK(outcomes.other == 0);
    // The server was told: it has nothing to answer any more.
    CHECK(node.process->Ask("idle") == "idle");
    CHECK(node.process->Ask("stats") == "stats total=1 open=0 requests=516");
  }
}

TEST_CASE("A destroyed handle's callback never runs, and the server is told") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  const Peer node = StartNode();
  const Holdings before = CountHoldings();
  Outcomes outcomes;
  Client client = MakeClient(node);
  std::vector<CallHandle> handles = StartCalls(*client.channel, outcomes);
  CHECK(node.process->Ask("await 500") == "reached 500");
  // From several threads, a part each.
  std::vector<std::thread> threads;
  for (int part = 0; part < 4; ++part) {
    threads.emplace_back([&handles, part] {
      for (int i = part; i < kCalls; i += 4) handles[static_cast<size_t>(i)].Reset();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(node.process->Ask("idle") == "idle");
  CHECK(outcomes.all() == 0);
  const auto response = client.channel->Call(Request::Get("/echo", {{"x-id", "after"}}));
  CHECK((response.ok() && response->body == "after"));
  CHECK(client.factory->Stats().connections_opened == 1);
  CheckEnd(client, before);
  CHECK(outcomes.all() == 0);
}

TEST_CASE("Cancel is an end like any other, twice and after the end too") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  const Peer node = StartNode();
  const Holdings before = CountHoldings();
  Outcomes outcomes;
  Client client = MakeClient(node);
  std::vector<CallHandle> handles = StartCalls(*client.channel, outcomes);
  CHECK(node.process->Ask("await 500") == "reached 500");
  for (CallHandle& handle : handles) handle.Cancel();
  for (CallHandle& handle : handles) handle.Cancel();
  CHECK(Eventually([&] { return outcomes.all() == kCalls; }));
  for (CallHandle& handle : handles) handle.Cancel();
  handles.clear();  // a call lives as long as its handle, and the loops as long as a call
  CHECK(node.process->Ask("idle") == "idle");
  CHECK(outcomes.cancelled == kCalls);
  CHECK(outcomes.other == 0);
  CheckEnd(client, before);
}

TEST_CASE("Factories come and go, with calls in flight and without, and leave nothing behind") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  const Peer plain = StartNode();
  const Peer tls = StartNode({.security = Security::kTls});
  const Holdings before = CountHoldings();
  Outcomes outcomes;
  constexpr int kRounds = 30;
  for (int i = 0; i < kRounds; ++i) {
    Client client = MakeClient(i % 2 == 0 ? plain : tls);
    std::vector<CallHandle> handles = StartCalls(*client.channel, outcomes, 10);
    // Some end before they were dialled, some after they were sent.
    if (i % 3 == 0) CHECK(client.channel->Call(Request::Get("/echo"), kPatient).ok());
    // Either may go first.
    if (i % 5 == 0) client.channel.reset();
    client.factory.reset();
    if (i % 7 == 0) {
      for (CallHandle& handle : handles) handle.Detach();
    }
    CHECK(Eventually([&] { return outcomes.all() == 10 * (i + 1); }));
  }
  INFO(outcomes.LastOther());
  CHECK(outcomes.cancelled == 10 * kRounds);
  CheckBack(before);
  CHECK(plain.process->Ask("idle") == "idle");
  CHECK(tls.process->Ask("idle") == "idle");
}

TEST_CASE("A channel goes and its factory right after it") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  const Peer node = StartNode();
  const NothingLeft nothing_left;
  // The host is let go by the one and shut down by the other at about the same time, on different
  // threads: often enough for either to be first.
  for (int i = 0; i < 300; ++i) {
    Client client = MakeClient(node);
    CHECK(client.channel->Call(Request::Get("/echo"), kPatient).ok());
    client.channel.reset();
    client.factory.reset();
  }
}

TEST_CASE("Detached calls end when the factory does, without channel and handles") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  const Peer node = StartNode();
  const Holdings before = CountHoldings();
  Outcomes outcomes;
  Client client = MakeClient(node);
  for (CallHandle& handle : StartCalls(*client.channel, outcomes)) handle.Detach();
  CHECK(node.process->Ask("await 500") == "reached 500");
  client.channel.reset();  // they go on
  CHECK(node.process->Ask("stats") == "stats total=1 open=1 requests=500");
  CHECK(outcomes.all() == 0);
  client.factory.reset();
  CHECK(Eventually([&] { return outcomes.cancelled == kCalls; }));
  CheckBack(before);
  CHECK(outcomes.other == 0);
}

}  // namespace weft::inline v0::testing
