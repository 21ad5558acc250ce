#include "http/answer_code.h"

#include <charconv>
#include <string_view>

#include "weft/response.h"

namespace weft::inline v0 {

absl::StatusCode CodeOfHttpStatus(int status) {
  switch (status) {
    case 400:
      return absl::StatusCode::kInternal;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kUnimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kUnknown;
  }
}

namespace http {

absl::StatusCode CodeOf(const Answer& answer, Protocol protocol) {
  if (protocol == Protocol::kHttp)
    return answer.status < 400 ? absl::StatusCode::kOk : CodeOfHttpStatus(answer.status);
  const bool head_only = answer.trailers.empty() && !answer.has_body;
  const std::string_view text = (head_only ? answer.headers : answer.trailers)["grpc-status"];
  unsigned code = 17;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
  if (error != std::errc() || end != text.data() + text.size() || code > 16)
    return CodeOfHttpStatus(answer.status);
  return static_cast<absl::StatusCode>(code);
}

}  // namespace http
}  // namespace weft::inline v0
