#include "support/sim_network.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "support/catch.h"
#include "support/sim_env.h"

namespace weft::inline v0::testing {
namespace {

using namespace std::chrono_literals;
using Kind = net::IoResult::Kind;

constexpr char kAddress[] = "10.0.0.1:80";

// A client that keeps strictly to the contract: it reads and writes only after edges.
class Client : net::ReadyWatcher {
 public:
  explicit Client(SimEnv& env) : loop_(*env.NewLoop(0, nullptr)), env_(env) {}
  ~Client() { stream.reset(); }

  void Dial(net::ConnectOptions options = {}) {
    dial = env_.network().Connect(*loop_, *net::Address::Parse(kAddress), options,
                                  [this](absl::StatusOr<std::unique_ptr<net::ByteStream>> result) {
                                    CHECK(loop_->IsCurrent());
                                    dialled = result.status();
                                    if (!result.ok()) return;
                                    stream = *std::move(result);
                                    stream->SetWatcher(this);
                                  });
    CHECK_FALSE(dialled.has_value());
  }
  void OnReady(bool readable, bool writable) override {
    ++edges;
    if (readable && reading) ReadAll();
    if (writable) WriteAll();
  }
  void ReadAll() {
    char buffer[4096];
    while (!ended && status.ok()) {
      net::IoResult got = stream->Read(buffer, sizeof buffer);
      if (got.kind == Kind::kBlocked) return;
      ++reads;
      if (got.kind == Kind::kOk) received.append(buffer, got.bytes);
      if (got.kind == Kind::kEnd) ended = true;
      if (got.kind == Kind::kFailed) status = got.status;
      if (got.drained) return;
    }
  }
  void WriteAll() {
    while (!to_send.empty() && status.ok()) {
      net::IoResult put = stream->Write(to_send);
      if (put.kind == Kind::kBlocked) {
        ++blocked;
        return;
      }
      if (put.kind == Kind::kFailed) status = put.status;
      to_send.erase(0, put.bytes);
    }
  }

