// What callbacks may do, against a real server: be slow, block where that is refused, begin new
// calls, destroy what called them (fault 50).
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
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

const CallOptions kPatient = {.timeout = absl::Seconds(60)};

// Set once; waited for with a limit.
class Event {
 public:
  void Set() {
    std::lock_guard<std::mutex> lock(mutex_);
    set_ = true;
    changed_.notify_all();
  }
  bool Wait(std::chrono::seconds patience = std::chrono::seconds(30)) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, patience, [this] { return set_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

bool Echoes(Channel& channel, const std::string& id) {
  const auto response = channel.Call(Request::Get("/echo", {{"x-id", id}}), kPatient);
  return response.ok() && response->body == id;
}

}  // namespace

TEST_CASE("What would block is refused in a callback") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  const Peer node = StartNode();
  const Holdings before = CountHoldings();
  Client client = MakeClient(node);
  Event done;
  absl::Status called;
  absl::Status waited;
  absl::Status finished;
  absl::Status written;
  absl::Status headed;
  CallHandle handle =
      client.channel->Start(Request::Get("/echo"), kPatient, [&](absl::StatusOr<Response>) {
        called = client.channel->Call(Request::Get("/echo")).status();
        waited = client.channel->WaitForReady(absl::Seconds(1));
        Stream stream = client.channel->Open(Request::Post("/mirror"));
        written = stream.Write("x");
        headed = stream.Head().status();
        finished = stream.Finish();
        done.Set();
      });
  REQUIRE(done.Wait());
  for (const absl::Status& status : {called, waited, finished, written, headed}) {
    INFO(status);
    CHECK(absl::IsFailedPrecondition(status));
  }
  CHECK(Echoes(*client.channel, "after"));
  handle.Reset();
  CheckEnd(client, before);
}

// A callback that does not return while four threads make blocking calls through `others`, a
// channel of the same factory. It runs on `executor`, or on its loop's thread where that is null.
static void CheckSlowCallback(Client& client, Channel& others, const Executor* executor) {
  Event entered;
  Event release;
  Event left;
  CallOptions slow = kPatient;
  slow.executor = executor;
  CallHandle handle =
      client.channel->Start(Request::Get("/echo"), slow, [&](absl::StatusOr<Response>) {
        entered.Set();
        release.Wait(std::chrono::seconds(10));
        left.Set();
      });
  REQUIRE(entered.Wait());
  const absl::Time start = absl::Now();
  std::atomic<int> wrong = 0;
  std::atomic<int> answered = 0;
  const CallOptions options = {.timeout = absl::Seconds(5)};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      // Longer than what counts as slow, and some calls at least; not for ever where they are held
      // up.
      for (int i = 0; (i < 50 || absl::Now() - start < absl::Milliseconds(300)) && wrong == 0;
           ++i) {
        const std::string id = absl::StrCat(t, "-", i);
        const auto response = others.Call(Request::Get("/echo", {{"x-id", id}}), options);
        (response.ok() && response->body == id ? answered : wrong).fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const absl::Duration took = absl::Now() - start;
  release.Set();
  CHECK(left.Wait());
  CHECK(wrong == 0);
  CHECK(answered >= 200);
  CHECK(took < absl::Seconds(8));
  if (executor == nullptr) {
    CHECK(Eventually([&] { return client.factory->Stats().slow_callbacks >= 1; }));
  }
}

TEST_CASE("A slow callback does not hold up the calls of its own connection") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  const Peer node = StartNode();
  const Holdings before = CountHoldings();
  Client client = MakeClient(node.target, {}, {.loops = 1});
  CheckSlowCallback(client, *client.channel, nullptr);
  CHECK(client.factory->Stats().connections_opened == 1);
  CheckEnd(client, before);
}

