// Real sockets of this machine, and a real loop.
#include "net/posix_network.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "event/epoll_loop.h"
#include "net/env.h"
#include "net/posix_socket.h"
#include "net/posix_stream.h"
#include "support/catch.h"

namespace weft::net {
namespace {

using Catch::Matchers::ContainsSubstring;
using StreamOr = absl::StatusOr<std::unique_ptr<ByteStream>>;

template <class T>
T Get(std::future<T> future) {
  if (future.wait_for(std::chrono::seconds(30)) != std::future_status::ready) {
    FAIL("nothing happened for 30 s");
  }
  return future.get();
}

template <class F>
auto On(event::Loop& loop, F function) {
  using T = std::invoke_result_t<F>;
  std::promise<T> promise;
  std::future<T> future = promise.get_future();
  loop.PostFunction([promise = std::move(promise), function = std::move(function)]() mutable {
    if constexpr (std::is_void_v<T>) {
      function();
      promise.set_value();
    } else {
      promise.set_value(function());
    }
  });
  return Get(std::move(future));
}

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

size_t OpenFiles() {
  size_t count = 0;
  DIR* folder = opendir("/proc/self/fd");
  REQUIRE(folder != nullptr);
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

void WaitReadable(int fd) {
  pollfd wait{fd, POLLIN, 0};
  REQUIRE(poll(&wait, 1, 30000) == 1);
}

struct Fixture {
  std::shared_ptr<Env> env = SystemEnv();
  std::unique_ptr<event::Loop> loop = *env->NewLoop(0, nullptr);
  std::unique_ptr<Dial> dial;
  std::unique_ptr<ByteStream> stream;

  ~Fixture() {
    On(*loop, [this] {
      dial.reset();
      stream.reset();
    });
  }

  StreamOr Connect(const Address& address, const ConnectOptions& options = {}) {
    std::promise<StreamOr> promise;
    std::future<StreamOr> result = promise.get_future();
    On(*loop, [&] {
      auto inside = std::make_shared<bool>(true);
      dial = env->network().Connect(*loop, address, options, [&, inside](StreamOr done) {
        if (*inside) done = absl::InternalError("done within Connect");
        if (!loop->IsCurrent()) done = absl::InternalError("done on another thread");
        promise.set_value(std::move(done));
      });
      *inside = false;
    });
    return Get(std::move(result));
  }
  std::string Failure(const Address& address, absl::StatusCode code = absl::StatusCode::kUnavailable) {
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

int Option(int fd, int level, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  REQUIRE(getsockopt(fd, level, option, &value, &size) == 0);
  return value;
}

TEST_CASE("connects, reads, writes and sees the end, over TCP and Unix sockets") {
  const Listener::Kind kind = GENERATE(Listener::kTcp, Listener::kUnix);
  Fixture f;
  Listener listener(kind);
  Fd peer = f.ConnectTo(listener);
  CHECK(f.stream->alpn().empty());
  std::string text;
  CHECK(f.Read(&text).kind == IoResult::Kind::kBlocked);

  IoResult written = f.stream->Write("hello");
  CHECK(written.kind == IoResult::Kind::kOk);
  CHECK(written.bytes == 5);
  char buffer[16];
  REQUIRE(recv(peer.get(), buffer, sizeof buffer, 0) == 5);
  CHECK(std::string(buffer, 5) == "hello");

  REQUIRE(send(peer.get(), "world!", 6, MSG_NOSIGNAL) == 6);
  WaitReadable(f.fd());
  IoResult part = f.Read(&text, 4);
  CHECK(part.kind == IoResult::Kind::kOk);
  CHECK(text == "worl");
  CHECK_FALSE(part.drained);
  IoResult rest = f.Read(&text);
  CHECK(text == "d!");
  CHECK(rest.drained);
  CHECK(f.Read(&text).kind == IoResult::Kind::kBlocked);

  peer.Close();
  WaitReadable(f.fd());
  CHECK(f.Read(&text).kind == IoResult::Kind::kEnd);
}

TEST_CASE("options of the socket") {
  Fixture f;
  Listener listener;
  Fd peer = f.ConnectTo(listener, {.user_timeout = std::chrono::microseconds(2500)});
  CHECK(Option(f.fd(), IPPROTO_TCP, TCP_NODELAY) == 1);
  CHECK(Option(f.fd(), IPPROTO_TCP, TCP_USER_TIMEOUT) == 3);
  CHECK((fcntl(f.fd(), F_GETFD) & FD_CLOEXEC) != 0);
  CHECK((fcntl(f.fd(), F_GETFL) & O_NONBLOCK) != 0);

  Fixture g;
  Fd peer2 = g.ConnectTo(listener);
  CHECK(Option(g.fd(), IPPROTO_TCP, TCP_USER_TIMEOUT) == 0);
}

TEST_CASE("IPv6") {
  const int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  any.sin6_addr = in6addr_loopback;
  socklen_t size = sizeof any;
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&any), sizeof any) != 0) {
    if (fd >= 0) close(fd);
    WEFT_SKIP("no IPv6 here");
  }
  Fd listener(fd);
  REQUIRE(listen(fd, 1) == 0);
  REQUIRE(getsockname(fd, reinterpret_cast<sockaddr*>(&any), &size) == 0);
  Fixture f;
  StreamOr result = f.Connect(*Address::Parse("[::1]:" + std::to_string(ntohs(any.sin6_port))));
  CHECK(result.ok());
  f.stream = *std::move(result);
}

TEST_CASE("a refused connection says so") {
  Fixture f;
  Listener listener;
  const Address address = listener.address();
  listener.Close();
  CHECK(f.Failure(address) == "refused the connection");

  Listener unix_listener(Listener::kUnix);
  unix_listener.Close();
  CHECK(f.Failure(unix_listener.address()) == "refused the connection");
  CHECK_THAT(f.Failure(*Address::Parse("unix:/nonexistent/weft.sock")), ContainsSubstring("does not exist"));
}

TEST_CASE("a full queue of a Unix socket says so") {
  Fixture f;
  Listener listener(Listener::kUnix, 0);
  std::vector<std::unique_ptr<ByteStream>> waiting;
  for (int i = 0; i < 10; ++i) {
    StreamOr result = f.Connect(listener.address());
    if (!result.ok()) {
      CHECK(result.status().code() == absl::StatusCode::kUnavailable);
      CHECK_THAT(std::string(result.status().message()), ContainsSubstring("full queue"));
      On(*f.loop, [&] { waiting.clear(); });
      return;
    }
    waiting.push_back(*std::move(result));
  }
  FAIL("the queue is never full");
}

TEST_CASE("without descriptors a dial fails, and the next one succeeds") {
  Fixture f;
  Listener listener;
  rlimit before;
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const int lowest = dup(0);
  REQUIRE(lowest >= 0);
  close(lowest);
  rlimit limit = before;
  limit.rlim_cur = static_cast<rlim_t>(lowest);
  REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  StreamOr result = f.Connect(listener.address());
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(result.status().code() == absl::StatusCode::kResourceExhausted);
  CHECK_THAT(std::string(result.status().message()), ContainsSubstring("EMFILE"));
  Fd peer = f.ConnectTo(listener);
}

TEST_CASE("a dial that is given up says nothing and leaves nothing") {
  Fixture f;
  Listener listener;
  Listener closed;
  const Address refused = closed.address();
  closed.Close();
  const size_t before = OpenFiles();
  int told = 0;
  On(*f.loop, [&] {
    for (const Address& address : {listener.address(), refused, *Address::Parse("unix:/nonexistent/weft.sock")}) {
      std::unique_ptr<Dial> dial = f.env->network().Connect(*f.loop, address, {}, [&](StreamOr) { ++told; });
    }
  });
  On(*f.loop, [] {});
  On(*f.loop, [] {});
  CHECK(told == 0);
  CHECK(OpenFiles() == before);
}

TEST_CASE("within done, the stream may be dropped and the dial deleted later") {
  Fixture f;
  Listener listener;
  const size_t before = OpenFiles();
  std::promise<void> promise;
  std::future<void> done = promise.get_future();
  On(*f.loop, [&] {
    f.dial = f.env->network().Connect(*f.loop, listener.address(), {}, [&](StreamOr result) {
      result.value().reset();
      f.loop->DeleteLater(std::move(f.dial));
      promise.set_value();
    });
  });
  Get(std::move(done));
  On(*f.loop, [] {});
  CHECK(OpenFiles() == before);
}

TEST_CASE("a watcher is told at once, then of edges, and another takes over") {
  Fixture f;
  Listener listener;
  Fd peer = f.ConnectTo(listener);
  std::vector<std::pair<bool, bool>> told;
  std::promise<void> promise;
  FnWatcher watcher([&](bool readable, bool writable) {
    told.emplace_back(readable, writable);
    if (told.size() == 2) promise.set_value();
  });
  On(*f.loop, [&] { f.stream->SetWatcher(&watcher); });
  CHECK(On(*f.loop, [&] { return told; }) == std::vector{std::pair(true, true)});
  REQUIRE(send(peer.get(), "x", 1, MSG_NOSIGNAL) == 1);
  Get(promise.get_future());
  CHECK(told.back().first);

  On(*f.loop, [&] { f.stream->SetWatcher(nullptr); });
  REQUIRE(send(peer.get(), "y", 1, MSG_NOSIGNAL) == 1);
  WaitReadable(f.fd());
  On(*f.loop, [] {});
  std::promise<void> second;
  FnWatcher other([&](bool readable, bool writable) {
    if (readable && writable) second.set_value();
  });
  On(*f.loop, [&] { f.stream->SetWatcher(&other); });
  Get(second.get_future());
  CHECK(told.size() == 2);
  On(*f.loop, [&] { f.stream->SetWatcher(nullptr); });
}

TEST_CASE("the end behind a short read is not missed") {
  Fixture f;
  Listener listener;
  Fd peer = f.ConnectTo(listener);
  std::promise<std::string> promise;
  std::future<std::string> all = promise.get_future();
  std::string got;
  bool missed = false;
  // Reads as a session does: no more once it was told that the socket is empty.
  FnWatcher watcher([&](bool, bool) {
    for (;;) {
      char buffer[64];
      const IoResult result = f.stream->Read(buffer, sizeof buffer);
      if (result.kind == IoResult::Kind::kEnd) return promise.set_value(got);
      if (result.kind != IoResult::Kind::kOk) return;
      got.append(buffer, result.bytes);
      if (result.drained) {
        missed = got == "bye";
        return;
      }
    }
  });
  On(*f.loop, [&] {
    f.stream->SetWatcher(&watcher);
    // While the loop is busy here, so that bytes and end come with one edge.
    if (send(peer.get(), "bye", 3, MSG_NOSIGNAL) != 3) promise.set_value("not sent");
    peer.Close();
    WaitReadable(f.fd());
    pollfd end{f.fd(), POLLRDHUP, 0};
    if (poll(&end, 1, 30000) != 1) promise.set_value("no end");
  });
  CHECK(Get(std::move(all)) == "bye");
  CHECK_FALSE(missed);
}

TEST_CASE("a reset is a failure, and SIGPIPE is not raised") {
  Fixture f;
  Listener listener;
  Fd peer = f.ConnectTo(listener);
  peer.Reset();
  WaitReadable(f.fd());
  std::string text;
  const IoResult read = f.Read(&text);
  CHECK(read.kind == IoResult::Kind::kFailed);
  CHECK(read.status.code() == absl::StatusCode::kUnavailable);
  CHECK(read.status.message() == "reset the connection");
  const IoResult written = f.stream->Write("x");
  CHECK(written.kind == IoResult::Kind::kFailed);
  CHECK(written.status.message() == "closed the connection");
}

TEST_CASE("a connection that is reset at once is a connection, or an error, never a crash") {
  for (int i = 0; i < 50; ++i) {
    Fixture f;
    Listener listener;
    std::thread server([&] { listener.Accept().Reset(); });
    StreamOr result = f.Connect(listener.address());
    server.join();
    if (result.ok()) {
      f.stream = *std::move(result);
      WaitReadable(f.fd());
      std::string text;
      CHECK(f.Read(&text).kind == IoResult::Kind::kFailed);
    } else {
      CHECK(result.status().message() == "reset the connection while it was being made");
    }
  }
}

TEST_CASE("eight megabytes there and back, driven by edges alone") {
  constexpr size_t kBytes = size_t{8} << 20;
  const Listener::Kind kind = GENERATE(Listener::kTcp, Listener::kUnix);
  Fixture f;
  Listener listener(kind);
  Fd peer = f.ConnectTo(listener);
  std::thread echo([&] {
    std::vector<char> buffer(100000);
    for (;;) {
      const ssize_t got = recv(peer.get(), buffer.data(), buffer.size(), 0);
      if (got <= 0) return;
      for (ssize_t sent = 0; sent < got;) {
        const ssize_t n = send(peer.get(), buffer.data() + sent, static_cast<size_t>(got - sent), MSG_NOSIGNAL);
        if (n <= 0) return;
        sent += n;
      }
    }
  });
  const int small = 65536;
  REQUIRE(setsockopt(f.fd(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small) == 0);
  std::string out(kBytes, 0);
  for (size_t i = 0; i < kBytes; ++i) out[i] = static_cast<char>(i * 31 + (i >> 12));
  std::string in;
  size_t written = 0;
  int blocked = 0;
  bool finished = false;
  std::promise<void> promise;
  std::future<void> done = promise.get_future();
  std::vector<char> buffer(65536);
  FnWatcher watcher([&](bool readable, bool writable) {
    while (writable && written < kBytes) {
      const IoResult result = f.stream->Write(std::string_view(out).substr(written));
      if (result.kind == IoResult::Kind::kBlocked) ++blocked;
      if (result.kind != IoResult::Kind::kOk) break;
      written += result.bytes;
    }
    while (readable) {
      const IoResult result = f.stream->Read(buffer.data(), buffer.size());
      if (result.kind != IoResult::Kind::kOk) break;
      in.append(buffer.data(), result.bytes);
      if (result.drained) break;
    }
    if (in.size() == kBytes && !std::exchange(finished, true)) promise.set_value();
  });
  On(*f.loop, [&] { f.stream->SetWatcher(&watcher); });
  Get(std::move(done));
  CHECK(in == out);
  CHECK(blocked > 0);
  On(*f.loop, [&] { f.stream.reset(); });
  echo.join();
}

TEST_CASE("reading and writing from another thread while the loop tells of edges") {
  Fixture f;
  Listener listener;
  Fd peer = f.ConnectTo(listener);
  std::atomic<int> edges{0};
  FnWatcher watcher([&](bool, bool) { ++edges; });
  On(*f.loop, [&] { f.stream->SetWatcher(&watcher); });
  std::thread echo([&] {
    char buffer[64];
    ssize_t n;
    while ((n = recv(peer.get(), buffer, sizeof buffer, 0)) > 0) {
      if (send(peer.get(), buffer, static_cast<size_t>(n), MSG_NOSIGNAL) != n) return;
    }
    peer.Close();
  });
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    const std::string word = std::to_string(i);
    REQUIRE(f.stream->Write(word).bytes == word.size());
    WaitReadable(f.fd());
    REQUIRE(f.Read(&text).kind == IoResult::Kind::kOk);
    REQUIRE(text == word);
  }
  shutdown(f.fd(), SHUT_WR);
  WaitReadable(f.fd());
  CHECK(f.Read(&text).kind == IoResult::Kind::kEnd);
  echo.join();
  CHECK(edges > 0);
}

TEST_CASE("a socket that is connected with itself is recognised") {
  Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in self{};
  self.sin_family = AF_INET;
  self.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof self;
  REQUIRE(bind(fd.get(), reinterpret_cast<sockaddr*>(&self), sizeof self) == 0);
  REQUIRE(getsockname(fd.get(), reinterpret_cast<sockaddr*>(&self), &size) == 0);
  int error = -1;
  CHECK(GetConnectState(fd.get(), &error) == ConnectState::kConnecting);
  REQUIRE(connect(fd.get(), reinterpret_cast<sockaddr*>(&self), sizeof self) == 0);
  CHECK(GetConnectState(fd.get(), &error) == ConnectState::kToItself);
  CHECK(error == 0);
  fd.Reset();

  Listener listener;
  Fd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Address address = listener.address();
  REQUIRE(connect(client.get(), address.socket_address(), address.socket_address_size()) == 0);
  CHECK(GetConnectState(client.get(), &error) == ConnectState::kConnected);
}

TEST_CASE("words of errors") {
  CHECK(ConnectError(ECONNREFUSED).message() == "refused the connection");
  CHECK(ConnectError(EHOSTUNREACH).message() == "is unreachable: No route to host");
  CHECK(ConnectError(ENETUNREACH).message() == "is unreachable: Network is unreachable");
  CHECK(ConnectError(ECONNRESET).message() == "reset the connection while it was being made");
  CHECK(ConnectError(ETIMEDOUT).message() == "did not answer (ETIMEDOUT)");
  for (int error : {EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL}) {
    CHECK(ConnectError(error).code() == absl::StatusCode::kResourceExhausted);
  }
  for (int error : {ECONNRESET, EPIPE, ETIMEDOUT, EHOSTUNREACH, EIO}) {
    CHECK(TransferError(error).code() == absl::StatusCode::kUnavailable);
  }
}

TEST_CASE("seeds differ") {
  const std::shared_ptr<Env> env = SystemEnv();
  CHECK(env->NewSeed() != env->NewSeed());
  const base::MonoTime now = env->clock().Now();
  CHECK(env->clock().Now() >= now);
  CHECK(env->clock().WallNow() > absl::UnixEpoch());
}

}  // namespace
}  // namespace weft::net
