// HeaderBlock: gathers one header block of a response, field by field, within limits: nghttp2 1.52
// bounds the bytes of a block as sent, but not what they decompress to.
#ifndef WEFT_LIB_HTTP2_HEADER_BLOCK_H_
#define WEFT_LIB_HTTP2_HEADER_BLOCK_H_

#include <cstddef>
#include <string_view>

#include "weft/headers.h"

namespace weft::inline v0::http2 {

class HeaderBlock {
 public:
  static constexpr size_t kMaxFields = 4096;  // more end the connection
  static constexpr size_t kAbsurd = 16;       // times the limit: ends the connection

  enum class Verdict {
    kKept,
    kOverLimit,  // this field and what follows is dropped; the stream is to be reset
    kAbsurd,     // the connection is to be closed
    kBadStatus,  // :status is not a number of three digits
  };

  // `limit`: bytes, each field counted as name + value + 32 (RFC 9113 section 6.5.2).
  explicit HeaderBlock(size_t limit) : limit_(limit) {}

  // A new block begins. At most one is under way on a connection.
  void Begin();
  // The next field. Pseudo-headers other than :status are dropped.
  Verdict Add(std::string_view name, std::string_view value);

  // 0 where there was none.
  int status() const { return status_; }
  Headers Take();

 private:
  const size_t limit_;
  size_t counted_ = 0;
  size_t count_ = 0;
  int status_ = 0;
  Headers fields_;
  // As the last block had: answers of one host resemble each other.
  size_t usual_fields_ = 12;
  size_t usual_bytes_ = 384;
};

}  // namespace weft::inline v0::http2

#endif  // WEFT_LIB_HTTP2_HEADER_BLOCK_H_
