// FloodGuard: how many frames that cost work but carry nothing a peer may send (RFC 9113
// section 10.5). nghttp2 has no such limits for clients.
//
// A token bucket: such frames cost tokens, `kRate` tokens come back per second up to `kBurst`. What
// this side does earns tokens on top, because it makes the peer answer: a request is answered by
// HEADERS, an empty last DATA, perhaps RST_STREAM; sent DATA by WINDOW_UPDATE. So an honest peer
// never comes near the limit, however busy the connection is.
//
// | frame                                              | tokens |
// |----------------------------------------------------|--------|
// | DATA of 5 bytes and more, not padded               | 0      |
// | DATA of 1 … 4 bytes, or padded and short           | 0.05   |
// | empty DATA, HEADERS, CONTINUATION, PRIORITY,       | 1      |
// | RST_STREAM, PING, WINDOW_UPDATE, unknown types     |        |
// | SETTINGS (walks over all streams), GOAWAY          | 10     |
// | PING acknowledgement that nobody asked for         | 10     |
//
// More than `kContinuations` CONTINUATION frames in a row are refused, whatever is in the bucket.
#ifndef WEFT_LIB_HTTP2_FLOOD_GUARD_H_
#define WEFT_LIB_HTTP2_FLOOD_GUARD_H_

#include <cstddef>
#include <string>

#include "base/time.h"
#include "http2/frame_scanner.h"

namespace weft::inline v0::http2 {

class FloodGuard {
 public:
  static constexpr double kRate = 500;
  static constexpr double kBurst = 5000;
  static constexpr double kMaxEarned = 1e6;  // no account above this
  static constexpr int kContinuations = 8;

  // Whether a frame is still within the limits. After a false the connection is to be closed.
  bool Admit(const FrameHead& head, base::MonoTime now);
  bool AdmitStrayPingAck() { return Pay(10); }

  // This side opened a stream; sent a DATA frame of that many bytes.
  void OnStreamOpened() { Earn(6); }
  void OnDataSent(size_t bytes) { Earn(2 + static_cast<double>(bytes) / 512); }

  // What came too often, as the end of "flooded the connection with ".
  const char* excess() const { return excess_; }
  double tokens() const { return tokens_; }

 private:
  bool Pay(double cost);
  void Earn(double tokens);

  double tokens_ = kBurst;
  base::MonoTime filled_{};  // when tokens last came back; the epoch: never yet
  int continuations_ = 0;
  const char* excess_ = "frames";
};

}  // namespace weft::inline v0::http2

#endif  // WEFT_LIB_HTTP2_FLOOD_GUARD_H_
