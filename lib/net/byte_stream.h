// ByteStream: a connected transport, plain or TLS, real or simulated. Never blocks.
#ifndef WEFT_LIB_NET_BYTE_STREAM_H_
#define WEFT_LIB_NET_BYTE_STREAM_H_

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/status.h"

namespace weft::inline v0::net {

struct IoResult {
  enum class Kind {
    kOk,       // `bytes` > 0 were moved
    kBlocked,  // nothing could be moved; an edge will tell when it is worth trying again
    kEnd,      // read only: the peer closed its side in order
    kFailed,   // `status` says why (UNAVAILABLE); the stream is of no use any more
  };
  Kind kind = Kind::kBlocked;
  size_t bytes = 0;
  // With kOk of a read: nothing more was readable; the next bytes bring an edge.
  bool drained = false;
  absl::Status status;

  static IoResult Ok(size_t bytes, bool drained = false) {
    return {Kind::kOk, bytes, drained, absl::OkStatus()};
  }
  static IoResult Blocked() { return {}; }
  static IoResult End() { return {Kind::kEnd, 0, false, absl::OkStatus()}; }
  static IoResult Failed(absl::Status status) {
    return {Kind::kFailed, 0, false, std::move(status)};
  }
};

// Told on the loop's thread that trying again is worth it. Either flag may be set without need.
class ReadyWatcher {
 public:
  virtual void OnReady(bool readable, bool writable) = 0;

 protected:
  ~ReadyWatcher() = default;
};

// Read and Write: any thread, one at a time (whoever holds the connection's strand). The rest: the
// loop's thread.
class ByteStream {
 public:
  // Closes at once, without a word to the watcher. Not within the watcher's own OnReady: use the
  // loop's DeleteLater.
  virtual ~ByteStream() = default;
  virtual IoResult Read(char* to, size_t size) = 0;
  // May take a part.
  virtual IoResult Write(std::string_view bytes) = 0;
  // From now on edges go to `watcher`, beginning with one for both directions (within the call or
  // soon after). Null: to nobody.
  virtual void SetWatcher(ReadyWatcher* watcher) = 0;
  // What ALPN agreed on; empty without TLS.
  virtual std::string_view alpn() const { return {}; }
};

}  // namespace weft::inline v0::net

#endif  // WEFT_LIB_NET_BYTE_STREAM_H_
