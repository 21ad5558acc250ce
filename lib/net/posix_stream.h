// PosixStream: a ByteStream over a socket.
#ifndef WEFT_LIB_NET_POSIX_STREAM_H_
#define WEFT_LIB_NET_POSIX_STREAM_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "event/alarm.h"
#include "event/loop.h"
#include "net/byte_stream.h"

namespace weft::inline v0::net {

class PosixStream final : public ByteStream, private event::FdWatcher, private event::Alarm {
 public:
  // Owns `fd`, a non-blocking stream socket, connected or about to be; closes it also in failing.
  // Until SetWatcher is called, edges go to `watcher`. RESOURCE_EXHAUSTED where the kernel does not
  // watch it.
  static absl::StatusOr<std::unique_ptr<PosixStream>> Create(event::Loop& loop, int fd,
                                                             ReadyWatcher* watcher);
  ~PosixStream() override;

  IoResult Read(char* to, size_t size) override;
  IoResult Write(std::string_view bytes) override;
  void SetWatcher(ReadyWatcher* watcher) override;

  int fd() const { return fd_; }

 private:
  PosixStream(event::Loop& loop, int fd, ReadyWatcher* watcher)
      : Alarm(loop), loop_(loop), fd_(fd), watcher_(watcher) {}

  void OnReady(bool readable, bool writable) override;
  void OnHangup() override { hangup_.store(true, std::memory_order_relaxed); }
  void OnAlarm() override;
  IoResult BlockedWithoutEdge();

  event::Loop& loop_;
  const int fd_;
  ReadyWatcher* watcher_;
  bool watched_ = false;
  // The last edge of the reading side was seen.
  std::atomic<bool> hangup_{false};
};

}  // namespace weft::inline v0::net

#endif  // WEFT_LIB_NET_POSIX_STREAM_H_
