// ClientSession: HTTP/2 (RFC 9113) through nghttp2, with the limits that nghttp2 1.52 leaves to its
// user.
#ifndef WEFT_LIB_HTTP2_CLIENT_SESSION_H_
#define WEFT_LIB_HTTP2_CLIENT_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/time.h"
#include "http/session.h"

namespace weft::inline v0::http2 {

struct SessionOptions {
  size_t stream_window = size_t{1} << 20;  // advertised at first; grows with need
  size_t connection_window = size_t{16} << 20;
  size_t max_stream_window = size_t{16} << 20;
  size_t max_connection_window = size_t{64} << 20;
  size_t max_header_list_bytes =
      size_t{64} << 10;         // of one response, RFC 9113 6.5.2 counting (name + value + 32)
  int32_t first_stream_id = 1;  // odd; tests begin near the end
};

// `owner` outlives the session. Begins with the preface and SETTINGS ready to be collected.
std::unique_ptr<http::Session> NewClientSession(const SessionOptions& options,
                                                http::SessionOwner& owner);

}  // namespace weft::inline v0::http2

#endif  // WEFT_LIB_HTTP2_CLIENT_SESSION_H_
