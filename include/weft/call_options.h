// CallOptions: what one call may differ in. The common call needs none.
#ifndef WEFT_CALL_OPTIONS_H_
#define WEFT_CALL_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "weft/headers.h"
#include "weft/trace_context.h"

namespace weft::inline v0 {

// Runs closures somewhere: a thread pool, an event loop. Must run each one once, never inside the
// call that passes it in; may be called from any thread, and must outlive the calls that use it.
using Executor = std::function<void(absl::AnyInvocable<void() &&>)>;

inline constexpr absl::Duration kDefaultTimeout = absl::Seconds(15);

// What is spoken on top of HTTP/2.
enum class Protocol : uint8_t {
  kHttp,
  // The time that remains is sent as `grpc-timeout`, and a message over max_response_bytes is
  // refused on the word of its length. weft/grpc sets it.
  kGrpc,
};

// What is given up first where not everything can be served.
enum class Tier : uint8_t { kCritical, kSoft, kSheddable };

// A plain, trivially copied value.
struct CallOptions {
  // What a call made for a request that came in inherits from it: the time that remains
  // (`grpc-timeout`, or `x-request-timeout-ms`; counted from now), `traceparent`, `tracestate`,
  // `baggage` and `x-weft-tier`. What is malformed is left out. The views point into `inbound`.
  static CallOptions From(const Headers& inbound);
  static CallOptions From(Headers&& inbound) = delete;

  // From the start of the call to its end, waiting and every attempt included; for a stream, to the
  // end of the stream. Unset: the channel's default, which is 15 s unless changed.
  // absl::InfiniteDuration() for none at all. Zero or less fails at once with DEADLINE_EXCEEDED,
  // nothing sent.
  std::optional<absl::Duration> timeout = {};
  // An absolute end; the earlier of the two holds. It is turned into the monotonic clock when the
  // call starts: later changes of the wall clock change nothing.
  std::optional<absl::Time> deadline = {};
  // Longest time without a byte moving in either direction once the request has been sent; unset:
  // none but the deadline.
  std::optional<absl::Duration> idle_timeout = {};

  // Says that running the request twice is harmless. GET, HEAD, OPTIONS, PUT and DELETE are taken
  // to be so by themselves. A request that may have been processed is repeated only if it is
  // idempotent.
  bool idempotent = false;
  // Sent as `idempotency-key`, the same on every attempt, and makes the call idempotent. Empty:
  // none. The bytes must live until the call was started (with Async: until it is awaited).
  std::string_view idempotency_key = {};
  // In place of the channel's (RetryOptions), 1 … 5 attempts, and a longest time for each of them.
  std::optional<int> max_attempts = {};
  std::optional<absl::Duration> attempt_timeout = {};
  // In place of what HedgeOptions or a service config say: a hedge after that long, and one more
  // each time as much has passed, up to HedgeOptions::max_attempts; absl::InfiniteDuration(): none.
  // Only idempotent calls are hedged.
  std::optional<absl::Duration> hedge_delay = {};
  // What belongs together goes to the same host, as far as it can, where the balancer goes by it
  // (RingHash, Maglev). Empty: none. The bytes live as idempotency_key's do.
  std::string_view hash_key = {};
  // While no host can be reached, wait for one until the deadline instead of failing with the
  // reason.
  bool wait_for_ready = false;

  // Bodies of unary responses above this fail with RESOURCE_EXHAUSTED. Streams and sinks have no
  // such limit.
  size_t max_response_bytes = size_t{64} << 20;

  Protocol protocol = Protocol::kHttp;

  // W3C Trace Context and Baggage, sent as `traceparent`, with a span id of its own for each
  // attempt, `tracestate` and `baggage`. The bytes of the views live as idempotency_key's do.
  std::optional<TraceContext> trace = {};
  std::string_view trace_state = {};
  std::string_view baggage = {};
  // Sent as `x-weft-tier` ("0" critical, "1" soft, "2" sheddable), for servers that shed and for
  // the calls that they make. Unset: not sent.
  std::optional<Tier> tier = {};

  // Where callbacks, resumptions, sources and sinks run. Null: on a loop thread. Not owned; must
  // outlive the call.
  const Executor* executor = nullptr;
};

}  // namespace weft::inline v0

#endif  // WEFT_CALL_OPTIONS_H_
