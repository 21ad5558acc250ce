// Stream: a client session's record of one exchange, and the pool that the records come from.
#ifndef WEFT_LIB_HTTP2_STREAM_H_
#define WEFT_LIB_HTTP2_STREAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/intrusive_list.h"
#include "http/session.h"
#include "http2/flow_tuner.h"

namespace weft::inline v0::http2 {

struct Stream;

struct StreamState {
  static constexpr uint64_t kNotCollected = UINT64_MAX;

  http::StreamUser* user = nullptr;
  base::IntrusiveList<Stream>* list = nullptr;  // the one it is in
  int32_t id = 0;                               // 0: nghttp2 does not know of it
  uint64_t head_end = kNotCollected;            // bytes collected when its HEADERS were complete
  size_t unconsumed = 0;                        // of the body
  FlowTuner::Sample sample;
  const char* fault = nullptr;  // why nghttp2 resets it
  int interim_heads = 0;        // 1xx
  bool has_head = false;        // the final head arrived
  bool sent_all = false;        // END_STREAM was collected
  bool reset = false;           // by this side, and the owner knows
  bool waiting = false;         // its body said kWait
  bool resumed = false;         // ResumeBody came while its body was being read
  bool retry = false;           // its body has to be asked again although nobody resumes it

  bool head_collected() const { return head_end != kNotCollected; }
};

// A record outlives its exchange until nghttp2 closes the stream (its RST_STREAM has been
// collected): `user` is null then.
struct Stream : base::ListNode<Stream>, StreamState {};

// The handle that users hold. Other kinds of sessions have records of their own behind it, so
// http::OpenStream is never defined.
inline http::OpenStream* HandleOf(Stream& stream) {
  return reinterpret_cast<http::OpenStream*>(&stream);
}
inline Stream& StreamOf(http::OpenStream* handle) { return *reinterpret_cast<Stream*>(handle); }
inline const Stream& StreamOf(const http::OpenStream* handle) {
  return *reinterpret_cast<const Stream*>(handle);
}

class StreamPool {
 public:
  Stream& Take() {
    if (free_.empty()) {
      chunks_.push_back(std::make_unique<Chunk>());
      free_.reserve(chunks_.size() * kChunk);
      for (Stream& stream : *chunks_.back()) free_.push_back(&stream);
    }
    Stream& stream = *free_.back();
    free_.pop_back();
    return stream;
  }
  // Not in a list.
  void Give(Stream& stream) {
    static_cast<StreamState&>(stream) = StreamState();
    free_.push_back(&stream);
  }

 private:
  static constexpr size_t kChunk = 32;
  using Chunk = std::array<Stream, kChunk>;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<Stream*> free_;
};

}  // namespace weft::inline v0::http2

#endif  // WEFT_LIB_HTTP2_STREAM_H_
