#include "support/sim_network.h"

#include <utility>

#include "base/check.h"
#include "support/sim_connection.h"
#include "support/sim_loop.h"

namespace weft::inline v0::testing {
namespace {

class SimByteStream final : public net::ByteStream {
 public:
  explicit SimByteStream(std::shared_ptr<SimConnection> connection)
      : connection_(std::move(connection)) {}
  ~SimByteStream() override { connection_->CloseClient(); }
  net::IoResult Read(char* to, size_t size) override { return connection_->Read(to, size); }
  net::IoResult Write(std::string_view bytes) override { return connection_->Write(bytes); }
  void SetWatcher(net::ReadyWatcher* watcher) override { connection_->SetWatcher(watcher); }

 private:
  const std::shared_ptr<SimConnection> connection_;
};

}  // namespace

// Dialling ------------------------------------------------------------------------------------

// What a dial and the network share while it goes on.
struct SimNetwork::Dialled : std::enable_shared_from_this<SimNetwork::Dialled> {
  Dialled(SimNetwork& of, SimHost& to) : network(of), host(to) {}

  // Tells the user in the descriptor phase of the loop's next turn.
  void Finish(absl::Status result) {
    error = std::move(result);
    if (!error.ok()) {
      ++host.stats.refused;
      ReleaseDescriptor();
    }
    loop->AddReady([self = shared_from_this()] { self->Tell(); });
  }
  void Tell() {
    if (done == nullptr) return;
    net::DialDone tell = std::exchange(done, nullptr);
    if (!error.ok()) return std::move(tell)(error);
    std::move(tell)(std::make_unique<SimByteStream>(std::exchange(connection, nullptr)));
  }
  void GiveUp() {
    done = nullptr;
    ReleaseDescriptor();
    // The descriptor was handed to the connection.
    if (auto accepted = std::exchange(connection, nullptr)) accepted->CloseClient();
  }
  void ReleaseDescriptor() {
    if (std::exchange(counted, false)) --network.descriptors_;
  }

  SimNetwork& network;
  SimHost& host;
  std::shared_ptr<SimLoopCore> loop;
  base::MonoDuration user_timeout{0};
  net::DialDone done;  // null once called or given up
  absl::Status error;
  DialFault fault = DialFault::kNone;
  bool counted = false;  // as a descriptor
  int syns = 0;
  std::shared_ptr<SimConnection> connection;  // accepted, not yet handed over
};

class SimNetwork::Dialling final : public net::Dial {
 public:
  explicit Dialling(std::shared_ptr<Dialled> state) : state_(std::move(state)) {}
  ~Dialling() override { state_->GiveUp(); }

