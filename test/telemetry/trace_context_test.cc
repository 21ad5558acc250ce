#include "weft/trace_context.h"

#include <string>

#include "support/catch.h"

namespace weft {
namespace {

// The example of the specification.
constexpr char kExample[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST_CASE("a traceparent is read and written back") {
  const std::optional<TraceContext> trace = TraceContext::Parse(kExample);
  REQUIRE(trace.has_value());
  CHECK(trace->trace_id[0] == 0x4b);
  CHECK(trace->trace_id[15] == 0x36);
  CHECK(trace->span_id[1] == 0xf0);
  CHECK(trace->flags == 1);
  CHECK(trace->ToString() == kExample);
}

TEST_CASE("a version to come is read as far as this one goes") {
  const std::string later = "01" + std::string(kExample).substr(2);
  CHECK(TraceContext::Parse(later) == TraceContext::Parse(kExample));
  CHECK(TraceContext::Parse(later + "-more") == TraceContext::Parse(kExample));
  CHECK_FALSE(TraceContext::Parse(later + "x").has_value());
  CHECK_FALSE(TraceContext::Parse(kExample + std::string("-more")).has_value());
}

TEST_CASE("each byte of a traceparent that is wrong makes it none") {
  const std::string good = kExample;
  for (size_t i = 0; i < good.size(); ++i) {
    for (const char wrong : {'g', 'A', ' ', '\0'}) {
      std::string text = good;
      text[i] = wrong;
      CAPTURE(i, text);
      CHECK_FALSE(TraceContext::Parse(text).has_value());
    }
    CHECK_FALSE(TraceContext::Parse(good.substr(0, i)).has_value());
  }
  CHECK_FALSE(TraceContext::Parse("ff" + good.substr(2)).has_value());
  CHECK_FALSE(
      TraceContext::Parse("00-00000000000000000000000000000000-00f067aa0ba902b7-01").has_value());
  CHECK_FALSE(
      TraceContext::Parse("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01").has_value());
}

}  // namespace
}  // namespace weft
