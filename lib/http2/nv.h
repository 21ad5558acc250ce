// A header field as nghttp2 takes it.
#ifndef WEFT_LIB_HTTP2_NV_H_
#define WEFT_LIB_HTTP2_NV_H_

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <string_view>

namespace weft::inline v0::http2 {

// `flags`: of nghttp2_nv_flag. nghttp2 does not write to the bytes, its struct only says so.
inline nghttp2_nv Nv(std::string_view name, std::string_view value, int flags) {
  const auto bytes = [](std::string_view text) {
    return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), static_cast<uint8_t>(flags)};
}

}  // namespace weft::inline v0::http2

#endif  // WEFT_LIB_HTTP2_NV_H_
