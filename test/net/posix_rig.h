// What the tests of PosixNetwork and its streams share: listeners of this machine, and a real loop.
#ifndef WEFT_TEST_NET_POSIX_RIG_H_
#define WEFT_TEST_NET_POSIX_RIG_H_

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "event/on_loop.h"
#include "net/address.h"
#include "net/env.h"
#include "net/network.h"
#include "net/posix_stream.h"
#include "support/catch.h"

namespace weft::net {

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) { REQUIRE(fd >= 0); }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Fd() { Close(); }
  int get() const { return fd_; }
  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }
  // So that closing it sends a reset.
  void Reset() {
    const linger reset{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    Close();
  }

 private:
  int fd_;
};

// Listens on a free port of 127.0.0.1 or on a Unix socket.
class Listener {
 public:
  enum Kind { kTcp, kUnix };
  explicit Listener(Kind kind = kTcp, int backlog = 16)
      : fd_(socket(kind == kTcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (kind == kTcp) {
      sockaddr_in any{};
      any.sin_family = AF_INET;
      any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      socklen_t size = sizeof any;
      REQUIRE(bind(fd_.get(), reinterpret_cast<sockaddr*>(&any), sizeof any) == 0);
      REQUIRE(getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&any), &size) == 0);
      text_ = "127.0.0.1:" + std::to_string(ntohs(any.sin_port));
    } else {
      char folder[] = "/tmp/weft_posix_network_XXXXXX";
      REQUIRE(mkdtemp(folder) != nullptr);
      folder_ = folder;
      text_ = "unix:" + folder_ + "/socket";
      REQUIRE(bind(fd_.get(), address().socket_address(), address().socket_address_size()) == 0);
    }
    REQUIRE(listen(fd_.get(), backlog) == 0);
  }
  ~Listener() {
    if (folder_.empty()) return;
    unlink((folder_ + "/socket").c_str());
    rmdir(folder_.c_str());
  }
  Address address() const { return *Address::Parse(text_); }
  Fd Accept() { return Fd(accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC)); }
  void Close() { fd_.Close(); }

 private:
  Fd fd_;
  std::string folder_;
  std::string text_;
};

class FnWatcher final : public ReadyWatcher {
 public:
  explicit FnWatcher(std::function<void(bool, bool)> fn) : fn_(std::move(fn)) {}
  void OnReady(bool readable, bool writable) override { fn_(readable, writable); }

 private:
  std::function<void(bool, bool)> fn_;
};

inline size_t OpenFiles() {
  size_t count = 0;
  DIR* folder = opendir("/proc/self/fd");
  REQUIRE(folder != nullptr);
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

inline void WaitReadable(int fd) {
  pollfd wait{fd, POLLIN, 0};
  REQUIRE(poll(&wait, 1, 30000) == 1);
}

using StreamOr = absl::StatusOr<std::unique_ptr<ByteStream>>;

// A loop, and one connection of it.
struct Fixture {
  std::shared_ptr<Env> env = SystemEnv();
  std::unique_ptr<event::Loop> loop = *env->NewLoop(0, nullptr);
  std::unique_ptr<Dial> dial;
  std::unique_ptr<ByteStream> stream;

  ~Fixture() {
    testing::On(*loop, [this] {
      dial.reset();
      stream.reset();
    });
  }

  StreamOr Connect(const Address& address, const ConnectOptions& options = {}) {
    std::promise<StreamOr> promise;
    std::future<StreamOr> result = promise.get_future();
    testing::On(*loop, [&] {
      auto inside = std::make_shared<bool>(true);
      dial = env->network().Connect(*loop, address, options, [&, inside](StreamOr done) {
        if (*inside) done = absl::InternalError("done within Connect");
        if (!loop->IsCurrent()) done = absl::InternalError("done on another thread");
        promise.set_value(std::move(done));
      });
      *inside = false;
    });
    return testing::Get(std::move(result));
  }
  std::string Failure(const Address& address,
                      absl::StatusCode code = absl::StatusCode::kUnavailable) {
    StreamOr result = Connect(address);
    REQUIRE_FALSE(result.ok());
    CHECK(result.status().code() == code);
    return std::string(result.status().message());
  }
  // The client's end becomes `stream`.
  Fd ConnectTo(Listener& listener, const ConnectOptions& options = {}) {
    StreamOr result = Connect(listener.address(), options);
    INFO(result.status().ToString());
    REQUIRE(result.ok());
    stream = *std::move(result);
    return listener.Accept();
  }
  IoResult Read(std::string* to, size_t size = 64) {
    to->resize(size);
    IoResult result = stream->Read(to->data(), size);
    to->resize(result.bytes);
    return result;
  }
  int fd() const { return static_cast<PosixStream*>(stream.get())->fd(); }
};

}  // namespace weft::net

#endif  // WEFT_TEST_NET_POSIX_RIG_H_
