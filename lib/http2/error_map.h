// What the codes of HTTP/2 (RFC 9113 section 7) mean for a call, and the words for it. Texts are
// made to follow the address of the host: "10.0.0.7:8080 reset the stream (REFUSED_STREAM)".
#ifndef WEFT_LIB_HTTP2_ERROR_MAP_H_
#define WEFT_LIB_HTTP2_ERROR_MAP_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "http/session.h"

namespace weft::inline v0::http2 {

// "REFUSED_STREAM"; "error 77" for codes that have no name.
std::string CodeName(uint32_t code);

// How an exchange ends that the peer reset with `code` before its answer was complete.
http::StreamEnd EndOfReset(uint32_t code);

// How an exchange ends that a GOAWAY with `code` left out; `sent`: its head had left this side.
http::StreamEnd EndOfGoaway(uint32_t code, bool sent);

// How an exchange ends whose answer this side found to be against the rules.
http::StreamEnd EndOfMalformed(std::string_view reason);

// The end of a connection that is closed with GOAWAY(code) because of `reason`, which may be empty.
absl::Status ConnectionError(uint32_t code, std::string_view reason);

// Printable ASCII of at most `limit` bytes: what a peer sent must not reach a log as it came.
std::string Printable(std::string_view bytes, size_t limit);

}  // namespace weft::inline v0::http2

#endif  // WEFT_LIB_HTTP2_ERROR_MAP_H_
