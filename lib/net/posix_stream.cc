#include "net/posix_stream.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "base/check.h"
#include "net/posix_socket.h"

namespace weft::inline v0::net {
namespace {

constexpr base::MonoDuration kRetryAfter = std::chrono::milliseconds(10);

}  // namespace

absl::StatusOr<std::unique_ptr<PosixStream>> PosixStream::Create(event::Loop& loop, int fd,
                                                                 ReadyWatcher* watcher) {
  std::unique_ptr<PosixStream> stream(new PosixStream(loop, fd, watcher));
  if (absl::Status status = loop.Watch(fd, stream.get()); !status.ok()) return status;
  stream->watched_ = true;
  return stream;
}

PosixStream::~PosixStream() {
  Stop();
  if (watched_) loop_.Unwatch(fd_, this);
  close(fd_);
}

IoResult PosixStream::Read(char* to, size_t size) {
  WEFT_DCHECK(size > 0);
  for (;;) {
    const ssize_t received = recv(fd_, to, size, 0);
    if (received > 0) {
      // A short read emptied the socket, but after the last edge no other one would tell of the end
      // behind the bytes.
      const bool empty = static_cast<size_t>(received) < size;
      return IoResult::Ok(static_cast<size_t>(received),
                          empty && !hangup_.load(std::memory_order_relaxed));
    }
    if (received == 0) return IoResult::End();
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return IoResult::Blocked();
    return IoResult::Failed(TransferError(errno));
  }
}

IoResult PosixStream::Write(std::string_view bytes) {
  WEFT_DCHECK(!bytes.empty());
  for (;;) {
    const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) return IoResult::Ok(static_cast<size_t>(sent));
    if (sent == 0) return BlockedWithoutEdge();
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return IoResult::Blocked();
    if (errno == ENOBUFS || errno == ENOMEM) return BlockedWithoutEdge();
    return IoResult::Failed(TransferError(errno));
  }
}

// The kernel is short of memory, not the socket of room: no edge will tell when that is over.
IoResult PosixStream::BlockedWithoutEdge() {
  EnsureBy(base::After(loop_.clock().Now(), kRetryAfter));
  return IoResult::Blocked();
}

void PosixStream::OnAlarm() {
  if (watcher_ != nullptr) watcher_->OnReady(false, true);
}

void PosixStream::SetWatcher(ReadyWatcher* watcher) {
  watcher_ = watcher;
  if (watcher != nullptr) watcher->OnReady(true, true);
}

// Touches nothing afterwards: a dial ends the stream of a connection that failed here.
void PosixStream::OnReady(bool readable, bool writable) {
  if (watcher_ != nullptr) watcher_->OnReady(readable, writable);
}

}  // namespace weft::inline v0::net
