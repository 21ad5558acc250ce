#include "net/tls_harness.h"

#include <utility>
#include <vector>

#include "support/catch.h"

namespace weft::inline v0::testing {

using std::chrono::seconds;

StreamOwner::StreamOwner(std::unique_ptr<net::ByteStream> stream, size_t read_size)
    : stream_(std::move(stream)), read_size_(read_size) {
  stream_->SetWatcher(this);
}

void StreamOwner::Send(std::string_view bytes) {
  queue_.append(bytes);
  WriteAll();
}

void StreamOwner::Resume() {
  paused_ = false;
  ReadAll();
}

void StreamOwner::OnReady(bool readable, bool writable) {
  if (readable) ReadAll();
  if (writable) WriteAll();
}

void StreamOwner::ReadAll() {
  std::vector<char> buffer(read_size_);
  while (!paused_ && !ended_ && failure_.ok()) {
    net::IoResult result = stream_->Read(buffer.data(), buffer.size());
    if (result.kind == net::IoResult::Kind::kOk) {
      received_.append(buffer.data(), result.bytes);
      // Not one read more than the contract asks for, so that a wrong `drained` hangs the test.
      if (result.drained) return;
    } else if (result.kind == net::IoResult::Kind::kBlocked) {
      return;
    } else {
      ended_ = result.kind == net::IoResult::Kind::kEnd;
      failure_ = std::move(result.status);
    }
  }
}

void StreamOwner::WriteAll() {
  while (!queue_.empty() && failure_.ok()) {
    net::IoResult result = stream_->Write(queue_);
    if (result.kind == net::IoResult::Kind::kBlocked) return;
    if (result.kind == net::IoResult::Kind::kFailed) failure_ = std::move(result.status);
    queue_.erase(0, result.bytes);
  }
}

TlsHarness::TlsHarness(TlsServerOptions server) : server_context_(server) {
  loop_ = *env_.NewLoop(0, &slow_turns_);
  env_.network().Listen(kTlsAddress, [this](SimServerStream stream) {
    if (on_accept) return on_accept(stream);
    server_ = TlsServer::Start(server_context_, stream);
  });
}

TlsHarness::~TlsHarness() = default;

void TlsHarness::StartDial(net::TlsContext& context, const std::string& name,
                           std::shared_ptr<net::TlsSessionCache> sessions) {
  done_ = false;
  status_ = absl::OkStatus();
  owner_.reset();
  dial_.reset();
  server_.reset();
  auto finish = [this](absl::StatusOr<std::unique_ptr<net::ByteStream>> stream) {
    REQUIRE(loop_->IsCurrent());
    REQUIRE(!std::exchange(done_, true));
    status_ = stream.status();
    if (stream.ok()) owner_ = std::make_unique<StreamOwner>(*std::move(stream), read_size);
    loop_->DeleteLater(std::move(dial_));
  };
  auto shake = [this, &context, name, sessions = std::move(sessions),
                finish](absl::StatusOr<std::unique_ptr<net::ByteStream>> raw) mutable {
    REQUIRE(raw.ok());
    dial_ = context.Handshake(*loop_, *std::move(raw), name, std::move(sessions), finish);
    REQUIRE(!done_);
  };
  raw_dial_ =
      env_.network().Connect(*loop_, *net::Address::Parse(kTlsAddress), {}, std::move(shake));
}

bool TlsHarness::Connect(net::TlsContext& context, const std::string& name,
                         std::shared_ptr<net::TlsSessionCache> sessions) {
  StartDial(context, name, std::move(sessions));
  REQUIRE(env_.RunUntil([this] { return done_; }, seconds(5)));
  Run();
  return status_.ok();
}

bool TlsHarness::Connect(const TestCertificate& ca, const std::string& name) {
  return Connect(*MakeTlsContext({.ca_pem = ca.pem}), name);
}

TlsOptions ToOptions(const TlsFiles& files) {
  TlsOptions options;
  options.ca_file = files.ca_file;
  options.ca_pem = files.ca_pem;
  options.certificate_file = files.certificate_file;
  options.key_file = files.key_file;
  return options;
}

std::shared_ptr<net::TlsContext> MakeTlsContext(const TlsFiles& files) {
  absl::StatusOr<std::shared_ptr<net::TlsContext>> context =
      net::TlsContext::Create(ToOptions(files));
  INFO(context.status().ToString());
  REQUIRE(context.ok());
  return *std::move(context);
}

}  // namespace weft::inline v0::testing
