// What can be said of a request before it is sent.
#ifndef WEFT_LIB_CALL_REQUEST_CHECK_H_
#define WEFT_LIB_CALL_REQUEST_CHECK_H_

#include <string_view>

#include "absl/status/status.h"
#include "weft/call_options.h"
#include "weft/request.h"

namespace weft::inline v0::call {

// INVALID_ARGUMENT names the part that cannot be sent and why (RFC 9110, RFC 9113 section 8).
absl::Status CheckRequest(const Request& request);

// INVALID_ARGUMENT names the option that is out of range.
absl::Status CheckOptions(const CallOptions& options);

// GET, HEAD, OPTIONS, TRACE, PUT, DELETE (RFC 9110 section 9.2.2).
bool IsIdempotentMethod(std::string_view method);

}  // namespace weft::inline v0::call

#endif  // WEFT_LIB_CALL_REQUEST_CHECK_H_