TEST_CASE("Deadlines pass while a callback does not return") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  const Peer node = StartNode();
  const Holdings before = CountHoldings();
  Client client = MakeClient(node.target, {}, {.loops = 1});
  Event entered;
  Event release;
  Event left;
  CallHandle inner;
  Event inner_done;
  CallHandle handle =
      client.channel->Start(Request::Get("/echo"), kPatient, [&](absl::StatusOr<Response>) {
        // It goes through Weft before it gets stuck, and afterwards.
        inner = client.channel->Start(Request::Get("/echo"), kPatient,
                                      [&](absl::StatusOr<Response>) { inner_done.Set(); });
        entered.Set();
        release.Wait(std::chrono::seconds(20));
        inner.Reset();
        left.Set();
      });
  REQUIRE(entered.Wait());
  CHECK(inner_done.Wait());
  const absl::Time start = absl::Now();
  const auto late =
      client.channel->Call(Request::Get("/never"), {.timeout = absl::Milliseconds(50)});
  CHECK(absl::IsDeadlineExceeded(late.status()));
  CHECK(absl::Now() - start < absl::Seconds(5));
  release.Set();
  CHECK(left.Wait());
  handle.Reset();
  CheckEnd(client, before);
}

TEST_CASE("A slow callback does not hold up another host") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  const Peer node = StartNode();
  const Peer other = StartNode();
  const Holdings before = CountHoldings();
  Client client = MakeClient(node.target, {}, {.loops = 2});
  auto others = client.factory->GetChannel(other.target);
  REQUIRE(others.ok());
  REQUIRE((*others)->WaitForReady(absl::Seconds(30)).ok());
  CheckSlowCallback(client, **others, nullptr);
  others->reset();
  CheckEnd(client, before);
}

TEST_CASE("A slow callback on an executor does not hold up the blocking calls on its connection") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  const Peer node = StartNode();
  const Holdings before = CountHoldings();
  Client client = MakeClient(node.target, {}, {.loops = 1});
  std::vector<std::thread> threads;
  const Executor executor = [&](absl::AnyInvocable<void() &&> closure) {
    threads.emplace_back([closure = std::move(closure)]() mutable { std::move(closure)(); });
  };
  CheckSlowCallback(client, *client.channel, &executor);
  for (std::thread& thread : threads) thread.join();
  CHECK(client.factory->Stats().connections_opened == 1);
  CheckEnd(client, before);
}

TEST_CASE("Calls that were begun run at the same time, and are waited for on any thread") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  const Peer node = StartNode();
  const Holdings before = CountHoldings();
  Client client = MakeClient(node.target);
  std::vector<PendingCall> calls;
  for (int i = 0; i < 100; ++i) {
    calls.push_back(
        client.channel->Begin(Request::Get("/echo", {{"x-id", absl::StrCat(i)}}), kPatient));
  }
  std::atomic<size_t> right = 0;
  const auto wait_for = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const auto response = calls[i].Wait();
      if (response.ok() && response->body == absl::StrCat(i)) ++right;
    }
  };
  std::thread other(wait_for, 50, 100);
  wait_for(0, 50);
  other.join();
  CHECK(right == 100);
  CHECK(absl::IsFailedPrecondition(calls[0].Wait().status()));
  CHECK(client.factory->Stats().connections_opened == 1);

  // One that another thread cancels while it is waited for, and one that nobody waits for.
  PendingCall stuck = client.channel->Begin(Request::Get("/never"), kPatient);
  std::thread canceller([&] { stuck.Cancel(); });
  CHECK(absl::IsCancelled(stuck.Wait().status()));
  canceller.join();
  stuck = client.channel->Begin(Request::Get("/never"), kPatient);
  stuck = PendingCall();
  calls.clear();
  CheckEnd(client, before);
}

TEST_CASE("Callbacks begin the next call, each from the one before") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  const Peer node = StartNode();
  const Holdings before = CountHoldings();
  Client client = MakeClient(node);
  constexpr int kChains = 16;
  constexpr int kLength = 200;
  std::atomic<int> wrong = 0;
  std::atomic<int> ended = 0;
  std::function<void(int, int)> next = [&](int chain, int i) {
    const std::string id = absl::StrCat(chain, "-", i);
    client.channel
        ->Start(Request::Get("/echo", {{"x-id", id}}), kPatient,
                [&, id, chain, i](absl::StatusOr<Response> response) {
                  if (!response.ok() || response->body != id) wrong.fetch_add(1);
                  if (i + 1 < kLength) return next(chain, i + 1);
                  ended.fetch_add(1);
                })
        .Detach();
  };
  for (int chain = 0; chain < kChains; ++chain) next(chain, 0);
  CHECK(Eventually([&] { return ended == kChains; }));
  CHECK(wrong == 0);
  CHECK(client.factory->Stats().connections_opened == 1);
  CheckEnd(client, before);
}

