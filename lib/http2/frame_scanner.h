// FrameScanner: sees the head of every frame that arrives (RFC 9113 section 4.1), before the
// session engine does, which tells nothing about frames that it ignores.
#ifndef WEFT_LIB_HTTP2_FRAME_SCANNER_H_
#define WEFT_LIB_HTTP2_FRAME_SCANNER_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace weft::inline v0::http2 {

struct FrameHead {
  uint32_t length = 0;  // of the payload
  uint8_t type = 0;
  uint8_t flags = 0;
  uint32_t stream_id = 0;
};

class FrameScanner {
 public:
  // Calls `visit` with every head that ends in `bytes`, in order, until it returns false. Returns
  // the offset behind the last head seen then, or the size of `bytes`. Nothing may be scanned after
  // a false.
  template <class Visit>
  size_t Scan(std::string_view bytes, Visit&& visit) {
    size_t at = 0;
    while (true) {
      const size_t skipped = std::min<size_t>(payload_left_, bytes.size() - at);
      payload_left_ -= static_cast<uint32_t>(skipped);
      at += skipped;
      const size_t taken = std::min(kHead - have_, bytes.size() - at);
      if (taken > 0) std::memcpy(head_.data() + have_, bytes.data() + at, taken);
      have_ += taken;
      at += taken;
      if (have_ < kHead) return at;
      have_ = 0;
      const FrameHead head = Parse();
      payload_left_ = head.length;
      if (!visit(head)) return at;
      if (at == bytes.size()) return at;
    }
  }

 private:
  static constexpr size_t kHead = 9;
  FrameHead Parse() const {
    const auto& h = head_;
    return {uint32_t{h[0]} << 16 | uint32_t{h[1]} << 8 | uint32_t{h[2]}, h[3], h[4],
            (uint32_t{h[5]} << 24 | uint32_t{h[6]} << 16 | uint32_t{h[7]} << 8 | uint32_t{h[8]}) &
                0x7fffffffu};
  }

  std::array<uint8_t, kHead> head_{};
  size_t have_ = 0;            // bytes of `head_`
  uint32_t payload_left_ = 0;  // of the present frame
};

}  // namespace weft::inline v0::http2

#endif  // WEFT_LIB_HTTP2_FRAME_SCANNER_H_
