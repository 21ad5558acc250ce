#include "weft/trace_context.h"

#include <cstddef>

namespace weft::inline v0 {
namespace {

constexpr size_t kSize = 55;  // 2 + 1 + 32 + 1 + 16 + 1 + 2

// -1: not a lower-case hexadecimal digit.
int Digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

template <size_t N>
bool ReadHex(std::string_view text, std::array<uint8_t, N>& to) {
  for (size_t i = 0; i < N; ++i) {
    const int high = Digit(text[2 * i]);
    const int low = Digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    to[i] = static_cast<uint8_t>(high * 16 + low);
  }
  return true;
}

template <size_t N>
void AppendHex(const std::array<uint8_t, N>& bytes, std::string& to) {
  static constexpr char kDigits[] = "0123456789abcdef";
  for (const uint8_t byte : bytes) {
    to += kDigits[byte >> 4];
    to += kDigits[byte & 15];
  }
}

}  // namespace

std::optional<TraceContext> TraceContext::Parse(std::string_view traceparent) {
  TraceContext context;
  std::array<uint8_t, 1> version{};
  std::array<uint8_t, 1> flags{};
  if (traceparent.size() < kSize || traceparent[2] != '-' || traceparent[35] != '-' ||
      traceparent[52] != '-' || !ReadHex(traceparent, version) ||
      !ReadHex(traceparent.substr(3), context.trace_id) ||
      !ReadHex(traceparent.substr(36), context.span_id) ||
      !ReadHex(traceparent.substr(53), flags)) {
    return std::nullopt;
  }
  const bool more = traceparent.size() > kSize;
  if (version[0] == 0xff || (more && (version[0] == 0 || traceparent[kSize] != '-')))
    return std::nullopt;
  if (context.trace_id == decltype(context.trace_id){} ||
      context.span_id == decltype(context.span_id){}) {
    return std::nullopt;
  }
  context.flags = flags[0];
  return context;
}

std::string TraceContext::ToString() const {
  std::string text;
  text.reserve(kSize);
  text += "00-";
  AppendHex(trace_id, text);
  text += '-';
  AppendHex(span_id, text);
  text += '-';
  AppendHex(std::array<uint8_t, 1>{flags}, text);
  return text;
}

}  // namespace weft::inline v0
