// What an answer says of itself, as one of gRPC's codes: what policies go by.
#ifndef WEFT_LIB_HTTP_ANSWER_CODE_H_
#define WEFT_LIB_HTTP_ANSWER_CODE_H_

#include "absl/status/status.h"
#include "weft/call_options.h"
#include "weft/headers.h"

namespace weft::inline v0::http {

// An answer that has come to its end.
struct Answer {
  int status;  // 200 … 599
  const Headers& headers;
  const Headers& trailers;
  bool has_body;
};

// Of plain HTTP: its status, by CodeOfHttpStatus (weft/response.h), OK below 400. Of gRPC: its
// grpc-status, which is in the headers where these were all that came; without one that is valid,
// what the HTTP status maps to, and never OK.
absl::StatusCode CodeOf(const Answer& answer, Protocol protocol);

}  // namespace weft::inline v0::http

#endif  // WEFT_LIB_HTTP_ANSWER_CODE_H_