  std::unique_ptr<event::Loop> loop_;
  SimEnv& env_;
  std::unique_ptr<net::Dial> dial;
  std::unique_ptr<net::ByteStream> stream;
  std::optional<absl::Status> dialled;
  std::string received;
  std::string to_send;
  absl::Status status;
  bool ended = false;
  bool reading = true;
  int edges = 0;
  int reads = 0;
  int blocked = 0;
};

std::string Pattern(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 7 + i / 251);
  return text;
}

struct World {
  explicit World(uint64_t seed = TestSeed()) : env(seed), host(env.network().host(kAddress)) {
    host.Listen([this](SimServerStream accepted) {
      server = accepted;
      server.OnBytes([this](std::string_view bytes) { got += bytes; });
      server.OnEnd([this] { end = true; });
      server.OnReset([this] { reset = true; });
    });
  }
  SimEnv env;
  SimHost& host;
  SimServerStream server;
  std::string got;
  bool end = false;
  bool reset = false;
  Client client{env};
};

TEST_CASE("Bytes go both ways under every kind of link") {
  World w;
  WEFT_SEED_INFO(w.env);
  const size_t chunk = GENERATE(0, 1, 3, 1000);
  const size_t step = GENERATE(0, 1, 7);
  w.host.link.chunk = chunk;
  w.host.link.max_read = step;
  w.host.link.max_write = step;
  w.host.link.block_between_writes = step == 1;
  w.host.link.spurious_edges = step == 7;
  w.host.link.jitter = 50us;
  w.host.link.send_buffer = 300;
  w.host.link.receive_buffer = 200;
  w.client.to_send = Pattern(5000);
  w.client.Dial();
  REQUIRE(w.env.RunUntil([&] { return w.client.stream != nullptr; }, 1s));
  w.server.Write(Pattern(6000));
  w.server.CloseWrite();
  REQUIRE(w.env.RunUntil([&] { return w.client.ended && w.got.size() == 5000; }, 60s));
  CHECK(w.client.received == Pattern(6000));
  CHECK(w.got == Pattern(5000));
  CHECK(w.client.blocked > 0);
  w.client.stream.reset();
  REQUIRE(w.env.RunUntil([&] { return w.end; }, 1s));
  w.server.Close();
  CHECK(w.env.RunUntilIdle());
  CHECK(w.host.stats.open == 0);
  CHECK(w.host.stats.open_at_server == 0);
  CHECK(w.host.stats.bytes_to_server == 5000);
  CHECK(w.host.stats.bytes_to_client == 6000);
}

TEST_CASE("One byte at a time arrives in turns of its own") {
  World w;
  w.host.link.chunk = 1;
  w.client.Dial();
  REQUIRE(w.env.RunUntil([&] { return w.client.stream != nullptr; }, 1s));
  w.env.RunUntilIdle();
  w.client.reads = 0;
  w.server.Write(Pattern(100));
  CHECK(w.env.RunUntilIdle());
  CHECK(w.client.reads == 100);
}

TEST_CASE("Latency and bandwidth take their time") {
  World w;
  w.host.link.latency = 10ms;
  w.host.link.bytes_per_second = 1000;
  const base::MonoTime start = w.env.Now();
  w.client.Dial();
  REQUIRE(w.env.RunUntil([&] { return w.client.stream != nullptr; }, 1s));
  CHECK(w.env.Now() == start + 20ms);
  w.server.Write(Pattern(500));
  REQUIRE(w.env.RunUntil([&] { return w.client.received.size() == 500; }, 10s));
  CHECK(w.env.Now() == start + 20ms + 500ms + 10ms);
}

TEST_CASE("A server that does not read fills the buffers and no more") {
  World w;
  w.host.link.send_buffer = 1000;
  w.host.link.receive_buffer = 500;
  w.client.to_send = Pattern(5000);
  w.client.Dial();
  REQUIRE(w.env.RunUntil([&] { return bool{w.server}; }, 1s));
  w.server.StopReading();
  CHECK(w.env.RunUntilIdle());
  CHECK(w.client.to_send.size() == 3500);
  CHECK(w.server.unread() == 500);
  w.server.ResumeReading();
  CHECK(w.env.RunUntilIdle());
  CHECK(w.got == Pattern(5000));
}

TEST_CASE("A client that does not read holds the server back") {
  World w;
  w.host.link.receive_buffer = 500;
  w.client.reading = false;
  w.client.Dial();
  REQUIRE(w.env.RunUntil([&] { return w.client.stream != nullptr; }, 1s));
  w.server.Write(Pattern(2000));
  CHECK(w.env.RunUntilIdle());
  CHECK(w.server.unsent() == 1500);
  w.client.reading = true;
  w.client.ReadAll();
  CHECK(w.env.RunUntilIdle());
  CHECK(w.client.received == Pattern(2000));
}

TEST_CASE("Dials fail in the way asked for, as often as asked for") {
  World w;
  auto [fault, code] =
      GENERATE(std::pair(DialFault::kRefuse, absl::StatusCode::kUnavailable),
               std::pair(DialFault::kReset, absl::StatusCode::kUnavailable),
               std::pair(DialFault::kUnreachable, absl::StatusCode::kUnavailable),
               std::pair(DialFault::kNoDescriptors, absl::StatusCode::kResourceExhausted));
  w.host.FailDials(fault, 1);
  w.client.Dial();
  REQUIRE(w.env.RunUntil([&] { return w.client.dialled.has_value(); }, 1s));
  CHECK(w.client.dialled->code() == code);
  w.client.dialled.reset();
  w.client.Dial();
  REQUIRE(w.env.RunUntil([&] { return w.client.dialled.has_value(); }, 1s));
  CHECK(w.client.dialled->ok());
  CHECK(w.host.stats.accepted == 1);
  CHECK(w.host.stats.refused == 1);
}

TEST_CASE("A dial into a black hole never ends, and may be given up") {
  World w;
  w.host.FailDials(DialFault::kBlackHole);
  w.client.Dial();
  w.env.RunFor(10min);
  CHECK_FALSE(w.client.dialled.has_value());
  w.env.network().descriptor_limit = 1;
  w.client.dial.reset();
  w.host.FailDials(DialFault::kNone);
  w.client.Dial();
  w.env.RunFor(1s);
  REQUIRE(w.client.dialled.has_value());
  CHECK(w.client.dialled->ok());
}

TEST_CASE("A dial that is given up half way leaves nothing open") {
  World w;
  w.host.link.latency = 1s;
  const base::MonoDuration when = GENERATE(base::MonoDuration(500ms), base::MonoDuration(1500ms));
  w.client.Dial();
  w.env.RunFor(when);
  w.client.dial.reset();
  w.env.RunFor(10s);
  CHECK_FALSE(w.client.dialled.has_value());
  CHECK(w.host.stats.open == 0);
  CHECK(w.end == (when == 1500ms));
}

TEST_CASE("Descriptors run out") {
  World w;
  w.env.network().descriptor_limit = 1;
  w.client.Dial();
  w.env.RunFor(1s);
  REQUIRE(w.client.dialled->ok());
  Client second(w.env);
  second.Dial();
  w.env.RunFor(1s);
  CHECK(second.dialled->code() == absl::StatusCode::kResourceExhausted);
  w.client.stream.reset();
  second.dialled.reset();
  second.Dial();
  w.env.RunFor(1s);
  CHECK(second.dialled->ok());
}

TEST_CASE("A reset fails both directions, after what had arrived was read") {
  World w;
  w.client.reading = false;
  w.client.Dial();
  REQUIRE(w.env.RunUntil([&] { return w.client.stream != nullptr; }, 1s));
  w.server.Write("last words");
  w.env.RunFor(1s);
  w.server.Reset();
  w.env.RunFor(1s);
  CHECK(w.client.stream->Write("x").kind == Kind::kFailed);
  w.client.ReadAll();
  CHECK(w.client.received == "last words");
  CHECK(w.client.status.code() == absl::StatusCode::kUnavailable);
}

TEST_CASE("After a half-close the client still writes, after a close it is reset") {
  World w;
  w.client.Dial();
  REQUIRE(w.env.RunUntil([&] { return w.client.stream != nullptr; }, 1s));
  w.env.RunFor(1s);
  w.server.CloseWrite();
  w.env.RunFor(1s);
  CHECK(w.client.ended);
  CHECK(w.client.stream->Write("still").kind == Kind::kOk);
  w.env.RunFor(1s);
  CHECK(w.got == "still");
  w.server.Close();
  CHECK(w.client.stream->Write("too late").kind == Kind::kOk);
  w.env.RunFor(1s);
  CHECK(w.client.stream->Write("x").kind == Kind::kFailed);
}

TEST_CASE("Closing with unread bytes resets, without does not") {
  World w;
  const bool unread = GENERATE(false, true);
  w.client.reading = !unread;
  w.client.Dial();
  REQUIRE(w.env.RunUntil([&] { return w.client.stream != nullptr; }, 1s));
  w.server.Write("hello");
  w.env.RunFor(1s);
  w.client.stream.reset();
  w.env.RunFor(1s);
  CHECK(w.reset == unread);
  CHECK(w.end == !unread);
}

TEST_CASE("A black hole swallows all and gives it back when healed") {
  World w;
  w.client.Dial();
  REQUIRE(w.env.RunUntil([&] { return w.client.stream != nullptr; }, 1s));
  w.env.RunFor(1s);
  w.host.SetBlackHole(true);
  w.server.Write("to client");
  CHECK(w.client.stream->Write("to server").kind == Kind::kOk);
  w.env.RunFor(10min);
  CHECK(w.client.received.empty());
  CHECK(w.got.empty());
  w.host.SetBlackHole(false);
  w.env.RunFor(1s);
  CHECK(w.client.received == "to client");
  CHECK(w.got == "to server");
}

TEST_CASE("TCP_USER_TIMEOUT ends a connection whose bytes nobody acknowledges") {
  World w;
  w.client.Dial({.user_timeout = 5s});
  REQUIRE(w.env.RunUntil([&] { return w.client.stream != nullptr; }, 1s));
  w.env.RunFor(1s);
  CHECK(w.client.stream->Write("fine").kind == Kind::kOk);
  w.env.RunFor(20s);
  CHECK(w.client.status.ok());
  w.host.SetBlackHole(true);
  CHECK(w.client.stream->Write("lost").kind == Kind::kOk);
  w.env.RunFor(4s);
  CHECK(w.client.status.ok());
  w.env.RunFor(2s);
  CHECK(w.client.status.code() == absl::StatusCode::kUnavailable);
}

TEST_CASE("Edges come only where they are promised") {
  World w;
  w.client.Dial();
  REQUIRE(w.env.RunUntil([&] { return w.client.stream != nullptr; }, 1s));
  w.env.RunFor(1s);
  w.client.reading = false;
  w.client.edges = 0;
  w.server.Write("a");
  w.env.RunFor(1s);
  CHECK(w.client.edges == 1);
  w.server.Write("b");  // the client never said that it had read all
  w.env.RunFor(1s);
  CHECK(w.client.edges == 1);
  char c[8];
  net::IoResult got = w.client.stream->Read(c, 2);
  CHECK(got.bytes == 2);
  CHECK_FALSE(got.drained);  // the buffer is full: it cannot know
  w.server.Write("c");
  w.env.RunFor(1s);
  CHECK(w.client.edges == 1);
  got = w.client.stream->Read(c, 2);
  CHECK(got.drained);
  w.server.Write("d");
  w.env.RunFor(1s);
  CHECK(w.client.edges == 2);
}

TEST_CASE("The same seed gives the same run of a network") {
  auto run = [](uint64_t seed) {
    World w(seed);
    w.host.link.jitter = 1ms;
    w.host.link.chunk = 10;
    w.host.link.spurious_edges = true;
    w.client.to_send = Pattern(1000);
    w.client.Dial();
    w.env.RunFor(10s);
    return w.env.digest();
  };
  CHECK(run(3) == run(3));
  CHECK(run(3) != run(4));
}

}  // namespace
}  // namespace weft::inline v0::testing
