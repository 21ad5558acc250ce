// TLS over real sockets, on real loops, with more than one thread at a stream: what a simulation of
// one thread cannot show, and what ThreadSanitizer is to see. It runs on the real clock, and
// depends on it only to give up.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "event/epoll_loop.h"
#include "net/posix_network.h"
#include "net/tls.h"
#include "net/tls_harness.h"
#include "support/catch.h"

namespace weft::inline v0::testing {
namespace {

// Answers every byte with itself, a thread per connection.
class EchoServer {
 public:
  explicit EchoServer(const TlsServerContext& context)
      : context_(context), fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(bind(fd_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(listen(fd_, 64) == 0);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    acceptor_ = std::thread([this] {
      for (int fd; (fd = accept(fd_, nullptr, nullptr)) >= 0;) {
        connections_.emplace_back([this, fd] { Serve(fd); });
      }
    });
  }
  ~EchoServer() {
    shutdown(fd_, SHUT_RDWR);
    acceptor_.join();
    for (std::thread& one : connections_) one.join();
    close(fd_);
  }
  const std::string& address() const { return address_; }
  int resumed() const { return resumed_; }

 private:
  void Serve(int fd) {
    SSL* ssl = SSL_new(context_.get());
    SSL_set_fd(ssl, fd);
    char buffer[16384];
    if (SSL_accept(ssl) == 1) {
      resumed_ += SSL_session_reused(ssl);
      for (int size; (size = SSL_read(ssl, buffer, sizeof buffer)) > 0;) {
        if (SSL_write(ssl, buffer, size) <= 0) break;
      }
    }
    SSL_free(ssl);
    close(fd);
  }

  const TlsServerContext& context_;
  const int fd_;
  std::string address_;
  std::atomic<int> resumed_{0};
  std::thread acceptor_;
  std::vector<std::thread> connections_;  // the acceptor's, until it ended
};

// Sends and gets back `size` bytes over one connection, driven by its loop and by threads of the
// caller.
class EchoClient final : public net::ReadyWatcher {
 public:
  EchoClient(event::Loop& loop, net::TlsContext& context,
             std::shared_ptr<net::TlsSessionCache> sessions, const std::string& address,
             std::string bytes)
      : loop_(loop),
        context_(context),
        sessions_(std::move(sessions)),
        address_(address),
        bytes_(std::move(bytes)) {
    loop_.PostFunction([this] {
      dial_ = network_.Connect(loop_, *net::Address::Parse(address_), {}, [this](auto raw) {
        if (!raw.ok()) return Finish(std::string(raw.status().message()));
        loop_.DeleteLater(std::move(dial_));
        dial_ =
            context_.Handshake(loop_, *std::move(raw), kTlsName, sessions_, [this](auto stream) {
              loop_.DeleteLater(std::move(dial_));
              if (!stream.ok()) return Finish(std::string(stream.status().message()));
              {
                std::lock_guard<std::mutex> lock(mutex_);
                stream_ = *std::move(stream);
              }
              stream_->SetWatcher(this);
            });
      });
    });
  }

  // Any thread.
  void Drive() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stream_ == nullptr || done_) return;
    char buffer[20'000];
    for (;;) {
      net::IoResult result = stream_->Read(buffer, sizeof buffer);
      if (result.kind == net::IoResult::Kind::kBlocked) break;
      if (result.kind != net::IoResult::Kind::kOk)
        return Finish(std::string(result.status.message()));
      received_.append(buffer, result.bytes);
      if (result.drained) break;
    }
    while (sent_ < bytes_.size()) {
      net::IoResult result = stream_->Write(std::string_view(bytes_).substr(sent_, 50'000));
      if (result.kind == net::IoResult::Kind::kBlocked) break;
      if (result.kind != net::IoResult::Kind::kOk)
        return Finish(std::string(result.status.message()));
      sent_ += result.bytes;
    }
    if (received_.size() == bytes_.size())
      Finish(received_ == bytes_ ? "" : "other bytes came back");
  }
  bool done() const { return done_; }
  // Closes the stream on its loop and says what went wrong.
  std::string Close() {
    std::mutex mutex;
    std::condition_variable changed;
    bool closed = false;
    loop_.PostFunction([&] {
      stream_.reset();
      std::lock_guard<std::mutex> lock(mutex);
      closed = true;
      changed.notify_one();
    });
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return closed; });
    return error_;
  }

 private:
  void OnReady(bool, bool) override { Drive(); }
  void Finish(std::string error) {
    error_ = std::move(error);
    done_ = true;
  }

  event::Loop& loop_;
  net::TlsContext& context_;
  const std::shared_ptr<net::TlsSessionCache> sessions_;
  const std::string address_;
  const std::string bytes_;
  net::PosixNetwork network_;
  std::unique_ptr<net::Dial> dial_;
  std::mutex mutex_;
  std::unique_ptr<net::ByteStream> stream_;
  size_t sent_ = 0;
  std::string received_;
  std::string error_;
  std::atomic<bool> done_{false};
};

TEST_CASE("tls: real sockets, several loops and threads, one context and session cache") {
  const TestCertificate ca = MakeCa("Weft Test CA");
  const TlsServerContext server_context(
      {.certificate = MakeCertificate({.dns_names = {kTlsName}}, &ca)});
  EchoServer server(server_context);
  std::atomic<uint64_t> slow_turns{0};
  std::vector<std::unique_ptr<event::EpollLoop>> loops;
  for (int i = 0; i < 2; ++i) loops.push_back(*event::EpollLoop::Start("test", &slow_turns));
  const std::shared_ptr<net::TlsContext> context = MakeTlsContext({.ca_pem = ca.pem});
  auto sessions = std::make_shared<net::TlsSessionCache>();
  for (int round = 0; round < 3; ++round) {
    std::vector<std::unique_ptr<EchoClient>> clients;
    for (int i = 0; i < 4; ++i) {
      std::string bytes(200'000 + static_cast<size_t>(i), static_cast<char>('a' + i));
      clients.push_back(std::make_unique<EchoClient>(*loops[static_cast<size_t>(i) % 2], *context,
                                                     sessions, server.address(), std::move(bytes)));
    }
    std::vector<std::thread> callers;
    for (int i = 0; i < 2; ++i) {
      callers.emplace_back([&clients] {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        for (auto& client : clients) {
          while (!client->done() && std::chrono::steady_clock::now() < until) {
            for (auto& each : clients) each->Drive();
            std::this_thread::yield();
          }
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    for (auto& client : clients) {
      CHECK(client->done());
      CHECK(client->Close() == "");
    }
  }
  CHECK(server.resumed() > 0);
}

}  // namespace
}  // namespace weft::inline v0::testing
