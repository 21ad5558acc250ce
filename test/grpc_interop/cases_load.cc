#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "grpc_interop/cases.h"
#include "grpc_interop/checks.h"
#include "grpc_interop/wire.h"

namespace weft::inline v0::testing {
namespace {

// Environment variable WEFT_PEER_CALLS, as in the other tests against real servers.
int CallsOr(int otherwise) {
  const char* calls = std::getenv("WEFT_PEER_CALLS");  // NOLINT(concurrency-mt-unsafe)
  return calls != nullptr ? std::max(1, std::atoi(calls)) : otherwise;
}

// One call that sends the id in three places. Empty where it came back in all of them.
std::string CallWithId(InteropClient& client, const std::string& id) {
  SimpleRequest request;
  request.set_echo_payload(true);
  request.mutable_payload()->set_body(id);
  const std::string bytes = absl::StrCat(id, std::string("\0\xff", 2));
  const InteropReply<SimpleResponse> reply =
      client.Unary(request, {.metadata = {{kEchoInitial, id}, {kEchoTrailing, bytes}}});
  if (!reply.ok()) return absl::StrCat("code ", static_cast<int>(reply.code), ", ", reply.message);
  if (reply.reply.payload().body() != id) return "the message of another call than " + id;
  if (ValuesOf(reply.initial, kEchoInitial) != std::vector<std::string>{id}) {
    return "the initial metadata of another call than " + id;
  }
  if (ValuesOf(reply.trailing, kEchoTrailing) != std::vector<std::string>{bytes}) {
    return "the trailing metadata of another call than " + id;
  }
  return "";
}

}  // namespace

void Soak(InteropBed& bed) {
  const int calls = CallsOr(200);
  const SimpleRequest request = LargeRequest();
  int right = 0;
  for (int i = 0; i < calls; ++i) {
    const InteropReply<SimpleResponse> reply = bed.client.Unary(request);
    if (reply.ok() && IsZeros(reply.reply.payload().body(), kLargeResponse)) ++right;
  }
  CHECK(right == calls);
}

void ManyThreads(InteropBed& bed) {
  constexpr int kThreads = 64;
  const int calls = CallsOr(25);
  bed.server.ForgetPeers();
  std::mutex mutex;  // of the two below
  int right = 0;
  std::vector<std::string> problems;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      int mine = 0;
      std::string problem;
      for (int i = 0; i < calls && problem.empty(); ++i) {
        problem = CallWithId(bed.client, absl::StrCat(t, "-", i));
        if (problem.empty()) ++mine;
      }
      std::lock_guard<std::mutex> lock(mutex);
      right += mine;
      if (!problem.empty()) problems.push_back(problem);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(problems == std::vector<std::string>{});
  CHECK(right == kThreads * calls);
  // As the server saw it, and as this process's kernel does.
  CHECK(bed.server.CountPeers() == 1);
  CHECK(CountWire(bed.server.port()).connections == 1);
}

}  // namespace weft::inline v0::testing
