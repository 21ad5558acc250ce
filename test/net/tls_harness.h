// TlsHarness: a client's TLS stream and the test's TLS server on one simulated connection.
#ifndef WEFT_TEST_NET_TLS_HARNESS_H_
#define WEFT_TEST_NET_TLS_HARNESS_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "net/tls.h"
#include "support/certificates.h"
#include "support/sim_env.h"
#include "support/tls_server.h"

namespace weft::inline v0::testing {

inline constexpr char kTlsAddress[] = "10.0.0.1:443";
inline constexpr char kTlsName[] = "a.test";

// What a pool does with a stream: reads all that is there at every edge, writes what is queued.
class StreamOwner final : public net::ReadyWatcher {
 public:
  StreamOwner(std::unique_ptr<net::ByteStream> stream, size_t read_size);
  ~StreamOwner() { stream_->SetWatcher(nullptr); }

  void Send(std::string_view bytes);
  const std::string& received() const { return received_; }
  size_t unsent() const { return queue_.size(); }
  bool ended() const { return ended_; }
  const absl::Status& failure() const { return failure_; }  // of reading or writing
  std::string error() const { return std::string(failure_.message()); }
  net::ByteStream& stream() { return *stream_; }
  void Pause() { paused_ = true; }
  void Resume();

 private:
  void OnReady(bool readable, bool writable) override;
  void ReadAll();
  void WriteAll();

  std::unique_ptr<net::ByteStream> stream_;
  const size_t read_size_;
  std::string queue_;
  std::string received_;
  bool paused_ = false;
  bool ended_ = false;
  absl::Status failure_;
};

class TlsHarness {
 public:
  explicit TlsHarness(TlsServerOptions server);
  ~TlsHarness();

  SimEnv& env() { return env_; }
  SimHost& host() { return env_.network().host(kTlsAddress); }

  // Connects and shakes hands as a client of `context`; the outcome is in owner() or error().
  bool Connect(net::TlsContext& context, const std::string& name = kTlsName,
               std::shared_ptr<net::TlsSessionCache> sessions = nullptr);
  // The same, where nothing but ca_pem matters.
  bool Connect(const TestCertificate& ca, const std::string& name = kTlsName);

  // Step by step.
  void StartDial(net::TlsContext& context, const std::string& name,
                 std::shared_ptr<net::TlsSessionCache> sessions);
  void CancelDial() {
    raw_dial_.reset();
    dial_.reset();
  }
  bool done() const { return done_; }

  StreamOwner& owner() { return *owner_; }
  void DropOwner() { owner_.reset(); }
  TlsServer& server() { return *server_; }
  std::shared_ptr<TlsServer> shared_server() { return server_; }
  const absl::Status& status() const { return status_; }
  std::string error() const { return std::string(status_.message()); }
  void Run() { env_.RunFor(std::chrono::milliseconds(20)); }

  size_t read_size = 16384;
  // Instead of a TLS server.
  SimHost::OnAccept on_accept;

 private:
  SimEnv env_;
  std::atomic<uint64_t> slow_turns_{0};
  std::unique_ptr<event::Loop> loop_;
  TlsServerContext server_context_;
  std::shared_ptr<TlsServer> server_;
  std::unique_ptr<net::Dial> raw_dial_;
  std::unique_ptr<net::Dial> dial_;
  std::unique_ptr<StreamOwner> owner_;
  bool done_ = false;
  absl::Status status_;
};

struct TlsFiles {
  std::string ca_file = {};
  std::string ca_pem = {};
  std::string certificate_file = {};
  std::string key_file = {};
};
TlsOptions ToOptions(const TlsFiles& files);
// Fails the test where there is an error.
std::shared_ptr<net::TlsContext> MakeTlsContext(const TlsFiles& files);

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_NET_TLS_HARNESS_H_
