#include "support/sim_connection.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace weft::inline v0::testing {
namespace {

// Larger than any buffer on the way, so that what may be sent goes at once.
constexpr size_t kSegment = 64 << 10;

size_t Limited(size_t size, size_t limit) { return limit == 0 ? size : std::min(size, limit); }

}  // namespace

std::string ByteQueue::Take(size_t size) {
  size = std::min(size, this->size());
  std::string taken = bytes_.substr(begin_, size);
  begin_ += size;
  if (begin_ == bytes_.size() || begin_ > (size_t{1} << 20)) {
    bytes_.erase(0, begin_);
    begin_ = 0;
  }
  return taken;
}

void ByteQueue::Clear() {
  bytes_.clear();
  begin_ = 0;
}

SimConnection::SimConnection(SimNetwork& network, SimHost& host, std::shared_ptr<SimLoopCore> loop,
                             uint64_t id, base::MonoDuration user_timeout)
    : network_(network),
      host_(host),
      loop_(std::move(loop)),
      id_(id),
      user_timeout_(user_timeout) {}

// The link ------------------------------------------------------------------------------------

bool SimConnection::black_hole() const { return black_hole_ || host_.black_hole_; }

size_t SimConnection::ReceiveRoom(const SimPipe& pipe) const {
  // An end that is closed takes everything: its kernel answers with RST.
  const bool open = &pipe == &to_server_ ? server_open_ : client_open_;
  if (!open) return SIZE_MAX;
  const size_t used = pipe.in_flight + pipe.received.size();
  return used < host_.link.receive_buffer ? host_.link.receive_buffer - used : 0;
}

void SimConnection::Pump(SimPipe& pipe) {
  if (pipe.reset_sent) return;
  while (!pipe.pending.empty()) {
    const size_t room = ReceiveRoom(pipe);
    if (room == 0) return;
    SimPipe::Segment segment;
    segment.bytes = pipe.pending.Take(std::min(room, Limited(kSegment, host_.link.chunk)));
    pipe.in_flight += segment.bytes.size();
    Send(pipe, std::move(segment));
  }
  if (pipe.fin_written && !pipe.fin_sent) {
    pipe.fin_sent = true;
    SimPipe::Segment segment;
    segment.fin = true;
    Send(pipe, std::move(segment));
  }
}

