// Real sockets of this machine, and a real loop.
#include "net/posix_network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "event/on_loop.h"
#include "net/env.h"
#include "net/posix_rig.h"
#include "net/posix_socket.h"
#include "support/catch.h"

namespace weft::net {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::Get;
using testing::On;

int Option(int fd, int level, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  REQUIRE(getsockopt(fd, level, option, &value, &size) == 0);
  return value;
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
  CHECK_THAT(f.Failure(*Address::Parse("unix:/nonexistent/weft.sock")),
             ContainsSubstring("does not exist"));
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
    for (const Address& address :
         {listener.address(), refused, *Address::Parse("unix:/nonexistent/weft.sock")}) {
      std::unique_ptr<Dial> dial =
          f.env->network().Connect(*f.loop, address, {}, [&](StreamOr) { ++told; });
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
