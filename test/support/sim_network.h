// SimNetwork: net::Network in virtual time, with everything that goes wrong on a real one.
// sim_env.h shows its use.
//
//   ByteStream ── send buffer ──▶ link ──▶ receive buffer ── SimServerStream
//    (client)  ◀── receive buffer ◀── link ◀── send buffer ──    (server)
//
// The client's end is strict: an edge comes only where the contract of net/byte_stream.h promises
// one, so that code which relies on more hangs here and is found out. Flow control is TCP's in
// short: what is unread at the receiver fills its receive buffer, then the sender's send buffer,
// then Write blocks. Acknowledgements take no time. The server's send buffer is unbounded.
#ifndef WEFT_TEST_SUPPORT_SIM_NETWORK_H_
#define WEFT_TEST_SUPPORT_SIM_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "net/network.h"
#include "support/sim_clock.h"

namespace weft::inline v0::testing {

class SimConnection;
class SimNetwork;

// Of one address. Changes hold at once, for open connections too.
struct LinkOptions {
  base::MonoDuration latency = std::chrono::microseconds(100);  // one way
  base::MonoDuration jitter{0};       // 0 … that much more, by chance; order is kept
  uint64_t bytes_per_second = 0;      // of each connection and direction; 0: no limit
  size_t send_buffer = 256 << 10;     // the client's
  size_t receive_buffer = 256 << 10;  // of both ends
  // At most so many bytes arrive at once, and every such piece at a time of its own; 0: no limit.
  size_t chunk = 0;
  // The client's Read and Write move at most so many bytes; 0: no limit.
  size_t max_read = 0;
  size_t max_write = 0;
  bool block_between_writes = false;  // after each Write that took something, one blocks
  bool spurious_edges = false;        // flags set without need, by chance
};

enum class DialFault {
  kNone,
  kRefuse,         // RST to the SYN; what happens without a listener too
  kReset,          // RST while dialling, after the SYN was answered
  kUnreachable,    // ICMP
  kBlackHole,      // never an answer
  kNoDescriptors,  // EMFILE: RESOURCE_EXHAUSTED, at once
};

struct SimStats {
  uint64_t dials = 0;            // begun
  uint64_t refused = 0;          // failed in any way
  uint64_t accepted = 0;         // connections so far
  uint64_t open = 0;             // connections whose client end is open now
  uint64_t open_at_server = 0;   // whose server end is
  uint64_t bytes_to_server = 0;  // arrived
  uint64_t bytes_to_client = 0;
};

// The server's end of a connection: a handle, freely copied; dropping it closes nothing. Callbacks
// come at the instant of arrival, outside of every loop.
class SimServerStream {
 public:
  SimServerStream() = default;
  explicit SimServerStream(std::shared_ptr<SimConnection> connection);

  // What arrived before is told at once.
  void OnBytes(std::function<void(std::string_view)> on_bytes);
  void OnEnd(std::function<void()> on_end);      // the client closed its side in order
  void OnReset(std::function<void()> on_reset);  // RST: both sides are gone

  void Write(std::string_view bytes);  // takes all; nothing happens after the end
  void CloseWrite();                   // half-close: FIN after what was written
  void Close();                        // both sides; what still arrives is answered by RST
  void Reset();                        // RST; what was written and did not leave is lost
  void StopReading();                  // the receive buffer fills up
  void ResumeReading();
  // From now on bytes, FIN and RST vanish both ways; false brings them, in order.
  void SetBlackHole(bool on);

  uint64_t id() const;  // 1, 2, … in order of acceptance, per network
  bool closed() const;  // at this end, by whoever
  bool client_closed() const;
  uint64_t bytes_received() const;  // told to OnBytes
  uint64_t bytes_written() const;   // taken by Write
  size_t unread() const;            // arrived, kept back by StopReading
  size_t unsent() const;            // written, and no room at the client yet
  explicit operator bool() const { return connection_ != nullptr; }

 private:
  friend class SimHost;
  std::shared_ptr<SimConnection> connection_;
};

// One address: who listens, how far away it is, what is wrong with it.
class SimHost {
 public:
  using OnAccept = std::function<void(SimServerStream)>;

  SimHost() = default;
  SimHost(const SimHost&) = delete;
  SimHost& operator=(const SimHost&) = delete;

  LinkOptions link;
  SimStats stats;

  void Listen(OnAccept on_accept) { on_accept_ = std::move(on_accept); }
  // Accepts connections and says nothing.
  void ListenSilently() {
    Listen([](SimServerStream) {});
  }
  void StopListening() { on_accept_ = nullptr; }  // dials are refused; connections stay
  bool listening() const { return on_accept_ != nullptr; }

  // The next `count` dials fail so; further ones do not.
  void FailDials(DialFault fault, uint64_t count = UINT64_MAX);
  // Nothing reaches it and nothing comes from it, SYNs included.
  void SetBlackHole(bool on);
  // RST to every open connection.
  void ResetAll();
  std::vector<SimServerStream> connections();  // those that are not closed at both ends

 private:
  friend class SimNetwork;
  friend class SimConnection;
  DialFault NextFault();
  OnAccept on_accept_;
  DialFault fault_ = DialFault::kNone;
  uint64_t fault_count_ = 0;
  bool black_hole_ = false;
  std::vector<std::weak_ptr<SimConnection>> connections_;
};

class SimNetwork final : public net::Network {
 public:
  SimNetwork(SimEvents& events, base::Random random) : events_(events), random_(random) {}
  ~SimNetwork() override { Shutdown(); }

  // `loop` must be a SimLoop.
  std::unique_ptr<net::Dial> Connect(event::Loop& loop, const net::Address& address,
                                     const net::ConnectOptions& options,
                                     net::DialDone done) override;

  // By the address's canonical text; made where it is new. Lives as long as the network.
  SimHost& host(std::string_view address);
  SimHost& Listen(std::string_view address, SimHost::OnAccept on_accept);
  const SimStats& stats(std::string_view address) { return host(address).stats; }
  // The sums of all hosts.
  SimStats total() const;

  // Client ends and dials that may exist at a time; beyond that Connect fails as with EMFILE.
  size_t descriptor_limit = SIZE_MAX;
  // New hosts get these.
  LinkOptions default_link;

  uint64_t digest() const { return digest_; }
  // Forgets all callbacks; for the environment's end.
  void Shutdown();

 private:
  friend class SimConnection;
  class Dialling;
  struct Dialled;
  void AnswerDial(const std::shared_ptr<Dialled>& dial);
  base::MonoDuration Delay(const SimHost& host);

  SimEvents& events_;
  base::Random random_;
  std::map<std::string, std::unique_ptr<SimHost>, std::less<>> hosts_;
  size_t descriptors_ = 0;
  uint64_t last_id_ = 0;
  uint64_t digest_ = 0;
};

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_SUPPORT_SIM_NETWORK_H_
