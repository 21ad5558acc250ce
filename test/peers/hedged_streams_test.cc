// Streams that are hedged at once, from several threads: both attempts run on loops of their own,
// and race for every one of them.
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "peers/client.h"
#include "support/catch.h"

namespace weft::inline v0::testing {
namespace {

constexpr int kThreads = 4;
constexpr CallOptions kTwice = {
    .timeout = absl::Seconds(60), .idempotent = true, .hedge_delay = absl::ZeroDuration()};

// What is wrong with the answer to `body`; empty: nothing.
std::string Mirror(Channel& channel, const std::string& body) {
  Stream stream = channel.Open(Request::Post("/mirror"), kTwice);
  constexpr size_t kPiece = 7'000;
  for (size_t at = 0; at < body.size(); at += kPiece) {
    if (absl::Status status = stream.Write(body.substr(at, kPiece)); !status.ok())
      return status.ToString();
  }
  if (absl::Status status = stream.WritesDone(); !status.ok()) return status.ToString();
  std::string came;
  while (std::optional<std::string> piece = stream.Read()) came += *piece;
  if (absl::Status status = stream.Finish(); !status.ok()) return status.ToString();
  return came == body ? "" : absl::StrCat(came.size(), " bytes of ", body.size());
}

std::string Echo(Channel& channel, const std::string& id) {
  Stream stream = channel.Open(Request::Get("/echo", {{"x-id", id}}), kTwice, true);
  const absl::StatusOr<ResponseHead> head = stream.Head();
  if (!head.ok()) return head.status().ToString();
  if (head->headers["x-id"] != id) return "the head of another";
  std::string came;
  while (std::optional<std::string> piece = stream.Read()) came += *piece;
  return came == id ? "" : absl::StrCat("body ", came);
}

}  // namespace

TEST_CASE("Streams with two attempts show one answer, whole, whichever is first") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  std::vector<Peer> servers;
  std::string target = "static:";
  for (int i = 0; i < 3; ++i) {
    servers.push_back(StartNode());
    absl::StrAppend(&target, i == 0 ? "" : ",", servers.back().target);
  }
  const NothingLeft nothing_left;
  // Losers are drained, most of them.
  Client client = MakeClient(target, {.retry = {.budget_ratio = 10}},
                             {.loops = 3, .connection = {.reset_burst = 10}});
  // Half of its window: the first calls have put nothing in yet.
  for (int i = 0; i < 50; ++i)
    (void)client.channel->Call(Request::Get("/echo", {{"x-id", "warm"}}));
  const int rounds = kSanitized ? 30 : 150;
  const std::string body = PatternBytes(300'000);
  std::mutex mutex;
  std::string problem;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < rounds; ++i) {
        std::string wrong = Echo(*client.channel, absl::StrCat(t, "-", i));
        // Some more than is kept to be sent again.
        if (wrong.empty() && i % 5 == 0)
          wrong = Mirror(*client.channel, body.substr(0, i % 2 == 0 ? 300'000 : 100'000));
        // Given up at any time.
        if (i % 3 == 0) {
          Stream stream = client.channel->Open(Request::Get("/bytes?n=50000"), kTwice, true);
          if (i % 2 == 0) (void)stream.Read();
        }
        const std::lock_guard<std::mutex> lock(mutex);
        if (problem.empty()) problem = wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(problem == "");
  const FactoryStats stats = client.factory->Stats();
  INFO(stats.hedges << " hedges, " << stats.hedges_won << " won, " << stats.losers_drained
                    << " losers drained");
  CHECK(stats.hedges > static_cast<uint64_t>(rounds * kThreads / 2));
  CHECK(stats.hedges_won > 0);
  CHECK(stats.connections_lost == 0);
  client.channel.reset();
  client.factory.reset();
}

}  // namespace weft::inline v0::testing
