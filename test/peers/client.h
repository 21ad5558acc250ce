// What the tests against real servers share: a client and its orderly end, what the kernel knows of
// this process, and a load whose every answer has to be the one that was asked for.
#ifndef WEFT_TEST_PEERS_CLIENT_H_
#define WEFT_TEST_PEERS_CLIENT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "peers/peers.h"
#include "support/sanitizers.h"
#include "weft/weft.h"

namespace weft::inline v0::testing {

inline constexpr bool kSanitized = WEFT_ASAN || WEFT_TSAN;

struct Client {
  std::shared_ptr<ChannelFactory> factory;
  std::shared_ptr<Channel> channel;
};

// Throws where that fails.
Client MakeClient(std::string_view target, const ChannelOptions& channel = {},
                  const ChannelFactory::Options& options = {});
inline Client MakeClient(const Peer& peer) { return MakeClient(peer.target, peer.channel); }

// Descriptors and threads of this process.
struct Holdings {
  size_t descriptors = 0;
  size_t threads = 0;
};
Holdings CountHoldings();
// Checks that they are, before long, as they were `before`: a loop's thread may end after the
// factory.
void CheckBack(const Holdings& before);
// Does so at the end of its scope.
class NothingLeft {
 public:
  NothingLeft() : before_(CountHoldings()) {}
  ~NothingLeft() { CheckBack(before_); }
  NothingLeft(const NothingLeft&) = delete;
  NothingLeft& operator=(const NothingLeft&) = delete;

 private:
  const Holdings before_;
};

// Checks that nothing is in flight, destroys channel and factory, and checks that this is quick and
// leaves nothing behind.
void CheckEnd(Client& client, const Holdings& before);

// Connections to 127.0.0.1:port that are established, as the kernel counts them at the server's
// end.
size_t CountConnections(uint16_t port);

// Bytes of memory that are resident.
size_t ResidentBytes();

// Environment variable WEFT_PEER_CALLS; if it is not set, 10,000 (200 under a sanitizer, which is
// some fifty times slower).
int CallsPerThread();

struct Load {
  int threads = 64;
  int calls = 0;  // per thread
  // Ids are "<thread>-<n>", each other than all that are under way; n starts again from 0 at this
  // number.
  int ids_per_thread = 1 << 30;
  std::function<Request(const std::string& id)> request = {};
  // The id that an answer carries; another string where it is not a whole answer.
  std::function<std::string(const Response&)> id = {};
  CallOptions options = {.timeout = absl::Seconds(60)};
  // Where there is one, calls go on beyond their number until it is true.
  const std::atomic<bool>* until = nullptr;
};

struct LoadReport {
  uint64_t answered = 0;
  uint64_t failed = 0;   // no answer, or a status that is not 200
  uint64_t crossed = 0;  // the answer to another request
  std::string problem;   // the first of these
  // What the server called the connection (x-connection), of all answers that say it.
  std::set<std::string> connections;
  size_t most_connections = 0;  // established at a time, looked at every 20 ms
  absl::Duration took;
};

// Blocking calls from many threads at once.
LoadReport Run(Channel& channel, uint16_t port, const Load& load);

// GET /echo of node, nginx and HAProxy, which all answer with x-id in the headers and in the body.
Load EchoLoad();
// The unary call of echo.proto, by hand.
Load GrpcLoad();
// The message of echo.proto: {bytes payload = 1}.
std::string ProtoMessage(std::string_view payload);

// Bodies to recognise: byte i as http2_server.js has it for /bytes.
std::string PatternBytes(size_t size);

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_PEERS_CLIENT_H_
