// A server that takes many resets for an attack (rapid reset, CVE-2023-44487) and gives up
// the connection: node, by way of nghttp2, which lets 1000 pass and 33 a second.
#include <iostream>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "peers/client.h"
#include "support/catch.h"

namespace weft::inline v0::testing {
namespace {

// What the server counts under that name.
uint64_t Count(Peer& node, const std::string& name) {
  const std::string stats = node.process->Ask("stats");
  const size_t at = stats.find(" " + name + "=");
  REQUIRE(at != std::string::npos);
  return std::stoull(stats.substr(at + name.size() + 2));
}

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
    absl::SleepFor(absl::Milliseconds(1));  // for the server to see them
    for (CallHandle& call : calls) call.Cancel();
    if (opened() <= 1) resets = client.factory->Stats().resets_sent;
  }
  std::cout << "node: gave up the connection after " << resets << " resets in "
            << absl::FormatDuration(absl::Now() - start) << "\n";
  CHECK(resets >= 900);
  CHECK(resets < 2000);
  CHECK(opened() == 2);
  CHECK(Count(node, "total") == 2);
  CHECK(Count(node, "resets") >= 900);
  CheckEnd(client, before);
}

}  // namespace weft::inline v0::testing
