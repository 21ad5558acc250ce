// A server that takes many resets for an attack (rapid reset, CVE-2023-44487) and gives up
// the connection: node, by way of nghttp2, which lets 1000 pass and 33 a second.
#include <atomic>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/strings.h"
#include "peers/client.h"
#include "support/catch.h"

namespace weft::inline v0::testing {
namespace {

// Number `name` of the answer to a command.
uint64_t Count(Peer& node, std::string_view command, std::string_view name) {
  const std::string answer = node.process->Ask(command);
  const size_t at = answer.find(absl::StrCat(base::V(name), "="));
  REQUIRE(at != std::string::npos);
  return std::stoull(answer.substr(at + name.size() + 1));
}
uint64_t Connections(Peer& node) { return Count(node, "stats", "total"); }
uint64_t ResetsSeen(Peer& node) { return Count(node, "resets", "resets"); }

}  // namespace

TEST_CASE("node gives up a connection on which a thousand calls were cancelled quickly") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  Peer node = StartNode();
  const Holdings before = CountHoldings();
  Client client = MakeClient(node);
  const auto opened = [&] { return client.factory->Stats().connections_opened; };
  const absl::Time start = absl::Now();
  uint64_t resets = 0;
  while (opened() <= 1 && resets < 3000) {
    std::vector<CallHandle> calls;
    for (int i = 0; i < 20; ++i) {
      calls.push_back(client.channel->Start(Request::Get("/never"), {.timeout = absl::Seconds(60)},
                                            [](absl::StatusOr<Response>) {}));
    }
    REQUIRE(node.process->Ask("await 20") == "reached 20");
    for (CallHandle& call : calls) call.Cancel();
    REQUIRE(node.process->Ask("idle") == "idle");
    if (opened() <= 1) resets = client.factory->Stats().resets_sent;
  }
  std::cout << "node: gave up the connection after " << resets << " resets in "
            << absl::FormatDuration(absl::Now() - start) << "\n";
  CHECK(resets >= 900);
  CHECK(resets < 2000);
  CHECK(opened() == 2);
  CHECK(Connections(node) == 2);
  CHECK(ResetsSeen(node) >= 900);
  CheckEnd(client, before);
}

namespace {

struct HedgedRun {
  uint64_t calls = 0;
  uint64_t failed = 0;
  FactoryStats stats;
  uint64_t connections = 0;  // that the servers saw
};

// Calls to two servers, each of which is slow for a fifth of what it is asked and quick for what
// the other one is slow for: a fifth of all calls is hedged, and each of those leaves a loser
// behind.
HedgedRun RunHedged(uint64_t calls, ConnectionOptions connection) {
  constexpr int kThreads = 16;
  Peer a = StartNode({.slow = 0});
  Peer b = StartNode({.slow = 1});
  const Holdings before = CountHoldings();
  Client client = MakeClient(
      absl::StrCat("static:", a.target, ",", b.target),
      {.retry = {.budget_ratio = 1},
       .hedge = {.when = HedgeOptions::When::kAfterDelay, .delay = absl::Milliseconds(20)}},
      {.connection = std::move(connection)});
  HedgedRun run;
  std::atomic<uint64_t> next = 0;
  std::atomic<uint64_t> failed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (uint64_t n = next++; n < calls; n = next++) {
        const std::string id = std::to_string(n);
        const auto response =
            client.channel->Call(Request::Get(absl::StrCat("/nth/", n), {{"x-id", id}}));
        if (!response.ok() || response->status != 200 || response->body != id) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  run.calls = calls;
  run.failed = failed;
  run.stats = client.factory->Stats();
  run.connections = Connections(a) + Connections(b);
  std::cout << calls << " calls, " << run.stats.hedges << " hedges (" << run.stats.hedges_won
            << " won), " << run.stats.resets_sent << " resets, " << run.stats.losers_drained
            << " drained, " << run.connections << " connections, " << run.stats.connections_lost
            << " lost, " << run.stats.retries << " retries\n";
  CheckEnd(client, before);
  return run;
}

}  // namespace

TEST_CASE("a fifth of all calls may be hedged, and node keeps its connections") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  const uint64_t calls = kSanitized ? 2000 : 100'000;
  const HedgedRun run = RunHedged(calls, {});
  CHECK(run.failed == 0);
  CHECK(run.stats.hedges >= calls / 6);
  CHECK(run.stats.hedges_won >= calls / 6);
  CHECK(run.stats.losers_drained > 0);
  CHECK(run.connections == 2);
  CHECK(run.stats.connections_opened == 2);
  CHECK(run.stats.connections_lost == 0);
  CHECK(run.stats.retries == 0);
}

TEST_CASE("without a budget for resets the same calls cost the connections") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  if (kSanitized) WEFT_SKIP("too slow for as many resets a second as node minds");
  const HedgedRun run =
      RunHedged(20'000, {.reset_burst = 1'000'000, .resets_per_second = 1'000'000});
  CHECK(run.stats.losers_drained == 0);
  CHECK(run.connections > 2);
  CHECK(run.stats.connections_opened > 2);
}

}  // namespace weft::inline v0::testing
