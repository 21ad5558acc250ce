#include "call/request_check.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace weft::inline v0::call {
namespace {

bool IsTokenByte(char c) {
  const bool letter_or_digit =
      (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return letter_or_digit || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

// Visible ASCII and what percent-encoding leaves to the user: no space, no control byte.
bool IsVisible(char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f; }

absl::Status Invalid(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the request ", base::V(what)));
}

}  // namespace

bool IsIdempotentMethod(std::string_view method) {
  static constexpr std::array<std::string_view, 6> kMethods = {"GET",  "PUT",     "DELETE",
                                                               "HEAD", "OPTIONS", "TRACE"};
  return std::find(kMethods.begin(), kMethods.end(), method) != kMethods.end();
}

absl::Status CheckOptions(const CallOptions& options) {
  if (options.max_attempts.has_value() && (*options.max_attempts < 1 || *options.max_attempts > 5))
    return absl::InvalidArgumentError("CallOptions::max_attempts must be 1 … 5");
  if (options.attempt_timeout.has_value() && *options.attempt_timeout <= absl::ZeroDuration())
    return absl::InvalidArgumentError("CallOptions::attempt_timeout must be more than nothing");
  if (options.hedge_delay.has_value() && *options.hedge_delay < absl::ZeroDuration())
    return absl::InvalidArgumentError("CallOptions::hedge_delay must be 0 or more");
  return absl::OkStatus();
}

absl::Status CheckRequest(const Request& request) {
  if (request.method.empty() ||
      !std::all_of(request.method.begin(), request.method.end(), IsTokenByte)) {
    return Invalid("method is not a token");
  }
  if (request.method == "CONNECT") return Invalid("method CONNECT is not supported");
  const bool star = request.path == "*" && request.method == "OPTIONS";
  if (!star && (request.path.empty() || request.path[0] != '/'))
    return Invalid("path does not begin with '/'");
  if (!std::all_of(request.path.begin(), request.path.end(), IsVisible)) {
    return Invalid("path has a space or control byte; percent-encode it");
  }
  if (!std::all_of(request.authority.begin(), request.authority.end(), IsVisible)) {
    return Invalid("authority has a space or control byte");
  }
  if (request.source != nullptr && !request.body.empty())
    return Invalid("has both a body and a source");
  if (absl::Status status = request.headers.Validate(); !status.ok()) return status;
  return request.trailers.Validate();
}

}  // namespace weft::inline v0::call
