#include "call/inbound.h"

#include <charconv>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"
#include "http/grpc_wire.h"

namespace weft::inline v0 {
namespace {

constexpr std::string_view kTiers[] = {"0", "1", "2"};

std::optional<absl::Duration> Milliseconds(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return absl::Milliseconds(value);
}

}  // namespace

std::string_view call::TierText(Tier tier) { return kTiers[static_cast<size_t>(tier)]; }

CallOptions CallOptions::From(const Headers& inbound) {
  CallOptions options;
  options.timeout = http::ParseGrpcTimeout(inbound["grpc-timeout"]);
  if (!options.timeout.has_value()) options.timeout = Milliseconds(inbound["x-request-timeout-ms"]);
  options.trace = TraceContext::Parse(inbound["traceparent"]);
  // Without a trace its state says nothing (W3C Trace Context section 4.3).
  if (options.trace.has_value()) options.trace_state = inbound["tracestate"];
  options.baggage = inbound["baggage"];
  const std::string_view tier = inbound["x-weft-tier"];
  for (size_t i = 0; i < std::size(kTiers); ++i) {
    if (tier == kTiers[i]) options.tier = static_cast<Tier>(i);
  }
  return options;
}

}  // namespace weft::inline v0
