#include "net/posix_network.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <utility>

#include "net/posix_socket.h"
#include "net/posix_stream.h"

namespace weft::inline v0::net {
namespace {

void SetOption(int fd, int level, int option, int value) {
  setsockopt(fd, level, option, &value, sizeof value);
}

class PosixDial final : public Dial, private ReadyWatcher, private event::Timer {
 public:
  PosixDial(event::Loop& loop, const ConnectOptions& options, DialDone done)
      : loop_(loop), options_(options), done_(std::move(done)) {}
  ~PosixDial() override { loop_.Disarm(this); }

  void Start(const Address& address) {
    const int fd =
        socket(address.socket_address()->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return FailSoon(ConnectError(errno));
    tcp_ = !address.is_unix();
    if (tcp_) SetOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    const bool begun = connect(fd, address.socket_address(), address.socket_address_size()) == 0 ||
                       errno == EINPROGRESS || errno == EINTR;
    if (!begun) {
      const int error = errno;
      close(fd);
      return FailSoon(ConnectError(error));
    }
    // Watched only now: a socket that is not connecting yet would report a hang-up. That it is
    // connected, be it already, is told by the first edge.
    absl::StatusOr<std::unique_ptr<PosixStream>> stream = PosixStream::Create(loop_, fd, this);
    if (!stream.ok()) return FailSoon(std::move(stream).status());
    stream_ = *std::move(stream);
  }

 private:
  // `done` never runs within Connect. A timer, because the dial may be given up before.
  void FailSoon(absl::Status status) {
    failure_ = std::move(status);
    loop_.Arm(this, loop_.now());
  }

  void OnTimer() override { Finish(std::move(failure_)); }

  void OnReady(bool, bool) override {
    int error = 0;
    switch (GetConnectState(stream_->fd(), &error)) {
      case ConnectState::kConnecting:
        return;
      case ConnectState::kConnected:
        return Succeed();
      case ConnectState::kFailed:
        return Fail(error);
      case ConnectState::kToItself:
        // A reset leaves no TIME_WAIT behind, which would keep the port from the server that
        // belongs there.
        constexpr linger kReset{1, 0};
        setsockopt(stream_->fd(), SOL_SOCKET, SO_LINGER, &kReset, sizeof kReset);
        return Fail(ECONNREFUSED);
    }
  }

  void Succeed() {
    // Not before: it would limit the time to connect, too.
    if (tcp_ && options_.user_timeout > base::MonoDuration::zero()) {
      const auto rounded =
          std::chrono::ceil<std::chrono::milliseconds>(options_.user_timeout).count();
      SetOption(stream_->fd(), IPPROTO_TCP, TCP_USER_TIMEOUT,
                static_cast<int>(std::min<int64_t>(rounded, INT_MAX)));
    }
    stream_->SetWatcher(nullptr);
    Finish(std::move(stream_));
  }

  void Fail(int error) {
    stream_.reset();
    Finish(ConnectError(error));
  }

  // Nothing of the dial is touched after `done`, so that it does not matter what becomes of it
  // there.
  void Finish(absl::StatusOr<std::unique_ptr<ByteStream>> result) {
    DialDone done = std::move(done_);
    std::move(done)(std::move(result));
  }

  event::Loop& loop_;
  const ConnectOptions options_;
  DialDone done_;
  absl::Status failure_;
  bool tcp_ = false;
  std::unique_ptr<PosixStream> stream_;
};

}  // namespace

std::unique_ptr<Dial> PosixNetwork::Connect(event::Loop& loop, const Address& address,
                                            const ConnectOptions& options, DialDone done) {
  auto dial = std::make_unique<PosixDial>(loop, options, std::move(done));
  dial->Start(address);
  return dial;
}

}  // namespace weft::inline v0::net
