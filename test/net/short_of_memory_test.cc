// The kernel is short of memory while a stream sends, or takes one byte at a time: what no socket
// of this machine can be brought to do, so send is this file's own for the whole program.
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <future>
#include <string>

#include "event/on_loop.h"
#include "net/posix_rig.h"
#include "net/posix_stream.h"
#include "support/catch.h"

namespace {

std::atomic<int> failures{0};  // so many sends fail with …
std::atomic<int> failure{0};   // … this, or, where it is 0, send nothing
std::atomic<size_t> most{SIZE_MAX};

}  // namespace

extern "C" ssize_t send(int fd, const void* bytes, size_t size, int flags) {
  if (failures.load() > 0) {
    failures.fetch_sub(1);
    errno = failure.load();
    return errno == 0 ? 0 : -1;
  }
  return syscall(SYS_sendto, fd, bytes, std::min(size, most.load()), flags, nullptr, 0);
}

namespace weft::net {
namespace {

using testing::Get;
using testing::On;

TEST_CASE(
    "a send that the kernel has no memory for is worth another try, and the stream says when") {
  const int error = GENERATE(ENOBUFS, ENOMEM, 0);
  Fixture f;
  Listener listener;
  Fd peer = f.ConnectTo(listener);
  std::promise<void> again;
  bool blocked = false;
  FnWatcher watcher([&](bool, bool writable) {
    if (blocked && writable) again.set_value();
  });
  On(*f.loop, [&] {
    f.stream->SetWatcher(&watcher);
    failure = error;
    failures = 1;
    CHECK(f.stream->Write("hello").kind == IoResult::Kind::kBlocked);
    blocked = true;
  });
  Get(again.get_future());
  On(*f.loop, [&] {
    f.stream->SetWatcher(nullptr);
    CHECK(f.stream->Write("hello").bytes == 5);
  });
  char buffer[16];
  CHECK(recv(peer.get(), buffer, sizeof buffer, 0) == 5);
}

TEST_CASE("an interrupted send is made again, and a short one says how much it took") {
  Fixture f;
  Listener listener;
  Fd peer = f.ConnectTo(listener);
  failure = EINTR;
  failures = 3;
  most = 1;
  CHECK(f.stream->Write("hello").bytes == 1);
  most = SIZE_MAX;
  char buffer[16];
  CHECK(recv(peer.get(), buffer, sizeof buffer, 0) == 1);
}

TEST_CASE("a connection that the kernel gave up is an error, not a wait") {
  Fixture f;
  Listener listener;
  Fd peer = f.ConnectTo(listener);
  failure = GENERATE(EPIPE, ECONNRESET, ETIMEDOUT, EHOSTUNREACH);
  failures = 1;
  CHECK(f.stream->Write("hello").kind == IoResult::Kind::kFailed);
}

}  // namespace
}  // namespace weft::net
