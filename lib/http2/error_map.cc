#include "http2/error_map.h"

#include <nghttp2/nghttp2.h>

#include "absl/strings/str_cat.h"

namespace weft::inline v0::http2 {
namespace {

absl::StatusCode StatusCodeOfReset(uint32_t code) {
  switch (code) {
    case NGHTTP2_REFUSED_STREAM:
      return absl::StatusCode::kUnavailable;
    case NGHTTP2_CANCEL:
      return absl::StatusCode::kCancelled;
    case NGHTTP2_ENHANCE_YOUR_CALM:
      return absl::StatusCode::kResourceExhausted;
    case NGHTTP2_INADEQUATE_SECURITY:
      return absl::StatusCode::kPermissionDenied;
    case NGHTTP2_HTTP_1_1_REQUIRED:
      return absl::StatusCode::kFailedPrecondition;
    default:
      return absl::StatusCode::kInternal;
  }
}

// What a reset means beyond the name of its code.
const char* Explanation(uint32_t code) {
  switch (code) {
    case NGHTTP2_NO_ERROR:
      return ", before the answer was complete";
    case NGHTTP2_HTTP_1_1_REQUIRED:
      return ": it answers this request over HTTP/1.1 only";
    default:
      return "";
  }
}

}  // namespace

std::string CodeName(uint32_t code) {
  if (code > NGHTTP2_HTTP_1_1_REQUIRED) return absl::StrCat("error ", code);
  return nghttp2_http2_strerror(code);
}

http::StreamEnd EndOfReset(uint32_t code) {
  return {absl::Status(StatusCodeOfReset(code),
                       absl::StrCat("reset the stream (", CodeName(code), Explanation(code), ")")),
          Origin::kPeer,
          code == NGHTTP2_REFUSED_STREAM ? Processed::kRefused : Processed::kMaybeProcessed};
}

http::StreamEnd EndOfGoaway(uint32_t code, bool sent) {
  return {absl::UnavailableError(absl::StrCat("takes no more requests on this connection (GOAWAY ",
                                              CodeName(code), ")")),
          Origin::kConnection, sent ? Processed::kRefused : Processed::kNotSent};
}

http::StreamEnd EndOfMalformed(std::string_view reason) {
  return {
      absl::InternalError(absl::StrCat("sent a malformed response (", std::string(reason), ")")),
      Origin::kConnection, Processed::kMaybeProcessed};
}

absl::Status ConnectionError(uint32_t code, std::string_view reason) {
  std::string text = absl::StrCat("broke the rules of HTTP/2 (", CodeName(code));
  if (!reason.empty()) absl::StrAppend(&text, ": ", std::string(reason));
  text += ')';
  return code == NGHTTP2_ENHANCE_YOUR_CALM ? absl::ResourceExhaustedError(text)
                                           : absl::InternalError(text);
}

std::string Printable(std::string_view bytes, size_t limit) {
  std::string text(bytes.substr(0, limit));
  for (char& c : text) {
    if (c < 0x20 || c > 0x7e) c = '?';
  }
  return text;
}

}  // namespace weft::inline v0::http2