TEST_CASE("A callback destroys its handle and cancels the others") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  const Peer node = StartNode();
  const Holdings before = CountHoldings();
  Client client = MakeClient(node);
  std::atomic<int> cancelled = 0;
  std::vector<CallHandle> others;
  for (int i = 0; i < 50; ++i) {
    others.push_back(client.channel->Start(Request::Get("/never"), kPatient,
                                           [&](absl::StatusOr<Response> response) {
                                             if (absl::IsCancelled(response.status()))
                                               cancelled.fetch_add(1);
                                           }));
  }
  CHECK(node.process->Ask("await 50") == "reached 50");
  Event have_handle;
  Event done;
  CallHandle own;
  own = client.channel->Start(Request::Get("/echo"), kPatient, [&](absl::StatusOr<Response>) {
    have_handle.Wait();
    own.Reset();
    for (size_t i = 0; i < 25; ++i) others[i].Cancel();
    for (size_t i = 25; i < 50; ++i) others[i].Reset();
    done.Set();
  });
  have_handle.Set();
  REQUIRE(done.Wait());
  CHECK(Eventually([&] { return cancelled == 25; }));
  CHECK(node.process->Ask("idle") == "idle");
  others.clear();
  CheckEnd(client, before);
  CHECK(cancelled == 25);
}

TEST_CASE("A callback destroys channel and factory") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  for (const Security security : {Security::kPlain, Security::kTls}) {
    const Peer node = StartNode({.security = security});
    const Holdings before = CountHoldings();
    for (int round = 0; round < 20; ++round) {
      Client client = MakeClient(node);
      std::atomic<int> cancelled = 0;
      for (int i = 0; i < 10; ++i) {
        client.channel
            ->Start(Request::Get("/never"), kPatient,
                    [&](absl::StatusOr<Response> response) {
                      if (absl::IsCancelled(response.status())) cancelled.fetch_add(1);
                    })
            .Detach();
      }
      Event done;
      client.channel
          ->Start(Request::Get("/echo"), kPatient,
                  [&](absl::StatusOr<Response>) {
                    // The last references, in either order.
                    if (round % 2 == 0) client.channel.reset();
                    client.factory.reset();
                    client.channel.reset();
                    done.Set();
                  })
          .Detach();
      REQUIRE(done.Wait());
      CHECK(Eventually([&] { return cancelled == 10; }));
    }
    CheckBack(before);
  }
}

TEST_CASE("On an executor callbacks may block") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  const Peer node = StartNode();
  const Holdings before = CountHoldings();
  Client client = MakeClient(node);
  std::mutex mutex;
  std::vector<std::thread> threads;
  const Executor executor = [&](absl::AnyInvocable<void() &&> run) {
    std::lock_guard<std::mutex> lock(mutex);
    threads.emplace_back([run = std::move(run)]() mutable { std::move(run)(); });
  };
  CallOptions options = kPatient;
  options.executor = &executor;
  std::atomic<int> ended = 0;
  std::atomic<int> wrong = 0;
  std::vector<CallHandle> handles;
  for (int i = 0; i < 20; ++i) {
    handles.push_back(client.channel->Start(
        Request::Get("/echo"), options, [&, i](absl::StatusOr<Response> response) {
          if (!response.ok() || !Echoes(*client.channel, absl::StrCat(i))) wrong.fetch_add(1);
          ended.fetch_add(1);
        }));
  }
  CHECK(Eventually([&] { return ended == 20; }));
  handles.clear();
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CheckEnd(client, before);
}

}  // namespace weft::inline v0::testing
