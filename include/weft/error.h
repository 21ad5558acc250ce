// Errors of calls: an absl::Status whose payload says where it arose and whether the request may
// have been processed.
//
// DEADLINE_EXCEEDED    the call's deadline passed: waiting, connecting, sending or receiving
// CANCELLED            by the user, because the channel's factory was destroyed, or by the peer
// UNAVAILABLE          no host could be reached, or the connection ended before the answer did
// RESOURCE_EXHAUSTED   a limit: calls pending, size of headers or body
// INVALID_ARGUMENT     the request cannot be sent as it is
// FAILED_PRECONDITION  a blocking call on a loop thread; a factory used after fork
// INTERNAL             the peer broke the protocol
#ifndef WEFT_ERROR_H_
#define WEFT_ERROR_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "weft/attempt_log.h"

namespace weft::inline v0 {

enum class Origin {
  kLocal,       // decided in this process: deadline, cancellation, limits, bad arguments
  kConnection,  // dialling, TLS, the transport or a breach of protocol ended it
  kPeer,        // the host answered with an error of its own (a reset of the stream)
};

enum class Processed {
  kNotSent,         // no byte of the request left this process
  kRefused,         // it left, and the peer said that it did not process it
  kMaybeProcessed,  // it left, and nobody knows
};

struct CallError {
  Origin origin = Origin::kLocal;
  Processed processed = Processed::kNotSent;
  std::string host = {};  // address of the last attempt's host; empty: no host was picked
  int attempts = 0;       // attempts started
  AttemptLog log = {};    // each of them
};

// The payload of a status that a call, stream or channel returned; nothing for any other status.
std::optional<CallError> GetCallError(const absl::Status& status);
// Puts the payload on a status, replacing one that is there. For balancers, tests and fakes.
void SetCallError(absl::Status& status, const CallError& error);

std::string_view OriginName(Origin origin);  // "local", "connection", "peer"
std::string_view ProcessedName(
    Processed processed);  // "not sent", "refused unprocessed", "may have been processed"

}  // namespace weft::inline v0

#endif  // WEFT_ERROR_H_
