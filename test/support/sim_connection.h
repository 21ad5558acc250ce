// SimConnection: both ends of one simulated connection and what is between them. Tests use
// SimServerStream and the ByteStream that a dial gave; this is how they work inside.
#ifndef WEFT_TEST_SUPPORT_SIM_CONNECTION_H_
#define WEFT_TEST_SUPPORT_SIM_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"
#include "net/byte_stream.h"
#include "support/sim_loop.h"
#include "support/sim_network.h"

namespace weft::inline v0::testing {

// A FIFO of bytes.
class ByteQueue {
 public:
  size_t size() const { return bytes_.size() - begin_; }
  bool empty() const { return size() == 0; }
  void Append(std::string_view bytes) { bytes_.append(bytes); }
  // Removes and returns the first `size` bytes, or all.
  std::string Take(size_t size);
  void Clear();

 private:
  std::string bytes_;
  size_t begin_ = 0;
};

// One direction.
struct SimPipe {
  struct Segment {
    std::string bytes;
    bool fin = false;
    bool reset = false;
  };
  // Bytes that the sender keeps: not sent, or sent and not acknowledged.
  size_t kept() const { return pending.size() + in_flight; }

  ByteQueue pending;  // written, not sent
  size_t in_flight = 0;
  ByteQueue received;         // arrived, not read
  std::vector<Segment> held;  // by a black hole
  base::MonoTime link_free = base::MonoTime::min();
  base::MonoTime last_arrival = base::MonoTime::min();
  bool fin_written = false;
  bool fin_sent = false;
  bool fin_arrived = false;
  bool reset_sent = false;
};

class SimConnection : public std::enable_shared_from_this<SimConnection> {
 public:
  SimConnection(SimNetwork& network, SimHost& host, std::shared_ptr<SimLoopCore> loop, uint64_t id,
                base::MonoDuration user_timeout);
  SimConnection(const SimConnection&) = delete;
  SimConnection& operator=(const SimConnection&) = delete;

  // The client's end.
  net::IoResult Read(char* to, size_t size);
  net::IoResult Write(std::string_view bytes);
  void SetWatcher(net::ReadyWatcher* watcher);
  void CloseClient();

  // The server's end.
  void ServerWrite(std::string_view bytes);
  void ServerCloseWrite();
  void ServerClose();
  void ServerReset();
  void SetReading(bool on);

  // Both.
  void SetBlackHole(bool on);
  // What a black hole held comes through, if none of the two that there may be is left.
  void Release();
  void ForgetCallbacks();
  // Nothing from the server arrives before that.
  void SetClientReadyAt(base::MonoTime time) { to_client_.last_arrival = time; }

 private:
  friend class SimServerStream;
  friend class SimHost;
  bool black_hole() const;
  size_t ReceiveRoom(const SimPipe& pipe) const;
  // Sends what may be sent.
  void Pump(SimPipe& pipe);
  void Send(SimPipe& pipe, SimPipe::Segment segment);
  void SendReset(SimPipe& pipe);
  void Arrive(SimPipe& pipe, SimPipe::Segment segment);
  void ArriveAtServer(const SimPipe::Segment& segment);
  void ArriveAtClient(const SimPipe::Segment& segment);
  void TellServer();  // OnBytes and OnEnd, where the server reads
  void CloseServerEnd();
  void Fail(absl::Status status);
  // After bytes left the client's send buffer.
  void OnRoom();
  void Edge(bool readable, bool writable);
  void TellWatcher();
  void CheckUserTimeout();

  SimNetwork& network_;
  SimHost& host_;
  const std::shared_ptr<SimLoopCore> loop_;
  const uint64_t id_;
  const base::MonoDuration user_timeout_;
  SimPipe to_server_;
  SimPipe to_client_;
  bool black_hole_ = false;

  bool client_open_ = true;
  absl::Status client_error_;
  net::ReadyWatcher* watcher_ = nullptr;
  // Whether an edge is promised: the last Read or Write said that nothing more was there or could
  // be taken.
  bool read_edge_promised_ = false;
  bool write_edge_promised_ = false;
  bool block_next_write_ = false;
  bool edge_queued_ = false;
  bool edge_readable_ = false;
  bool edge_writable_ = false;
  bool timeout_scheduled_ = false;
  base::MonoTime progress_;

  bool server_open_ = true;
  bool reading_ = true;
  bool end_told_ = false;
  uint64_t bytes_told_ = 0;
  uint64_t bytes_written_ = 0;
  std::function<void(std::string_view)> on_bytes_;
  std::function<void()> on_end_;
  std::function<void()> on_reset_;
};

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_SUPPORT_SIM_CONNECTION_H_
