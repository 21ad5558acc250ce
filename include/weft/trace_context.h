// TraceContext: which trace a call belongs to (W3C Trace Context, the field `traceparent`).
#ifndef WEFT_TRACE_CONTEXT_H_
#define WEFT_TRACE_CONTEXT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::inline v0 {

struct TraceContext {
  std::array<uint8_t, 16> trace_id = {};
  std::array<uint8_t, 8> span_id = {};  // of the parent, where it came in
  uint8_t flags = 0;                    // bit 0: sampled

  // Nothing where it is malformed or an id is all zeros: to be taken for no trace at all. Versions
  // to come are read as far as this one goes.
  static std::optional<TraceContext> Parse(std::string_view traceparent);
  // "00-<32 digits>-<16 digits>-<2 digits>"
  std::string ToString() const;

  friend bool operator==(const TraceContext&, const TraceContext&) = default;
};

}  // namespace weft::inline v0

#endif  // WEFT_TRACE_CONTEXT_H_