 private:
  const std::shared_ptr<Dialled> state_;
};

std::unique_ptr<net::Dial> SimNetwork::Connect(event::Loop& loop, const net::Address& address,
                                               const net::ConnectOptions& options,
                                               net::DialDone done) {
  SimHost& to = host(address.text());
  ++to.stats.dials;
  auto state = std::make_shared<Dialled>(*this, to);
  state->loop = static_cast<SimLoop&>(loop).core();
  state->user_timeout = options.user_timeout;
  state->done = std::move(done);
  state->fault = to.NextFault();
  if (state->fault == DialFault::kNoDescriptors || descriptors_ >= descriptor_limit) {
    state->Finish(absl::ResourceExhaustedError("cannot be connected to: Too many open files"));
  } else {
    ++descriptors_;
    state->counted = true;
    events_.After(Delay(to), [this, state] { AnswerDial(state); });
  }
  return std::make_unique<Dialling>(std::move(state));
}

// A SYN arrived at the host.
void SimNetwork::AnswerDial(const std::shared_ptr<Dialled>& dial) {
  if (dial->done == nullptr || dial->fault == DialFault::kBlackHole) return;
  SimHost& to = dial->host;
  if (to.black_hole_) {
    // Sent again after 1, 2, 4 … s, as TCP does; a healed link is found so.
    const auto again = std::chrono::seconds(1 << dial->syns);
    if (++dial->syns > 6) return dial->Finish(absl::UnavailableError("timed out"));
    events_.After(again, [this, dial] { AnswerDial(dial); });
    return;
  }
  absl::Status error;
  if (dial->fault == DialFault::kUnreachable) {
    error = absl::UnavailableError("is unreachable");
  } else if (dial->fault == DialFault::kReset) {
    error = absl::UnavailableError("reset the connection");
  } else if (dial->fault == DialFault::kRefuse || !to.listening()) {
    error = absl::UnavailableError("refused the connection");
  }
  const base::MonoTime answered = base::After(events_.clock().Now(), Delay(to));
  if (!error.ok()) {
    events_.At(answered, [dial, error] {
      if (dial->done != nullptr) dial->Finish(error);
    });
    return;
  }
  auto connection =
      std::make_shared<SimConnection>(*this, to, dial->loop, ++last_id_, dial->user_timeout);
  ++to.stats.accepted;
  ++to.stats.open;
  ++to.stats.open_at_server;
  std::erase_if(to.connections_, [](const auto& weak) { return weak.expired(); });
  to.connections_.push_back(connection);
  dial->counted = false;
  dial->connection = connection;
  connection->SetClientReadyAt(answered);
  events_.At(answered, [dial] {
    if (dial->done != nullptr) dial->Finish(absl::OkStatus());
  });
  const SimHost::OnAccept on_accept = to.on_accept_;
  on_accept(SimServerStream(connection));
}

base::MonoDuration SimNetwork::Delay(const SimHost& host) {
  base::MonoDuration delay = host.link.latency;
  if (host.link.jitter.count() > 0) {
    delay += base::MonoDuration(random_.Below(static_cast<uint64_t>(host.link.jitter.count()) + 1));
  }
  return delay;
}

// SimNetwork ----------------------------------------------------------------------------------

SimHost& SimNetwork::host(std::string_view address) {
  auto found = hosts_.find(address);
  if (found == hosts_.end()) {
    found = hosts_.emplace(std::string(address), std::make_unique<SimHost>()).first;
    found->second->link = default_link;
  }
  return *found->second;
}

SimHost& SimNetwork::Listen(std::string_view address, SimHost::OnAccept on_accept) {
  SimHost& at = host(address);
  at.Listen(std::move(on_accept));
  return at;
}

SimStats SimNetwork::total() const {
  SimStats sum;
  for (const auto& [name, host] : hosts_) {
    const SimStats& stats = host->stats;
    sum.dials += stats.dials;
    sum.refused += stats.refused;
    sum.accepted += stats.accepted;
    sum.open += stats.open;
    sum.open_at_server += stats.open_at_server;
    sum.bytes_to_server += stats.bytes_to_server;
    sum.bytes_to_client += stats.bytes_to_client;
  }
  return sum;
}

void SimNetwork::Shutdown() {
  for (auto& [name, host] : hosts_) {
    host->StopListening();
    for (const auto& weak : host->connections_) {
      if (auto connection = weak.lock()) connection->ForgetCallbacks();
    }
  }
}

// SimHost -------------------------------------------------------------------------------------

void SimHost::FailDials(DialFault fault, uint64_t count) {
  fault_ = fault;
  fault_count_ = count;
}

DialFault SimHost::NextFault() {
  if (fault_count_ == 0) return DialFault::kNone;
  if (fault_count_ != UINT64_MAX) --fault_count_;
  return fault_;
}

void SimHost::SetBlackHole(bool on) {
  black_hole_ = on;
  if (on) return;
  for (SimServerStream stream : connections()) stream.connection_->Release();
}

void SimHost::ResetAll() {
  for (SimServerStream stream : connections()) stream.Reset();
}

std::vector<SimServerStream> SimHost::connections() {
  std::vector<SimServerStream> live;
  for (const auto& weak : connections_) {
    auto connection = weak.lock();
    if (connection != nullptr && (connection->client_open_ || connection->server_open_)) {
      live.push_back(SimServerStream(std::move(connection)));
    }
  }
  return live;
}

// SimServerStream -----------------------------------------------------------------------------

SimServerStream::SimServerStream(std::shared_ptr<SimConnection> connection)
    : connection_(std::move(connection)) {}

void SimServerStream::OnBytes(std::function<void(std::string_view)> on_bytes) {
  connection_->on_bytes_ = std::move(on_bytes);
  connection_->SetReading(connection_->reading_);
}

void SimServerStream::OnEnd(std::function<void()> on_end) {
  connection_->on_end_ = std::move(on_end);
}

void SimServerStream::OnReset(std::function<void()> on_reset) {
  connection_->on_reset_ = std::move(on_reset);
}

void SimServerStream::Write(std::string_view bytes) { connection_->ServerWrite(bytes); }
void SimServerStream::CloseWrite() { connection_->ServerCloseWrite(); }
void SimServerStream::Close() { connection_->ServerClose(); }
void SimServerStream::Reset() { connection_->ServerReset(); }
void SimServerStream::StopReading() { connection_->SetReading(false); }
void SimServerStream::ResumeReading() { connection_->SetReading(true); }
void SimServerStream::SetBlackHole(bool on) { connection_->SetBlackHole(on); }
uint64_t SimServerStream::id() const { return connection_->id_; }
bool SimServerStream::closed() const { return !connection_->server_open_; }
bool SimServerStream::client_closed() const { return !connection_->client_open_; }
uint64_t SimServerStream::bytes_received() const { return connection_->bytes_told_; }
uint64_t SimServerStream::bytes_written() const { return connection_->bytes_written_; }
size_t SimServerStream::unread() const { return connection_->to_server_.received.size(); }
size_t SimServerStream::unsent() const { return connection_->to_client_.pending.size(); }

}  // namespace weft::inline v0::testing