void SimConnection::Send(SimPipe& pipe, SimPipe::Segment segment) {
  const LinkOptions& link = host_.link;
  base::MonoTime leaves = std::max(network_.events_.clock().Now(), pipe.link_free);
  if (link.bytes_per_second > 0) {
    leaves += base::MonoDuration(segment.bytes.size() * 1'000'000'000 / link.bytes_per_second);
    pipe.link_free = leaves;
  }
  base::MonoTime arrives = base::After(leaves, network_.Delay(host_));
  const base::MonoDuration gap{link.chunk > 0 ? 1000 : 0};
  arrives = std::max(arrives, pipe.last_arrival + gap);
  pipe.last_arrival = arrives;
  network_.events_.At(arrives,
                      [self = shared_from_this(), &pipe, segment = std::move(segment)]() mutable {
                        self->Arrive(pipe, std::move(segment));
                      });
}

void SimConnection::SendReset(SimPipe& pipe) {
  if (pipe.reset_sent) return;
  pipe.reset_sent = true;
  pipe.pending.Clear();
  SimPipe::Segment segment;
  segment.reset = true;
  Send(pipe, std::move(segment));
}

void SimConnection::Arrive(SimPipe& pipe, SimPipe::Segment segment) {
  if (black_hole()) {
    pipe.held.push_back(std::move(segment));
    return;
  }
  const bool at_server = &pipe == &to_server_;
  pipe.in_flight -= segment.bytes.size();
  network_.digest_ = network_.digest_ * 1099511628211ULL +
                     (id_ * 2 + (at_server ? 1 : 0)) * 1000003 + segment.bytes.size() * 4 +
                     (segment.fin ? 2 : 0) + (segment.reset ? 1 : 0);
  (at_server ? host_.stats.bytes_to_server : host_.stats.bytes_to_client) += segment.bytes.size();
  if (at_server) {
    progress_ = network_.events_.clock().Now();
    ArriveAtServer(segment);
    OnRoom();
  } else {
    ArriveAtClient(segment);
  }
  Pump(pipe);
}

void SimConnection::SetBlackHole(bool on) {
  black_hole_ = on;
  if (!on) Release();
}

void SimConnection::Release() {
  if (black_hole()) return;
  for (SimPipe* pipe : {&to_server_, &to_client_}) {
    for (SimPipe::Segment& segment : std::exchange(pipe->held, {}))
      Arrive(*pipe, std::move(segment));
  }
}

// The client's end ----------------------------------------------------------------------------

net::IoResult SimConnection::Read(char* to, size_t size) {
  WEFT_DCHECK(client_open_ && size > 0);
  if (!to_client_.received.empty()) {
    const std::string bytes = to_client_.received.Take(Limited(size, host_.link.max_read));
    std::memcpy(to, bytes.data(), bytes.size());
    Pump(to_client_);
    // As with recv: a read that filled its buffer does not know whether there is more.
    const bool drained = to_client_.received.empty() && bytes.size() < size &&
                         !to_client_.fin_arrived && client_error_.ok();
    read_edge_promised_ = drained;
    return net::IoResult::Ok(bytes.size(), drained);
  }
  if (!client_error_.ok()) return net::IoResult::Failed(client_error_);
  if (to_client_.fin_arrived) return net::IoResult::End();
  read_edge_promised_ = true;
  return net::IoResult::Blocked();
}

net::IoResult SimConnection::Write(std::string_view bytes) {
  WEFT_DCHECK(client_open_ && !bytes.empty());
  if (!client_error_.ok()) return net::IoResult::Failed(client_error_);
  const LinkOptions& link = host_.link;
  if (std::exchange(block_next_write_, false)) {
    write_edge_promised_ = true;
    network_.events_.After(std::chrono::microseconds(1),
                           [self = shared_from_this()] { self->OnRoom(); });
    return net::IoResult::Blocked();
  }
  const size_t kept = to_server_.kept();
  if (kept >= link.send_buffer) {
    write_edge_promised_ = true;
    return net::IoResult::Blocked();
  }
  bytes = bytes.substr(0, Limited(std::min(bytes.size(), link.send_buffer - kept), link.max_write));
  if (kept == 0) progress_ = network_.events_.clock().Now();
  to_server_.pending.Append(bytes);
  block_next_write_ = link.block_between_writes;
  Pump(to_server_);
  if (user_timeout_ > base::MonoDuration(0) && !std::exchange(timeout_scheduled_, true)) {
    network_.events_.After(user_timeout_,
                           [self = shared_from_this()] { self->CheckUserTimeout(); });
  }
  return net::IoResult::Ok(bytes.size());
}

void SimConnection::SetWatcher(net::ReadyWatcher* watcher) {
  watcher_ = watcher;
  if (watcher != nullptr) Edge(true, true);
}

void SimConnection::CloseClient() {
  if (!std::exchange(client_open_, false)) return;
  watcher_ = nullptr;
  --host_.stats.open;
  --network_.descriptors_;
  if (!client_error_.ok()) return;
  if (!to_client_.received.empty()) return SendReset(to_server_);  // as TCP does with unread bytes
  to_server_.fin_written = true;
  Pump(to_server_);
  Pump(to_client_);
}

void SimConnection::ArriveAtClient(const SimPipe::Segment& segment) {
  if (!client_open_) {
    if (!segment.bytes.empty()) SendReset(to_server_);
    return;
  }
  if (!client_error_.ok()) return;
  if (segment.reset) return Fail(absl::UnavailableError("reset the connection"));
  to_client_.received.Append(segment.bytes);
  if (segment.fin) to_client_.fin_arrived = true;
  const bool spurious = host_.link.spurious_edges && network_.random_.Below(2) == 0;
  if (std::exchange(read_edge_promised_, false) || spurious) Edge(true, false);
}

void SimConnection::Fail(absl::Status status) {
  client_error_ = std::move(status);
  to_server_.pending.Clear();
  to_server_.reset_sent = true;
  Edge(true, true);
}

void SimConnection::OnRoom() {
  if (!client_open_ || !write_edge_promised_) return;
  if (client_error_.ok() && to_server_.kept() >= host_.link.send_buffer) return;
  write_edge_promised_ = false;
  Edge(false, true);
}

void SimConnection::Edge(bool readable, bool writable) {
  if (watcher_ == nullptr) return;
  if (host_.link.spurious_edges && network_.random_.Below(4) == 0) readable = writable = true;
  edge_readable_ |= readable;
  edge_writable_ |= writable;
  if (std::exchange(edge_queued_, true)) return;
  loop_->AddReady([weak = weak_from_this()] {
    if (std::shared_ptr<SimConnection> self = weak.lock()) self->TellWatcher();
  });
}

void SimConnection::TellWatcher() {
  edge_queued_ = false;
  const bool readable = std::exchange(edge_readable_, false);
  const bool writable = std::exchange(edge_writable_, false);
  if (watcher_ != nullptr) watcher_->OnReady(readable, writable);
}

void SimConnection::CheckUserTimeout() {
  timeout_scheduled_ = false;
  if (!client_open_ || !client_error_.ok() || to_server_.kept() == 0) return;
  const base::MonoTime due = base::After(progress_, user_timeout_);
  if (due <= network_.events_.clock().Now()) {
    SendReset(to_server_);
    return Fail(absl::UnavailableError("timed out"));
  }
  timeout_scheduled_ = true;
  network_.events_.At(due, [self = shared_from_this()] { self->CheckUserTimeout(); });
}

// The server's end ----------------------------------------------------------------------------

void SimConnection::ServerWrite(std::string_view bytes) {
  if (!server_open_ || to_client_.fin_written) return;
  bytes_written_ += bytes.size();
  to_client_.pending.Append(bytes);
  Pump(to_client_);
}

void SimConnection::ServerCloseWrite() {
  if (!server_open_) return;
  to_client_.fin_written = true;
  Pump(to_client_);
}

void SimConnection::ServerClose() {
  if (!server_open_) return;
  if (!to_server_.received.empty()) return ServerReset();
  to_client_.fin_written = true;
  CloseServerEnd();
  Pump(to_client_);
  Pump(to_server_);
}

void SimConnection::ServerReset() {
  if (!server_open_) return;
  CloseServerEnd();
  to_server_.received.Clear();
  SendReset(to_client_);
}

void SimConnection::CloseServerEnd() {
  if (std::exchange(server_open_, false)) --host_.stats.open_at_server;
}

void SimConnection::SetReading(bool on) {
  reading_ = on;
  if (!on) return;
  TellServer();
  Pump(to_server_);
}

void SimConnection::ArriveAtServer(const SimPipe::Segment& segment) {
  if (!server_open_) {
    if (!segment.bytes.empty()) SendReset(to_client_);
    return;
  }
  if (segment.reset) {
    CloseServerEnd();
    to_server_.received.Clear();
    to_client_.pending.Clear();
    to_client_.reset_sent = true;
    if (std::function<void()> on_reset = on_reset_) on_reset();
    return;
  }
  to_server_.received.Append(segment.bytes);
  if (segment.fin) to_server_.fin_arrived = true;
  TellServer();
}

void SimConnection::TellServer() {
  std::shared_ptr<SimConnection> self = shared_from_this();
  if (reading_ && server_open_ && on_bytes_ != nullptr && !to_server_.received.empty()) {
    const std::string bytes = to_server_.received.Take(to_server_.received.size());
    bytes_told_ += bytes.size();
    const std::function<void(std::string_view)> on_bytes = on_bytes_;
    on_bytes(bytes);
  }
  if (reading_ && server_open_ && to_server_.received.empty() && to_server_.fin_arrived &&
      !end_told_) {
    end_told_ = true;
    if (std::function<void()> on_end = on_end_) on_end();
  }
}

void SimConnection::ForgetCallbacks() {
  on_bytes_ = nullptr;
  on_end_ = nullptr;
  on_reset_ = nullptr;
}

}  // namespace weft::inline v0::testing
