// The kernel as the peer: Unix sockets, no descriptors left, connections that break while they are
// written to (fault 47, 42).
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "peers/client.h"
#include "support/catch.h"

namespace weft::inline v0::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

const CallOptions kPatient = {.timeout = absl::Seconds(60)};
const CallOptions kWaits = {.timeout = absl::Seconds(60), .wait_for_ready = true};

bool Echoes(Channel& channel, const std::string& id, const CallOptions& options = kPatient) {
  const auto response = channel.Call(Request::Get("/echo", {{"x-id", id}}), options);
  return response.ok() && response->body == id;
}

// While it lives this process can open no descriptor.
class NoDescriptors {
 public:
  NoDescriptors() {
    const int lowest = dup(0);
    close(lowest);
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(lowest);
    if (lowest < 0 || setrlimit(RLIMIT_NOFILE, &none) != 0) throw std::runtime_error("setrlimit");
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

std::atomic<int> pipe_signals = 0;

// Counts SIGPIPE while it lives.
class CountedPipeSignals {
 public:
  CountedPipeSignals() {
    pipe_signals = 0;
    struct sigaction count {};
    count.sa_handler = [](int) { pipe_signals.fetch_add(1); };
    sigaction(SIGPIPE, &count, &before_);
  }
  ~CountedPipeSignals() { sigaction(SIGPIPE, &before_, nullptr); }
  CountedPipeSignals(const CountedPipeSignals&) = delete;
  CountedPipeSignals& operator=(const CountedPipeSignals&) = delete;

 private:
  struct sigaction before_ {};
};

}  // namespace

TEST_CASE("Calls over a Unix socket") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  const Peer node = StartNode({.unix_socket = true});
  const Holdings before = CountHoldings();
  Client client = MakeClient(node);
  Load load{.threads = 16, .calls = std::max(10, CallsPerThread() / 10)};
  load.request = [](const std::string& id) { return Request::Get("/echo", {{"x-id", id}}); };
  load.id = [](const Response& response) { return response.body; };
  const LoadReport report = Run(*client.channel, 0, load);
  INFO(report.problem);
  CHECK(report.answered == static_cast<uint64_t>(load.threads) * static_cast<uint64_t>(load.calls));
  CHECK(report.failed + report.crossed == 0);
  const std::string large = PatternBytes(5'000'000);
  const auto mirrored = client.channel->Call(Request::Post("/mirror", large), kPatient);
  CHECK((mirrored.ok() && mirrored->body == large));
  CHECK(client.factory->Stats().connections_opened == 1);
  CHECK(node.process->Ask("stats").find("total=1 open=1") != std::string::npos);
  CheckEnd(client, before);

  // The other way to write the same address: "unix:" and "unix://".
  const NothingLeft nothing_left;
  Client again = MakeClient(absl::StrCat("unix://", node.target.substr(5)));
  CHECK(Echoes(*again.channel, "again"));
}

TEST_CASE("A Unix socket that goes and comes back") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  Peer node = StartNode({.unix_socket = true});
  const std::string path = node.target.substr(5);
  const std::string moved = node.files->File("moved.sock");
  const NothingLeft nothing_left;
  const Client client = MakeClient(node);
  CHECK(Echoes(*client.channel, "one"));
  // The connection is there; the name is not needed.
  REQUIRE(rename(path.c_str(), moved.c_str()) == 0);
  CHECK(Echoes(*client.channel, "two"));
  const auto nowhere = MakeClient(node.target).channel->Call(Request::Get("/echo"), kPatient);
  CHECK_THAT(std::string(nowhere.status().message()), ContainsSubstring("no such socket"));
  CHECK(absl::IsUnavailable(nowhere.status()));

  REQUIRE(rename(moved.c_str(), path.c_str()) == 0);
  node.process->Kill(SIGKILL);
  node.process->Wait();
  const auto refused = MakeClient(node.target).channel->Call(Request::Get("/echo"), kPatient);
  CHECK_THAT(std::string(refused.status().message()), ContainsSubstring("refused the connection"));
}

TEST_CASE("Without a descriptor left, dials fail clearly and recover") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  for (const Security security : {Security::kPlain, Security::kTls}) {
    const Peer node = StartNode({.security = security});
    const Holdings before = CountHoldings();
    const ChannelFactory::Options options = {.connection = {.reconnect_max = absl::Seconds(1)}};
    Client connected = MakeClient(node.target, node.channel, options);
    REQUIRE(Echoes(*connected.channel, "before"));
    Client client = MakeClient(node.target, node.channel, options);
    absl::Status failed;
    absl::Status no_factory;
    bool goes_on = true;
    {
      const NoDescriptors none;
      failed = client.channel->Call(Request::Get("/echo"), kPatient).status();
      no_factory = ChannelFactory::Create().status();
      // What is connected needs none.
      for (int i = 0; i < 100; ++i)
        goes_on = goes_on && Echoes(*connected.channel, absl::StrCat(i));
    }
    INFO(failed << "\n" << no_factory);
    CHECK_THAT(std::string(failed.message()), ContainsSubstring("EMFILE"));
    const auto error = GetCallError(failed);
    CHECK((error.has_value() && error->processed == Processed::kNotSent));
    CHECK(absl::IsResourceExhausted(no_factory));
    CHECK(goes_on);
    CHECK(Echoes(*client.channel, "recovered", kWaits));
    CHECK(client.factory->Stats().dial_failures >= 1);
    client.channel.reset();
    client.factory.reset();
    CheckEnd(connected, before);
  }
}

TEST_CASE("A connection that breaks while it is written to raises no SIGPIPE") {
  if (const std::string missing = MissingProgram("nghttpd"); !missing.empty()) WEFT_SKIP(missing);
  const CountedPipeSignals counted;
  for (int i = 0; i < 20; ++i) {
    const Peer server = StartNghttpd(i % 2 == 0 ? Security::kPlain : Security::kTls);
    const NothingLeft nothing_left;
    const Client client = MakeClient(server);
    Stream stream = client.channel->Open(Request::Post("/"), kPatient);
    // The second has room only when most of the first has left.
    REQUIRE(stream.Write(std::string(100'000, 'x')).ok());
    REQUIRE(stream.Write(std::string(100'000, 'x')).ok());
    server.process->Kill(SIGKILL);
    // Until it is known; the server's end takes nothing any more.
    absl::Status status;
    while (status.ok()) status = stream.Write(std::string(100'000, 'x'));
    const absl::Status finished = stream.Finish();
    INFO(finished);
    CHECK(absl::IsUnavailable(finished));
    const auto error = GetCallError(finished);
    CHECK((error.has_value() && error->processed == Processed::kMaybeProcessed));
  }
  CHECK(pipe_signals == 0);
}

}  // namespace weft::inline v0::testing
