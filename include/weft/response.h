// Response: what a call received. A status of 4xx or 5xx is an answer like any other, not an error.
#ifndef WEFT_RESPONSE_H_
#define WEFT_RESPONSE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "weft/attempt_log.h"
#include "weft/headers.h"

namespace weft::inline v0 {

// What the client did to get an answer.
struct CallInfo {
  std::string host;         // address of the host that answered, "10.0.0.7:8080"
  int attempts = 0;         // attempts that were started on a host, transparent retries included
  absl::Duration waited;    // before the attempt was given to that host (names, connections)
  absl::Duration took;      // from the call's start to its end
  uint64_t body_bytes = 0;  // of the answer
  // Where there was more than one attempt, or could have been; empty otherwise.
  AttemptLog log;
};

struct ResponseHead {
  int status = 0;  // 200 … 599
  Headers headers;
};

struct Response {
  int status = 0;  // 200 … 599
  Headers headers;
  std::string body;
  Headers trailers;
  CallInfo info;
};

// The code of gRPC for an HTTP status that says of no success, by its http-grpc-status-mapping.md:
// 400 INTERNAL, 401 UNAUTHENTICATED, 403 PERMISSION_DENIED, 404 UNIMPLEMENTED, 429 502 503 504
// UNAVAILABLE, others UNKNOWN. Never OK.
absl::StatusCode CodeOfHttpStatus(int status);

}  // namespace weft::inline v0

#endif  // WEFT_RESPONSE_H_
